#include "force/inner_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "record/shape.h"
#include "sql/read/pg_parse.h"
#include "sql/read/source_text.h"
#include "support/spelling.h"

namespace isoscope::force {
namespace {

using record::StatementKind;
using sql::Tree;

// The gate's number in the text that the recorder makes; the real one is known at run time.
constexpr std::uint64_t kSomeGate = 1;
constexpr const char* kGateAtRunTime =
    "('isoscope ' OPERATOR(pg_catalog.||) "
    "pg_catalog.current_setting('isoscope.execution'))";

// Does a member of this name hold a table? `relation` is that of INSERT, UPDATE and DELETE.
bool is_table(std::string_view name) { return name == "RangeVar" || name == "relation"; }

bool names_table(const Tree& node) {
  if (node.is_array()) return std::ranges::any_of(node, names_table);
  if (!node.is_object()) return false;
  return std::ranges::any_of(node.items(), [](const auto& item) {
    return is_table(item.key()) || names_table(item.value());
  });
}

// A reference to a variable in the text of a statement.
struct Reference {
  std::size_t begin = 0;
  std::size_t end = 0;
  friend auto operator<=>(const Reference&, const Reference&) = default;
};

// Finds the variables among what stands where columns do.
class ReferenceFinder {
 public:
  ReferenceFinder(const FunctionNames& names, const std::vector<BodyWord>& words, bool is_select)
      : names_(names), words_(words), is_select_(is_select) {}

  // False if it is not clear what a name means.
  bool find(const Tree& node, std::set<Reference>& found) {
    if (node.is_array())
      return std::ranges::all_of(node, [&](const Tree& part) { return find(part, found); });
    if (!node.is_object()) return true;
    for (const auto& [kind, part] : node.items()) {
      if (kind == "ColumnRef" && !add_column(part, found)) return false;
      if (kind == "ParamRef" && !add(part, 1, found)) return false;
      // A variable may not be called like what the statement itself names.
      if (kind == "ResTarget" && has_output_name(part)) return false;
      if (is_table(kind) && names_.variables.contains(sql::text_of(part, "relname"))) return false;
      if (kind == "Alias" && names_.variables.contains(sql::text_of(part, "aliasname")))
        return false;
      if (!find(part, found)) return false;
    }
    return true;
  }

 private:
  bool has_output_name(const Tree& target) const {
    // `name` is also that of a column that is set or inserted, which cannot be meant elsewhere.
    return is_select_ && names_.variables.contains(sql::text_of(target, "name"));
  }
  bool add_column(const Tree& reference, std::set<Reference>& found) {
    const Tree& fields = sql::child(reference, "fields");
    if (!fields.is_array() || fields.empty()) return true;
    const std::string first = sql::string_node(fields.front());
    const bool is_own = names_.variables.contains(first);
    if (fields.size() == 1) return !is_own || add(reference, 1, found);
    const bool is_qualified = first == names_.name && fields.size() == 2 &&
                              names_.variables.contains(sql::string_node(fields.back()));
    if (!is_own && !is_qualified) return true;
    return fields.size() == 2 && !sql::has(fields.back(), "A_Star") && add(reference, 3, found);
  }
  // So many words from the place of the node on.
  bool add(const Tree& node, std::size_t count, std::set<Reference>& found) {
    const auto place = static_cast<std::size_t>(sql::number_of(node, "location"));
    const auto word = std::ranges::find(words_, place, &BodyWord::begin);
    if (word == words_.end() || static_cast<std::size_t>(words_.end() - word) < count) return false;
    found.insert({word->begin, word[static_cast<std::ptrdiff_t>(count) - 1].end});
    return true;
  }

  const FunctionNames& names_;
  const std::vector<BodyWord>& words_;
  bool is_select_;
};

bool is_write_kind(StatementKind kind) {
  return kind == StatementKind::Insert || kind == StatementKind::Update ||
         kind == StatementKind::Delete;
}

// INTO takes the first row only. A query that may have several, of which that is not told by their
// number, may not have read what it seems to read.
bool may_stop_early(const record::Shape& shape) {
  static const std::set<std::string> kAggregates = {
      "count",     "sum",        "min",     "max",       "avg",
      "bool_and",  "bool_or",    "every",   "array_agg", "json_agg",
      "jsonb_agg", "string_agg", "bit_and", "bit_or",    "json_object_agg"};
  if (shape.counts_rows || shape.is_query || shape.limit) return false;
  return std::ranges::none_of(shape.functions,
                              [](const std::string& f) { return kAggregates.contains(f); });
}

// A statement as SQL, and the text that tells its snapshot.
struct Built {
  InnerStatement statement;
  std::string gated;  // with the function's own variables
};

std::string replaced(std::string_view text, const std::set<Reference>& references,
                     std::vector<std::string>& variables) {
  std::string out;
  std::size_t from = 0;
  for (const Reference& r : references) {
    const std::string name(text.substr(r.begin, r.end - r.begin));
    auto known = std::ranges::find(variables, name);
    if (known == variables.end()) known = variables.insert(known, name);
    out += text.substr(from, r.begin - from);
    out += fmt::format("${}", known - variables.begin() + 1);
    from = r.end;
  }
  return out + std::string(text.substr(from));
}

// `text`: a statement without INTO, in which variables have their names.
std::optional<Built> build(std::string_view text, bool has_into, const FunctionNames& names) {
  const auto tree = sql::parse_sql(text);
  if (!tree || tree->size() != 1) return std::nullopt;
  const std::vector<BodyWord> words = words_of_body(text);
  ReferenceFinder finder(names, words, sql::has(sql::child((*tree)[0], "stmt"), "SelectStmt"));
  std::set<Reference> references;
  if (!finder.find(*tree, references)) return std::nullopt;
  Built built{.statement = {.function = names.name}, .gated = {}};
  InnerStatement& statement = built.statement;
  statement.sql = replaced(text, references, statement.variables);
  const auto split = record::split_statements(statement.sql);
  if (split.size() != 1) return std::nullopt;
  statement.kind = split[0].kind;
  if (statement.kind != StatementKind::Select && !is_write_kind(statement.kind))
    return std::nullopt;
  statement.sql = std::string(split[0].text);
  const record::Shape shape = record::shape_of(statement.sql, statement.kind);
  if (has_into && may_stop_early(shape)) statement.gap = "INTO takes the first of several rows";
  if (shape.gate.empty()) {
    built.gated = with_parameters(statement.sql, statement.variables);
    return built;
  }
  statement.tells_snapshot = true;
  std::string gated = record::gated(
      statement.sql, shape, kSomeGate,
      is_write_kind(statement.kind) ? record::GateKind::OwnId : record::GateKind::Transaction);
  const std::string mark = fmt::format("'{} {}'", record::kGatePrefix, kSomeGate);
  const std::size_t place = gated.find(mark);
  if (place == std::string::npos) return std::nullopt;
  gated.replace(place, mark.size(), kGateAtRunTime);
  built.gated = with_parameters(gated, statement.variables);
  return built;
}

// Words [first, end) of a body as a text.
std::string text_between(std::string_view body, const std::vector<BodyWord>& words,
                         std::size_t first, std::size_t end) {
  return first < end
             ? std::string(body.substr(words[first].begin, words[end - 1].end - words[first].begin))
             : std::string();
}

std::size_t end_of(const std::vector<BodyWord>& words, std::size_t first) {
  std::size_t end = first;
  while (end < words.size() && words[end].text != ";") ++end;
  return end;
}

// INTO [STRICT] target, target: the words of it; empty if there is none.
std::pair<std::size_t, std::size_t> find_into(const std::vector<BodyWord>& words, std::size_t first,
                                              std::size_t end) {
  int depth = 0;
  for (std::size_t i = first + 1; i < end; ++i) {
    if (words[i].text == "(") ++depth;
    if (words[i].text == ")") --depth;
    if (depth > 0 || words[i].text != "into" || words[i - 1].text == "insert") continue;
    std::size_t last = i + 1;
    if (last < end && words[last].text == "strict") ++last;
    while (last < end) {
      ++last;  // a name
      while (last + 1 < end && words[last].text == ".") last += 2;
      if (last >= end || words[last].text != ",") break;
      ++last;
    }
    return {i, last};
  }
  return {end, end};
}

std::optional<RecordableStatement> plain_statement(std::string_view body,
                                                   const std::vector<BodyWord>& words,
                                                   std::size_t first, const FunctionNames& names) {
  const std::size_t end = end_of(words, first);
  if (end == words.size()) return std::nullopt;
  const auto [into, after] = find_into(words, first, end);
  std::string text = text_between(body, words, first, into);
  if (after < end) text += " " + text_between(body, words, after, end);
  const bool performs = words[first].text == "perform";
  if (performs) text.replace(0, std::string_view("perform").size(), "SELECT");
  auto built = build(text, into < end, names);
  if (!built) return std::nullopt;
  RecordableStatement made{
      .statement = std::move(built->statement), .begin = words[first].begin, .end = words[end].end};
  if (performs) built->gated.replace(0, std::string_view("SELECT").size(), "PERFORM");
  made.statement.tells_rows = true;
  made.replacement = built->gated;
  if (into < end) made.replacement += " " + text_between(body, words, into, after);
  made.replacement += ";";
  return made;
}

// An expression that looks rows up: the text before it and after it stays.
std::optional<RecordableStatement> expression(std::string_view body,
                                              const std::vector<BodyWord>& words, std::size_t first,
                                              std::size_t end, const FunctionNames& names) {
  if (first >= end) return std::nullopt;
  auto built = build("SELECT " + text_between(body, words, first, end), false, names);
  if (!built || !built->statement.tells_snapshot) return std::nullopt;
  return RecordableStatement{.statement = std::move(built->statement),
                             .begin = words[first].begin,
                             .end = words[end - 1].end,
                             .replacement = "(" + built->gated + ")"};
}

std::optional<RecordableStatement> in_expression(std::string_view body,
                                                 const std::vector<BodyWord>& words,
                                                 std::size_t first, const FunctionNames& names) {
  const std::size_t end = end_of(words, first);
  if (words[first].text == "if") {
    int cases = 0;
    for (std::size_t i = first + 1; i < end; ++i) {
      if (words[i].text == "case") ++cases;
      if (words[i].text == "end" && cases > 0) --cases;
      if (words[i].text == "then" && cases == 0)
        return expression(body, words, first + 1, i, names);
    }
    return std::nullopt;
  }
  if (words[first].text == "return") {
    if (first + 1 < end && (words[first + 1].text == "query" || words[first + 1].text == "next"))
      return std::nullopt;
    return expression(body, words, first + 1, end, names);
  }
  for (std::size_t i = first + 1; i < std::min(end, first + 4); ++i)
    if (words[i].text == ":=" || words[i].text == "=")
      return expression(body, words, i + 1, end, names);
  return std::nullopt;
}

}  // namespace

std::vector<BodyWord> words_of_body(std::string_view body) {
  std::vector<BodyWord> words;
  const auto tokens = sql::scan_sql(body);
  if (!tokens) return words;
  for (const sql::SqlToken& token : *tokens) {
    const std::string_view text = body.substr(token.begin, token.end - token.begin);
    if (sql::is_comment(text)) continue;
    words.push_back({lower_case(text), token.begin, token.end});
  }
  return words;
}

std::optional<RecordableStatement> recordable(std::string_view body,
                                              const std::vector<BodyWord>& words, std::size_t first,
                                              const FunctionNames& names) {
  static const std::set<std::string> kPlain = {"select", "insert",  "update",
                                               "delete", "perform", "with"};
  auto made = kPlain.contains(words[first].text) ? plain_statement(body, words, first, names)
                                                 : in_expression(body, words, first, names);
  if (!made) return made;
  const auto tree = sql::parse_sql(made->statement.sql);
  if (!tree) return std::nullopt;
  // A call of another function of the application, whose own statements are recorded.
  if (!names_table(*tree)) made->statement.sql.clear();
  return made;
}

std::set<std::string> declared_variables(const std::vector<BodyWord>& words) {
  std::set<std::string> names = {"found"};
  bool in_declarations = false;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& next = words[i + 1].text;
    if (words[i].text == "declare") in_declarations = true;
    if (words[i].text == "begin") in_declarations = false;
    if (in_declarations && (words[i].text == "declare" || words[i].text == ";")) {
      if (next != "begin") names.insert(next);
    } else if (!in_declarations && words[i].text == "for" && i + 2 < words.size() &&
               words[i + 2].text == "in") {
      names.insert(next);
    }
  }
  return names;
}

std::string gap_of_body(const std::vector<BodyWord>& words,
                        const std::vector<RecordableStatement>& recorded) {
  static const std::set<std::string> kLooking = {
      "select", "insert",   "update", "delete", "merge", "execute", "lock", "copy",
      "call",   "truncate", "from",   "table",  "open",  "fetch",   "move", "query"};
  std::size_t blocks = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (word == "exception" && (i == 0 || words[i - 1].text != "raise"))
      return "it has an EXCEPTION block";
    if (word == "#") return "it has an option of PL/pgSQL";
    if (word == "declare" && ++blocks > 1) return "it declares variables in an inner block";
    if (word.starts_with('"')) return fmt::format("it has the quoted name {}", word);
    if (!kLooking.contains(word)) continue;
    const bool is_recorded = std::ranges::any_of(recorded, [&](const RecordableStatement& r) {
      return words[i].begin >= r.begin && words[i].end <= r.end;
    });
    if (!is_recorded) return fmt::format("what its {} reads or writes is not recorded", word);
  }
  return {};
}

std::string with_parameters(std::string_view sql, const std::vector<std::string>& values) {
  const auto tokens = sql::scan_sql(sql);
  if (!tokens) return std::string(sql);
  std::string out;
  std::size_t from = 0;
  for (const sql::SqlToken& token : *tokens) {
    const std::string_view text = sql.substr(token.begin, token.end - token.begin);
    if (!text.starts_with('$') || text.size() < 2 ||
        std::isdigit(static_cast<unsigned char>(text[1])) == 0)
      continue;
    const auto number = static_cast<std::size_t>(std::atoi(std::string(text.substr(1)).c_str()));
    if (number == 0 || number > values.size()) continue;
    out += sql.substr(from, token.begin - from);
    out += values[number - 1];
    from = token.end;
  }
  return out + std::string(sql.substr(from));
}

}  // namespace isoscope::force
