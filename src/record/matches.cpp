#include "record/matches.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "support/blanks.h"

namespace isoscope::record {
namespace {

// Blanks in a row as one: the same condition laid out otherwise is the same.
// Blanks within a constant are part of it. Where constants are not plain to see, the text stays.
std::string on_one_line(std::string_view text) {
  for (const char* hard : {"\\", "$$", "--", "/*", "\""}) {
    if (text.find(hard) != std::string_view::npos) return std::string(text);
  }
  std::string out;
  bool is_constant = false;
  for (const char c : text) {
    if (c == '\'') is_constant = !is_constant;
    if (is_constant || !blanks::in_text(c)) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

// Does the text have the parameter $n?
bool mentions(std::string_view text, std::size_t n) {
  const std::string name = fmt::format("${}", n);
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (end == text.size() || text[end] < '0' || text[end] > '9') return true;
  }
  return false;
}

// Can the text be neither NULL nor the beginning of the next parameter?
bool is_plain(std::string_view text) {
  return !text.empty() && text != "null" && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_.:+-@ ").find(c) != std::string_view::npos;
  });
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

std::string parameters_text(const RecordedStatement& statement) {
  std::string out;
  for (std::size_t i = 0; i < statement.parameters.size(); ++i) {
    const Parameter& parameter = statement.parameters[i];
    out += fmt::format("{}${} = ", i == 0 ? "" : ", ", i + 1);
    if (parameter.is_null) {
      out += "null";
    } else if (!parameter.is_binary) {
      out += is_plain(parameter.bytes) ? parameter.bytes : quoted(parameter.bytes);
    } else {
      out += "\\x";
      for (const char byte : parameter.bytes)
        out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
  }
  return out;
}

// The row of a key is the key up to its last bracket, which must be the row's own. Two questions
// never become one.
std::string without_brackets(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == '\\') out += '\\';
    out += c == '[' ? '(' : c == ']' ? ')' : c;
  }
  return out;
}

std::string with_parameters(const std::string& condition, const RecordedStatement& statement) {
  if (condition.find('$') == std::string::npos || statement.parameters.empty()) return condition;
  return fmt::format("{} ({})", condition, parameters_text(statement));
}

// How the text of a statement is read, where that is not what it mostly is.
std::string settings_text(const RecordedStatement& statement) {
  static const ClientSettings kUsual;
  if (statement.settings == nullptr) return {};
  const ClientSettings& s = *statement.settings;
  const bool is_universal = s.time_zone == "UTC" || s.time_zone == "Etc/UTC" ||
                            s.time_zone == "GMT" || s.time_zone == "Etc/GMT";
  std::string out;
  if (!is_universal) out += " in " + s.time_zone;
  if (s.date_style != kUsual.date_style) out += ", dates as " + s.date_style;
  if (s.interval_style != kUsual.interval_style) out += ", intervals as " + s.interval_style;
  return out;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

// Does the text begin with a word that means another moment whenever it is read?
bool begins_with_present(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  std::string word;
  for (const char c : text.substr(begin, 10))
    word += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  for (const std::string_view present : {"now", "today", "tomorrow", "yesterday"}) {
    if (word.starts_with(present) &&
        (word.size() == present.size() || !is_letter(word[present.size()])))
      return true;
  }
  return false;
}

bool names_the_present(std::string_view condition, const RecordedStatement& statement) {
  for (std::size_t at = condition.find('\''); at != std::string_view::npos;
       at = condition.find('\'', at + 1)) {
    if (begins_with_present(condition.substr(at + 1))) return true;
  }
  return std::ranges::any_of(statement.parameters, [](const Parameter& parameter) {
    return !parameter.is_null && !parameter.is_binary && begins_with_present(parameter.bytes);
  });
}

// Does the condition speak of dates or times, whatever the columns are?
bool speaks_of_times(std::string_view condition) {
  const std::string text = [&] {
    std::string small;
    for (const char c : condition)
      small += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return small;
  }();
  for (const char* word : {"time", "date", "interval"}) {
    if (text.find(word) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::string question(const Shape& shape, const RecordedStatement& statement,
                     const std::string& selected, bool has_times) {
  std::string out;
  const std::string condition = on_one_line(Constants(shape, statement.sql).text(shape.condition));
  if (!condition.empty()) out = "where " + with_parameters(condition, statement);
  if (!condition.empty() && (has_times || speaks_of_times(condition)))
    out += settings_text(statement);
  if (!selected.empty()) out += (out.empty() ? "select " : " select ") + selected;
  return out.empty() ? "all" : without_brackets(out);
}

std::string block_question(const Block& block, const BlockTable& table,
                           const RecordedStatement& statement, const std::string& selected,
                           bool has_times) {
  std::string out = "from " + on_one_line(block.from);
  if (!block.where.empty()) out += " where " + on_one_line(block.where);
  if (has_times || speaks_of_times(out)) out += settings_text(statement);
  return without_brackets(
      fmt::format("{} in {} select {}", table.alias, with_parameters(out, statement), selected));
}

bool Matches::has_times(const std::vector<Block>& blocks, const Find& find) {
  return std::ranges::any_of(blocks, [&](const Block& block) {
    return std::ranges::any_of(block.tables, [&](const BlockTable& table) {
      const TableVersions* versions = find(table);
      return versions != nullptr && versions->table->has_times;
    });
  });
}

void Matches::trim() {
  if (known_bytes_ < kMostKnown) return;
  known_.clear();
  known_bytes_ = 0;
}

const std::vector<bool>* Matches::remember(const std::string& name, std::vector<bool> matching) {
  known_bytes_ += name.size() + matching.size() / 8;
  return &(known_[name] = std::move(matching));
}

Result<std::string> Matches::load(const TableVersions& versions) {
  const auto known = loaded_.find(&versions);
  if (known != loaded_.end()) return known->second;
  const std::string name = fmt::format("isoscope_versions_{}", loaded_.size());
  const Table& table = *versions.table;
  auto made = sql_.query(fmt::format(
      "CREATE TEMPORARY TABLE {} AS SELECT t.*, 0::bigint AS isoscope_version FROM ONLY {}.{} t "
      "WITH NO DATA",
      name, quoted_name(table.schema), quoted_name(table.name)));
  if (!made) return made.error();
  if (auto done = set({}); !done) return done.error();
  std::vector<Row> rows;
  for (const auto& [key, chain] : versions.rows) {
    for (const Version& version : chain.versions) {
      if (!version.exists) continue;
      rows.push_back(version.values);
      rows.back().emplace_back(std::to_string(version.id));
    }
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < versions.untouched.size(); ++i)
    lines.push_back(fmt::format("{}\t{}\n", versions.untouched[i], versions.next_id + i));
  if (auto copied = sql_.copy_in(fmt::format("COPY {} FROM STDIN", name), rows, lines); !copied)
    return copied.error();
  loaded_[&versions] = name;
  return name;
}

Result<const std::vector<bool>*> Matches::of(const TableVersions& versions, const Shape& shape,
                                             const RecordedStatement& statement) {
  const std::string name_of_question = versions.table->full_name() + " " + shape.alias + " " +
                                       question(shape, statement, "", true) + "|" +
                                       parameters_text(statement);
  const auto known = known_.find(name_of_question);
  if (known != known_.end()) return &known->second;
  std::vector<bool> matching(versions.id_count(), shape.condition.empty());
  if (!shape.condition.empty()) {
    auto name = load(versions);
    if (!name) return name.error();
    auto marked =
        mark(fmt::format("SELECT isoscope_version FROM {} AS {}", *name, quoted_name(shape.alias)),
             std::string(Constants(shape, statement.sql).text(shape.condition)), statement,
             versions.table->has_times, matching);
    if (!marked) return marked.error();
  }
  return remember(name_of_question, std::move(matching));
}

Result<Row> Matches::values(const std::string& text, const RecordedStatement& statement) {
  const std::string sql = fmt::format("SELECT * FROM (VALUES ({})) AS v", text);
  auto rows = statement.parameters.empty()
                  ? sql_.query(sql)
                  : sql_.query(sql, statement.parameters, statement.parameter_types);
  if (!rows) return rows.error();
  if (rows->size() != 1) return Error{.what = "no row"};
  return (*rows)[0];
}

// How the copies were made and the log is read: dates as ISO, times in UTC.
Result<void> Matches::set(const ClientSettings& settings) {
  if (settings == own_) return {};
  auto done = sql_.query(fmt::format(
      "SELECT set_config('TimeZone', {}, false), set_config('DateStyle', {}, false), "
      "set_config('IntervalStyle', {}, false)",
      quoted(settings.time_zone), quoted(settings.date_style), quoted(settings.interval_style)));
  if (!done) return done.error();
  own_ = settings;
  return {};
}

Result<void> Matches::mark(const std::string& query, const std::string& condition,
                           const RecordedStatement& statement, bool has_times,
                           std::vector<bool>& matching) {
  if (has_times || speaks_of_times(query + condition)) {
    if (names_the_present(condition, statement) || names_the_present(query, statement))
      return Error{.what = "it names the present time"};
    auto done = set(statement.settings == nullptr ? ClientSettings() : *statement.settings);
    if (!done) return done.error();
  }
  std::string sql = fmt::format("{} WHERE ({}\n)", query, condition);
  // Parameters that only the rest of the statement mentions would be without a type here.
  for (std::size_t i = 1; i <= statement.parameters.size(); ++i) {
    if (!mentions(sql, i)) sql += fmt::format(" AND (${}::text IS NULL OR TRUE)", i);
  }
  auto rows = statement.parameters.empty()
                  ? sql_.query(sql)
                  : sql_.query(sql, statement.parameters, statement.parameter_types);
  if (!rows) return rows.error();
  for (const Row& row : *rows) {
    if (!row[0]) continue;  // an outer join without a partner
    std::size_t id = 0;
    const std::string& text = *row[0];
    std::from_chars(text.data(), text.data() + text.size(), id);
    if (id < matching.size()) matching[id] = true;
  }
  return {};
}

// FROM, with the versions of each table in its place.
Result<std::string> Matches::from_text(const Block& block, const Find& find,
                                       const NameOf& name_of) {
  std::string out;
  std::size_t taken = 0;
  for (const BlockTable& table : block.tables) {
    const TableVersions* versions = find(table);
    if (versions == nullptr) return Error{.what = "a table without versions"};
    auto name = load(*versions);
    if (!name) return name.error();
    out += block.from.substr(taken, table.begin - taken) + name_of(table, *versions, *name);
    if (!table.has_alias) out += " AS " + quoted_name(table.alias);
    taken = table.end;
  }
  return out + block.from.substr(taken);
}

Result<const std::vector<bool>*> Matches::of_block(const Shape& shape, std::size_t block,
                                                   std::size_t i,
                                                   const RecordedStatement& statement,
                                                   const Find& find) {
  const Block& own = shape.blocks[block];
  const BlockTable& table = own.tables[i];
  const TableVersions* versions = find(table);
  if (versions == nullptr) return Error{.what = "a table without versions"};
  std::string from;
  std::string where;
  Error last;
  // What it mentions of the blocks around it must be there too.
  for (std::size_t b = block; b < shape.blocks.size(); b = shape.blocks[b].parent) {
    const Block& next = shape.blocks[b];
    if (next.has_outer_join) {
      const std::string name = fmt::format("all|{}", versions->table->full_name());
      const auto known = known_.find(name);
      if (known != known_.end()) return &known->second;
      return remember(name, std::vector<bool>(versions->id_count(), true));
    }
    if (!next.from.empty()) {
      auto text =
          from_text(next, find,
                    [](const BlockTable&, const TableVersions&, std::string name) { return name; });
      if (!text) return text.error();
      from += (from.empty() ? "" : ", ") + *text;
      if (!next.where.empty()) where += (where.empty() ? "" : " AND ") + next.where;
    }
    const std::string name = fmt::format("{}|{}|{}|{}|{}", table.alias, from, where,
                                         parameters_text(statement), settings_text(statement));
    const auto known = known_.find(name);
    if (known != known_.end()) return &known->second;
    std::vector<bool> matching(versions->id_count(), false);
    auto marked = mark(
        fmt::format("SELECT DISTINCT {}.isoscope_version FROM {}", quoted_name(table.alias), from),
        where.empty() ? "TRUE" : where, statement, has_times(shape.blocks, find), matching);
    if (marked) return remember(name, std::move(matching));
    last = marked.error();
  }
  return last;
}

Result<const std::vector<bool>*> Matches::of_block_at(const Block& block, std::size_t i,
                                                      const RecordedStatement& statement,
                                                      const Find& find, const Shown& shown) {
  const BlockTable& table = block.tables[i];
  const TableVersions* versions = find(table);
  if (versions == nullptr) return Error{.what = "a table without versions"};
  const auto from = from_text(
      block, find, [&](const BlockTable& other, const TableVersions& of, std::string name) {
        if (&other == &table) return name;
        std::string ids;
        for (const std::size_t id : shown(of))
          ids += fmt::format("{}{}", ids.empty() ? "" : ",", id);
        return fmt::format(
            "(SELECT * FROM {} WHERE isoscope_version >= {} OR isoscope_version = ANY('{{{}}}'))",
            name, of.next_id, ids);
      });
  if (!from) return from.error();
  const std::string name = fmt::format("at|{}|{}|{}|{}|{}", table.alias, *from, block.where,
                                       parameters_text(statement), settings_text(statement));
  const auto known = known_.find(name);
  if (known != known_.end()) return &known->second;
  if (++at_snapshots_ > kMostAtSnapshots) return nullptr;
  std::vector<bool> matching(versions->id_count(), false);
  auto marked = mark(
      fmt::format("SELECT DISTINCT {}.isoscope_version FROM {}", quoted_name(table.alias), *from),
      block.where.empty() ? "TRUE" : block.where, statement, has_times({block}, find), matching);
  if (!marked) return marked.error();
  return remember(name, std::move(matching));
}

}  // namespace isoscope::record
