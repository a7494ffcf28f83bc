#include "record/blocks.h"

#include <algorithm>
#include <initializer_list>

#include "record/words.h"
#include "sql/read/pg_parse.h"

namespace isoscope::record {
namespace {

using sql::child;
using sql::has;
using sql::Tree;

constexpr std::size_t kNoBlock = static_cast<std::size_t>(-1);

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, word) != list.end();
}

class BlockReader {
 public:
  Blocks read(std::string_view query) {
    is_answer_ = true;
    collect(query, kNoBlock);
    // Whatever way a table is named (TABLESAMPLE, TABLE t, …): none may be passed over.
    const auto tree = sql::parse_sql(query);
    if (!tree || count_tables(*tree) != found_tables_) doubt("a query that cannot be read");
    return std::move(out_);
  }

 private:
  void doubt(std::string why) {
    if (out_.gap.empty()) out_.gap = std::move(why);
  }

  static std::size_t count_tables(const Tree& tree) {
    std::size_t tables = 0;
    std::vector<const Tree*> open = {&tree};
    while (!open.empty()) {
      const Tree& node = *open.back();
      open.pop_back();
      if (!node.is_structured()) continue;
      if (node.is_object() && has(node, "relname")) ++tables;
      for (const Tree& part : node) open.push_back(&part);
    }
    return tables;
  }

  // The inside of the parentheses that open at word `i`; moves `i` to the closing one.
  static std::string_view inside(std::string_view text, const std::vector<Word>& words,
                                 std::size_t& i) {
    const std::size_t begin = words[i].end;
    const int depth = words[i].depth;
    for (++i; i < words.size(); ++i) {
      if (words[i].text == ")" && words[i].depth == depth)
        return text.substr(begin, words[i].begin - begin);
    }
    return {};
  }

  static bool opens_query(const std::vector<Word>& words, std::size_t i) {
    std::size_t next = i;
    while (next < words.size() && words[next].text == "(") ++next;
    return next > i && next < words.size() && is_one_of(words[next].text, {"select", "with"});
  }

  void collect(std::string_view text, std::size_t parent) {
    const std::vector<Word> words = words_of(text);
    if (words.empty()) return doubt("a query that cannot be read");
    if (words[0].text == "(") {
      std::size_t end = 0;
      const std::string_view inner = inside(text, words, end);
      if (end + 1 == words.size()) return collect(inner, parent);
    }
    if (words[0].text == "with") {
      // What WITH names is known in this query only.
      const std::set<std::string> outer = named_;
      is_answer_ = false;
      collect_with(text, words, parent);
      named_ = outer;
      return;
    }
    std::size_t begin = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i].depth != 0 || !is_keyword(words, i) ||
          !is_one_of(words[i].text, {"union", "intersect", "except"}))
        continue;
      collect(text.substr(words[begin].begin, words[i].begin - words[begin].begin), parent);
      begin = i + 1;
      while (begin < words.size() && is_one_of(words[begin].text, {"all", "distinct"})) ++begin;
      if (begin >= words.size()) return doubt("a query that cannot be read");
    }
    if (begin > 0) return collect(text.substr(words[begin].begin), parent);
    collect_plain(text, words, parent);
  }

  void collect_with(std::string_view text, const std::vector<Word>& words, std::size_t parent) {
    const bool is_recursive = words.size() > 1 && words[1].text == "recursive";
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i].depth == 0 && words[i].text == "select")
        return collect(text.substr(words[i].begin), parent);
      if (words[i].depth != 0 || words[i].text != "(") continue;
      const bool is_query = is_one_of(words[i - 1].text, {"as", "materialized"});
      if (!is_query && i + 1 < words.size() && words[i + 1].text == "select")
        return collect(text.substr(words[i].begin), parent);
      // The name before AS, perhaps with its columns between.
      std::size_t name = i - 1;
      while (is_query && name > 0 && is_one_of(words[name].text, {"as", "materialized", "not"}))
        --name;
      while (is_query && name > 0 && words[name].text == ")") {
        while (name > 0 && words[name].text != "(") --name;
        if (name > 0) --name;
      }
      const std::string_view inner = inside(text, words, i);
      if (!is_query) continue;
      // Without RECURSIVE, the name within its own query is that of a table.
      if (is_recursive) named_.insert(words[name].text);
      collect(inner, kNoBlock);
      named_.insert(words[name].text);
    }
    doubt("a query that cannot be read");
  }

  void collect_plain(std::string_view text, const std::vector<Word>& words, std::size_t parent) {
    if (words[0].text == "values") return;  // a table within it is missed, and noticed in the end
    const auto tree = sql::parse_sql(text);
    if (!tree || tree->size() != 1) return doubt("a query that cannot be read");
    const Tree& select = child(child((*tree)[0], "stmt"), "SelectStmt");
    if (select.is_null()) return doubt("something else than SELECT within a query");
    if (words[0].text != "select") return doubt("a query that cannot be read");  // TABLE t
    if (has(select, "intoClause")) return doubt("SELECT INTO");
    if (has(select, "lockingClause")) return doubt("a lock on a join or in a sub-query");
    if (has(select, "limitCount") || has(select, "limitOffset"))
      return doubt("a LIMIT that leaves rows out");
    mention(select);
    const std::size_t self = out_.blocks.size();
    Block block{.parent = parent, .from = {}, .where = {}, .tables = {}};
    block.is_answer = is_answer_ && parent == kNoBlock;
    std::size_t from = words.size();
    std::size_t where = words.size();
    std::size_t end = words.size();
    for (std::size_t i = 0; i < words.size() && end == words.size(); ++i) {
      if (words[i].depth != 0 || !is_keyword(words, i)) continue;
      if (words[i].text == "from" && from == words.size() &&
          (i == 0 || words[i - 1].text != "distinct")) {
        from = i;
      } else if (words[i].text == "where" && where == words.size()) {
        where = i;
      } else if (from < i && ends_condition(words[i].text)) {
        end = i;
      }
    }
    const std::size_t from_end = std::min(where, end);
    const auto cut = [&](std::size_t first, std::size_t last) {
      return text.substr(words[first].begin, words[last - 1].end - words[first].begin);
    };
    std::size_t from_begin = 0;
    if (from + 1 < from_end) {
      block.from = cut(from + 1, from_end);
      from_begin = words[from + 1].begin;
    }
    if (where + 1 < end) block.where = plain_conditions(text, words, where + 1, end);
    for (std::size_t i = where; i < end; ++i) {
      if (words[i].text == "(" && opens_query(words, i)) block.is_whole = false;
    }
    bool has_others = false;
    for (const Tree& item : child(select, "fromClause"))
      read_from(item, from_begin, false, block, has_others);
    if (has_others && !block.tables.empty()) doubt("a join of a table with a sub-query");
    for (std::size_t i = from; i < from_end && !block.tables.empty(); ++i) {
      if (words[i].text == "(" && opens_query(words, i)) doubt("a sub-query in ON");
    }
    out_.blocks.push_back(std::move(block));
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i].text == "(" && opens_query(words, i)) collect(inside(text, words, i), self);
    }
  }

  // The conditions that AND connects, without those that contain sub-queries.
  static std::string plain_conditions(std::string_view text, const std::vector<Word>& words,
                                      std::size_t begin, std::size_t end) {
    std::string out;
    bool is_between = false;
    bool has_query = false;
    int cases = 0;
    std::size_t first = begin;
    for (std::size_t i = begin; i <= end; ++i) {
      const bool is_end = i == end;
      if (!is_end && words[i].text == "(" && opens_query(words, i)) has_query = true;
      if (!is_end && words[i].depth > 0) continue;
      if (!is_end) {
        if (words[i].text == "case") ++cases;
        if (words[i].text == "end") --cases;
        if (words[i].text == "between") is_between = true;
        // AND binds closer than OR: with one, the whole is one condition.
        if (words[i].text == "or") {
          bool any = false;
          for (std::size_t j = begin; j < end; ++j)
            any |= words[j].text == "(" && opens_query(words, j);
          if (any) return {};
          return "(" +
                 std::string(
                     text.substr(words[begin].begin, words[end - 1].end - words[begin].begin)) +
                 ")";
        }
      }
      const bool is_and = !is_end && words[i].text == "and" && cases == 0;
      if (is_and && is_between) {
        is_between = false;
        continue;
      }
      if (!is_and && !is_end) continue;
      if (!has_query && i > first)
        out += (out.empty() ? "(" : " AND (") +
               std::string(text.substr(words[first].begin, words[i - 1].end - words[first].begin)) +
               ")";
      has_query = false;
      first = i + 1;
    }
    return out;
  }

  void read_from(const Tree& item, std::size_t from_begin, bool is_nullable, Block& block,
                 bool& has_others) {
    if (has(item, "JoinExpr")) {
      const Tree& join = child(item, "JoinExpr");
      const std::string kind = sql::text_of(join, "jointype");
      if (sql::flag_of(join, "isNatural")) doubt("a NATURAL JOIN");
      if (has(join, "alias")) doubt("a join with an alias");
      for (const Tree& name : child(join, "usingClause"))
        out_.columns.emplace("", sql::string_node(name));
      read_from(child(join, "larg"), from_begin,
                is_nullable || kind == "JOIN_RIGHT" || kind == "JOIN_FULL", block, has_others);
      read_from(child(join, "rarg"), from_begin,
                is_nullable || kind == "JOIN_LEFT" || kind == "JOIN_FULL", block, has_others);
      return;
    }
    const Tree& variable = child(item, "RangeVar");
    if (variable.is_null()) {
      has_others = true;  // a sub-query or a function
      return;
    }
    BlockTable table{.schema = sql::text_of(variable, "schemaname"),
                     .name = sql::text_of(variable, "relname"),
                     .alias = sql::text_of(child(variable, "alias"), "aliasname")};
    ++found_tables_;
    if (table.schema.empty() && named_.contains(table.name)) {
      has_others = true;
      return;
    }
    if (has(child(variable, "alias"), "colnames")) doubt("an alias that renames columns");
    if (has(variable, "catalogname")) doubt("a table of another database");
    table.has_alias = !table.alias.empty();
    if (!table.has_alias) table.alias = table.name;
    table.is_nullable = is_nullable;
    const auto at = static_cast<std::size_t>(sql::number_of(variable, "location"));
    if (at < from_begin) return doubt("a query that cannot be read");
    table.begin = at - from_begin;
    if (table.begin >= block.from.size()) return doubt("a query that cannot be read");
    block.has_outer_join |= is_nullable;
    // The name, with its schema: tokens with points between.
    const std::vector<Word> words = words_of(std::string_view(block.from).substr(table.begin));
    std::size_t last = 0;
    while (last + 2 < words.size() && words[last + 1].text == ".") last += 2;
    table.end = table.begin + (words.empty() ? 0 : words[last].end);
    block.tables.push_back(std::move(table));
  }

  // What the block itself mentions: other blocks within it speak for themselves.
  void mention(const Tree& node) {
    if (node.is_array()) {
      for (const Tree& part : node) mention(part);
      return;
    }
    if (!node.is_object()) return;
    for (const auto& [name, part] : node.items()) {
      if (name == "SelectStmt") continue;
      if (name == "ColumnRef") {
        const Tree& fields = child(part, "fields");
        if (!fields.is_array() || fields.empty()) continue;
        const std::string first = fields.size() > 1 ? sql::string_node(fields.front()) : "";
        if (fields.size() > 2) doubt("a column that is named with its schema");
        if (has(fields.back(), "A_Star")) {
          out_.whole.insert(first);
        } else {
          out_.columns.emplace(first, sql::string_node(fields.back()));
        }
        continue;
      }
      if (is_field_of_record(name, part)) doubt("a field of a record, which may be a function");
      if (name == "CurrentOfExpr") doubt("WHERE CURRENT OF");
      if (name == "SQLValueFunction") out_.functions.insert("now");
      if (name == "FuncCall") {
        const Tree& function = child(part, "funcname");
        out_.functions.insert(sql::last_name(function));
        if (function.size() > 1 && sql::string_node(function.front()) != "pg_catalog")
          doubt("a function that is named with its schema");
      }
      mention(part);
    }
  }

  Blocks out_;
  bool is_answer_ = false;        // outside of WITH
  std::set<std::string> named_;   // by WITH
  std::size_t found_tables_ = 0;  // in FROM, with what WITH names
};

}  // namespace

void add_implied(const std::string& name, const Tree& part, Implied& implied) {
  if (name == "A_Expr") implied.operators.insert(sql::last_name(child(part, "name")));
  if (name == "SubLink" && has(part, "operName"))
    implied.operators.insert(sql::last_name(child(part, "operName")));
  if (name == "SortBy" && has(part, "useOp"))
    implied.operators.insert(sql::last_name(child(part, "useOp")));
  if (name == "typeName") implied.types.insert(sql::last_name(child(part, "names")));
}

bool is_field_of_record(const std::string& name, const Tree& part) {
  if (name != "A_Indirection") return false;
  const Tree& steps = child(part, "indirection");
  return std::ranges::any_of(steps, [](const Tree& step) { return has(step, "String"); });
}

Blocks blocks_of(std::string_view query) { return BlockReader().read(query); }

}  // namespace isoscope::record
