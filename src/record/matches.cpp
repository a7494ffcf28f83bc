#include "record/matches.h"

#include <fmt/format.h>

#include <charconv>

namespace isoscope::record {
namespace {

// Blanks in a row as one: the same condition laid out otherwise is the same.
std::string on_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!is_blank) {
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

std::string parameters_text(const RecordedStatement& statement) {
  std::string out;
  for (std::size_t i = 0; i < statement.parameters.size(); ++i) {
    const Parameter& parameter = statement.parameters[i];
    out += fmt::format("{}${} = ", i == 0 ? "" : ", ", i + 1);
    if (parameter.is_null) {
      out += "null";
    } else if (!parameter.is_binary) {
      out += parameter.bytes;
    } else {
      for (const char byte : parameter.bytes)
        out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
  }
  return out;
}

// The row of a key is the key up to its last bracket, which must be the row's own.
std::string without_brackets(std::string text) {
  for (char& c : text) {
    if (c == '[') c = '(';
    if (c == ']') c = ')';
  }
  return text;
}

std::string with_parameters(const std::string& condition, const RecordedStatement& statement) {
  if (condition.find('$') == std::string::npos || statement.parameters.empty()) return condition;
  return fmt::format("{} ({})", condition, parameters_text(statement));
}

}  // namespace

std::string question(const Shape& shape, const RecordedStatement& statement,
                     const std::string& selected) {
  std::string out;
  const std::string condition = on_one_line(Constants(shape, statement.sql).text(shape.condition));
  if (!condition.empty()) out = "where " + with_parameters(condition, statement);
  if (!selected.empty()) out += (out.empty() ? "select " : " select ") + selected;
  return out.empty() ? "all" : without_brackets(out);
}

std::string block_question(const Block& block, const BlockTable& table,
                           const RecordedStatement& statement, const std::string& selected) {
  std::string out = "from " + on_one_line(block.from);
  if (!block.where.empty()) out += " where " + on_one_line(block.where);
  return without_brackets(
      fmt::format("{} in {} select {}", table.alias, with_parameters(out, statement), selected));
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
                                       question(shape, statement, "") + "|" +
                                       parameters_text(statement);
  const auto known = known_.find(name_of_question);
  if (known != known_.end()) return &known->second;
  std::vector<bool> matching(versions.id_count(), shape.condition.empty());
  if (!shape.condition.empty()) {
    auto name = load(versions);
    if (!name) return name.error();
    auto marked = mark(
        fmt::format("SELECT isoscope_version FROM {} AS {}", *name, quoted_name(shape.alias)),
        std::string(Constants(shape, statement.sql).text(shape.condition)), statement, matching);
    if (!marked) return marked.error();
  }
  return &(known_[name_of_question] = std::move(matching));
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

Result<void> Matches::mark(const std::string& query, const std::string& condition,
                           const RecordedStatement& statement, std::vector<bool>& matching) {
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
Result<std::string> Matches::from_text(const Block& block, const Find& find) {
  std::string out;
  std::size_t taken = 0;
  for (const BlockTable& table : block.tables) {
    const TableVersions* versions = find(table);
    if (versions == nullptr) return Error{.what = "a table without versions"};
    auto name = load(*versions);
    if (!name) return name.error();
    out += block.from.substr(taken, table.begin - taken) + *name;
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
    if (!next.from.empty()) {
      auto text = from_text(next, find);
      if (!text) return text.error();
      from += (from.empty() ? "" : ", ") + *text;
      if (!next.where.empty() && !(b == block && table.is_nullable))
        where += (where.empty() ? "" : " AND ") + next.where;
    }
    const std::string name =
        fmt::format("{}|{}|{}|{}", table.alias, from, where, parameters_text(statement));
    const auto known = known_.find(name);
    if (known != known_.end()) return &known->second;
    std::vector<bool> matching(versions->id_count(), false);
    auto marked = mark(
        fmt::format("SELECT DISTINCT {}.isoscope_version FROM {}", quoted_name(table.alias), from),
        where.empty() ? "TRUE" : where, statement, matching);
    if (marked) return &(known_[name] = std::move(matching));
    last = marked.error();
  }
  return last;
}

}  // namespace isoscope::record
