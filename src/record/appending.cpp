#include "record/appending.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "record/splicing.h"
#include "record/wire.h"
#include "record/words.h"
#include "sql/read/pg_parse.h"

namespace isoscope::record {
namespace {

using sql::child;
using sql::has;
using sql::Tree;

bool is_void(const Tree& node) { return node.is_null() || (node.is_array() && node.empty()); }

constexpr const char* kOwnId = "pg_catalog.pg_current_xact_id_if_assigned()";
// Rows beyond that size are not told: the column would be twice as long.
constexpr std::size_t kLongestRow = 1'000'000;

std::string query_column() {
  return fmt::format(
      "(SELECT pg_catalog.concat('{}', pg_catalog.pg_current_snapshot(), '|', {}, '|', "
      "pg_catalog.current_setting('transaction_isolation'))) AS \"{}\"",
      kToldMark, kOwnId, kToldName);
}

// What is the same for all rows is a sub-query, which is evaluated once. The row is told in digits,
// so that it fits into every client's encoding.
std::string row_column(const std::string& alias) {
  std::string settings;
  for (const char* name : {"DateStyle", "IntervalStyle", "TimeZone", "extra_float_digits",
                           "bytea_output", "lc_monetary"})
    settings +=
        fmt::format(", '{}', pg_catalog.current_setting('{}')", settings.empty() ? "|" : ";", name);
  return fmt::format(
      "pg_catalog.concat((SELECT pg_catalog.concat('{0}', pg_catalog.pg_current_snapshot())), '|', "
      "{1}, (SELECT pg_catalog.concat('|', pg_catalog.current_setting('transaction_isolation'){2}))"
      ", '|', pg_catalog.pg_current_wal_insert_lsn(), '|', {3}.tableoid, '|', "
      "CASE WHEN pg_catalog.pg_column_size(ROW({3}.*)) < {4} THEN pg_catalog.encode("
      "pg_catalog.convert_to(ROW({3}.*)::pg_catalog.text, 'UTF8'), 'hex') END) AS \"{5}\"",
      kToldMark, kOwnId, settings, alias, kLongestRow, kToldName);
}

// The tree of the column, as an element of a list.
Tree column_tree(const std::string& column) {
  auto tree = sql::parse_sql("SELECT " + column);
  if (!tree || tree->size() != 1) return {};
  const Tree& list = child(child(child((*tree)[0], "stmt"), "SelectStmt"), "targetList");
  if (list.size() != 1) return {};
  Tree target = list.front();
  forget_places(target);
  return target;
}

// Is the new statement the old one with this column at the end of that list?
bool adds_only(const Splice& splice, std::string_view statement, const Tree& old_tree,
               const char* list, const Tree& column) {
  std::string text(statement);
  text.insert(splice.at, splice.inserted);
  auto parsed = sql::parse_sql(text);
  if (!parsed || parsed->size() != 1 || column.is_null()) return false;
  Tree after = std::move((*parsed)[0]);
  Tree before = old_tree;
  forget_places(after);
  forget_places(before);
  if (!after.contains("stmt") || after["stmt"].size() != 1) return false;
  Tree& changed = *after["stmt"].begin();
  if (is_void(child(changed, list)) || changed[list].back() != column) return false;
  changed[list].erase(changed[list].size() - 1);
  if (changed[list].empty()) changed.erase(list);
  return after == before;
}

// The place after the list of a query: before its FROM.
std::optional<std::size_t> end_of_list(const std::vector<Word>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (is_keyword(words, i) && words[i].text == "from" && words[i - 1].text != "distinct")
      return words[i - 1].end;
  }
  return std::nullopt;
}

Appending query_appending(std::string_view statement, const Tree& tree) {
  const Tree& select = child(child(tree, "stmt"), "SelectStmt");
  const std::string operation = sql::text_of(select, "op");
  // DISTINCT would compare the column too, and set operations need it on both sides.
  if (select.is_null() || (!operation.empty() && operation != "SETOP_NONE") ||
      has(select, "larg") || has(select, "distinctClause") || has(select, "intoClause") ||
      has(select, "valuesLists") || is_void(child(select, "targetList")) ||
      is_void(child(select, "fromClause")))
    return {};
  const auto at = end_of_list(words_of(statement));
  if (!at) return {};
  const std::string column = query_column();
  const Splice splice{*at, 0, ", " + column};
  if (!adds_only(splice, statement, tree, "targetList", column_tree(column))) return {};
  return {.splices = {splice}};
}

Appending change_appending(std::string_view statement, const Tree& tree, StatementKind kind) {
  const Tree& change = sql::inside(child(tree, "stmt"));
  const std::string node = sql::kind_of(child(tree, "stmt"));
  if (node != "InsertStmt" && node != "UpdateStmt" && node != "DeleteStmt") return {};
  const Tree& relation = child(change, "relation");
  Appending found{.returns = true};
  found.schema = sql::text_of(relation, "schemaname");
  found.table = sql::text_of(relation, "relname");
  std::string alias = sql::text_of(child(relation, "alias"), "aliasname");
  if (alias.empty()) alias = found.table;
  const std::vector<Word> words = words_of(statement);
  if (words.empty() || found.table.empty() || has(relation, "catalogname")) return {};
  const Tree& conflict = child(change, "onConflictClause");
  found.may_update = sql::text_of(conflict, "action") == "ONCONFLICT_UPDATE";
  const Tree& sets =
      kind == StatementKind::Update ? child(change, "targetList") : child(conflict, "targetList");
  for (const Tree& target : sets)
    found.set_columns.insert(sql::text_of(child(target, "ResTarget"), "name"));
  found.is_alone = is_void(child(change, "returningList"));
  const std::string column = row_column(quoted_name(alias));
  const Splice splice{words.back().end, 0, (found.is_alone ? " RETURNING " : ", ") + column};
  if (!adds_only(splice, statement, tree, "returningList", column_tree(column))) return {};
  found.splices = {splice};
  return found;
}

template <class Number>
bool read_number(std::string_view text, Number& number, int base = 10) {
  const auto [stop, failure] =
      std::from_chars(text.data(), text.data() + text.size(), number, base);
  return failure == std::errc() && stop == text.data() + text.size();
}

// "16/B374D848"
bool read_lsn(std::string_view text, std::uint64_t& lsn) {
  const std::size_t slash = text.find('/');
  std::uint32_t high = 0;
  std::uint32_t low = 0;
  if (slash == std::string_view::npos || !read_number(text.substr(0, slash), high, 16) ||
      !read_number(text.substr(slash + 1), low, 16))
    return false;
  lsn = std::uint64_t{high} << 32U | low;
  return true;
}

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    unsigned byte = 0;
    if (!read_number(digits.substr(i, 2), byte, 16)) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

Appending find_appending(std::string_view statement, StatementKind kind) {
  const auto tree = sql::parse_sql(statement);
  if (!tree || tree->size() != 1) return {};
  return kind == StatementKind::Select ? query_appending(statement, (*tree)[0])
                                       : change_appending(statement, (*tree)[0], kind);
}

std::string with_mark(const Splice& splice, std::string_view mark) {
  std::string out = splice.inserted;
  const std::size_t place = out.find(kToldMark);
  if (place != std::string::npos) out.replace(place, kToldMark.size(), mark);
  return out;
}

std::optional<Told> parse_told(std::string_view text) {
  std::array<std::string_view, 7> fields;
  std::size_t count = 0;
  for (bool is_last = false; !is_last && count < fields.size(); ++count) {
    const std::size_t bar = text.find('|');
    is_last = bar == std::string_view::npos;
    fields[count] = text.substr(0, bar);
    if (!is_last) text.remove_prefix(bar + 1);
  }
  if (count != 3 && count != fields.size()) return std::nullopt;
  Told told;
  const auto snapshot = Snapshot::parse(fields[0]);
  if (!snapshot || (!fields[1].empty() && !read_number(fields[1], told.xid))) return std::nullopt;
  told.snapshot = *snapshot;
  told.isolation = Isolation::declared(fields[2]);
  if (count == 3) return told;
  told.settings = fields[3];
  told.table = fields[5];
  if (!read_lsn(fields[4], told.lsn)) return std::nullopt;
  if (fields[6].empty()) return told;
  told.row = from_hex(fields[6]);
  return told.row ? std::optional(told) : std::nullopt;
}

std::optional<std::vector<Cell>> record_fields(std::string_view record) {
  if (record.size() < 2 || record.front() != '(' || record.back() != ')') return std::nullopt;
  record = record.substr(1, record.size() - 2);
  std::vector<Cell> cells;
  std::string cell;
  bool is_quoted = false;
  bool has_quotes = false;
  const auto end_cell = [&] {
    cells.push_back(cell.empty() && !has_quotes ? Cell() : Cell(cell));
    cell.clear();
    has_quotes = false;
  };
  for (std::size_t i = 0; i < record.size(); ++i) {
    const char c = record[i];
    const bool has_next = i + 1 < record.size();
    if (c == '"') {
      has_quotes = true;
      // Within quotes, two of them are one.
      if (is_quoted && has_next && record[i + 1] == '"') {
        cell += record[++i];
      } else {
        is_quoted = !is_quoted;
      }
    } else if (c == '\\' && has_next) {
      cell += record[++i];
    } else if (c == ',' && !is_quoted) {
      end_cell();
    } else {
      cell += c;
    }
  }
  end_cell();
  return is_quoted ? std::nullopt : std::optional(cells);
}

std::optional<Stripped> strip_description(std::string_view payload) {
  constexpr std::size_t kAttributes = 18;  // that follow the name of a column
  Fields fields(payload);
  const std::uint16_t count = fields.int16();
  std::string_view name;
  std::size_t last = payload.size();
  for (std::uint16_t i = 0; i < count && !fields.has_failed(); ++i) {
    name = fields.string();
    if (fields.has_failed()) break;
    last = static_cast<std::size_t>(name.data() - payload.data());
    fields.bytes(kAttributes);
  }
  if (count == 0 || fields.has_failed() || !fields.at_end() || name != kToldName)
    return std::nullopt;
  Stripped stripped{.is_empty = count == 1};
  append_int16(stripped.payload, static_cast<std::uint16_t>(count - 1));
  stripped.payload += payload.substr(2, last - 2);
  return stripped;
}

std::optional<Stripped> strip_row(std::string_view payload, std::string_view mark) {
  constexpr std::uint32_t kNull = 0xFFFFFFFFU;
  Fields fields(payload);
  const std::uint16_t count = fields.int16();
  std::string_view value;
  std::size_t last = 2;
  std::size_t next = 2;
  for (std::uint16_t i = 0; i < count && !fields.has_failed(); ++i) {
    last = next;
    const std::uint32_t size = fields.int32();
    value = size == kNull ? std::string_view() : fields.bytes(size);
    next += 4 + value.size();
  }
  if (count == 0 || fields.has_failed() || !fields.at_end() || !value.starts_with(mark))
    return std::nullopt;
  Stripped stripped{.is_empty = count == 1, .told = std::string(value.substr(mark.size()))};
  append_int16(stripped.payload, static_cast<std::uint16_t>(count - 1));
  stripped.payload += payload.substr(2, last - 2);
  return stripped;
}

std::optional<std::string> widened_bind(std::string_view payload, const Appending& appending) {
  Fields fields(payload);
  fields.string();
  fields.string();
  const std::uint16_t formats = fields.int16();
  fields.bytes(std::size_t{2} * formats);
  const std::uint16_t parameters = fields.int16();
  for (std::uint16_t i = 0; i < parameters && !fields.has_failed(); ++i) {
    const std::uint32_t size = fields.int32();
    if (size != 0xFFFFFFFFU) fields.bytes(size);
  }
  const std::uint16_t results = fields.int16();
  const std::string_view codes = fields.bytes(std::size_t{2} * results);
  if (fields.has_failed() || !fields.at_end()) return std::nullopt;
  // No code, or one for all columns, fits any number of columns.
  if (results <= 1) return std::nullopt;
  std::string widened(payload.substr(0, payload.size() - codes.size() - 2));
  append_int16(widened, static_cast<std::uint16_t>(appending.is_alone ? 0 : results + 1));
  if (!appending.is_alone) {
    widened += codes;
    append_int16(widened, 0);
  }
  return widened;
}

}  // namespace isoscope::record
