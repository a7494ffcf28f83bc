#include "record/splicing.h"

#include "record/words.h"
#include "sql/read/pg_parse.h"

namespace isoscope::record {

using sql::child;
using sql::Tree;

// Places in the text are no part of what a statement means.
void forget_places(Tree& node) {
  if (node.is_object()) {
    for (const char* name : {"location", "stmt_location", "stmt_len"}) node.erase(name);
  }
  if (node.is_structured()) {
    for (Tree& part : node) forget_places(part);
  }
}

namespace {

std::vector<Splice> condition_splices(const std::vector<Word>& words) {
  std::size_t where = words.size();
  std::size_t end = words.size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_keyword(words, i)) continue;
    if (words[i].text == "where" && where == words.size()) {
      where = i;
    } else if (ends_condition(words[i].text)) {
      end = i;
      break;
    }
  }
  if (end == 0 || words.empty()) return {};
  const std::size_t last = words[end - 1].end;
  const std::string mark(kGateMark);
  if (where == words.size()) return {{last, 0, " WHERE " + mark}};
  return {{words[where].end, 0, " " + mark + " AND ("}, {last, 0, ")"}};
}

// INSERT INTO t (a, b) VALUES (1, 2)  ->  INSERT INTO t (a, b) SELECT 1, 2 WHERE gate
std::vector<Splice> insert_splices(const std::vector<Word>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!is_keyword(words, i) || words[i].text != "values" || words[i + 1].text != "(") continue;
    for (std::size_t j = i + 2; j < words.size(); ++j) {
      if (words[j].depth != 0 || words[j].text != ")") continue;
      if (j + 1 < words.size() && words[j + 1].text == ",") return {};  // several rows
      return {{words[i].begin, words[i + 1].end - words[i].begin, "SELECT "},
              {words[j].begin, 1, " WHERE " + std::string(kGateMark)}};
    }
  }
  return {};
}

// The WHERE clause of a text that is nothing but the gate.
Tree gate_tree() {
  auto tree = sql::parse_sql("SELECT WHERE " + gate_condition(1, GateKind::OwnId));
  if (!tree || tree->size() != 1) return {};
  Tree where = child(child(child((*tree)[0], "stmt"), "SelectStmt"), "whereClause");
  forget_places(where);
  return where;
}

// Takes the gate out of the new tree, if it is there as it should be. Of a set operation, the first
// query has it.
bool remove_gate(Tree& statement, const Tree& old_statement, const Tree& gate) {
  if (statement.contains("larg"))
    return remove_gate(statement["larg"], child(old_statement, "larg"), gate);
  if (!statement.contains("whereClause")) return false;
  const Tree where = statement["whereClause"];
  const Tree& old_where = child(old_statement, "whereClause");
  if (old_where.is_null()) {
    statement.erase("whereClause");
    return where == gate;
  }
  const Tree& both = child(where, "BoolExpr");
  const Tree& arguments = child(both, "args");
  if (sql::text_of(both, "boolop") != "AND_EXPR" || !arguments.is_array() ||
      arguments.size() != 2 || arguments[0] != gate)
    return false;
  Tree rest = arguments[1];
  statement["whereClause"] = std::move(rest);
  return true;
}

// Turns the SELECT of an INSERT back into its VALUES.
bool remove_insert_gate(Tree& statement, const Tree& gate) {
  if (!statement.contains("selectStmt")) return false;
  Tree& select = statement["selectStmt"]["SelectStmt"];
  if (child(select, "whereClause") != gate) return false;
  Tree items = Tree::array();
  for (const Tree& target : child(select, "targetList")) {
    const Tree& column = child(target, "ResTarget");
    if (column.size() != 1 || !column.contains("val")) return false;
    items.push_back(child(column, "val"));
  }
  select.erase("whereClause");
  select.erase("targetList");
  select["valuesLists"] = Tree::array({Tree{{"List", {{"items", items}}}}});
  return true;
}

}  // namespace

std::vector<Splice> find_gate(std::string_view text, const Tree& tree, const Shape& shape) {
  const std::vector<Word> words = words_of(text);
  Shape trial = shape;
  const bool is_insert = shape.kind == StatementKind::Insert;
  trial.gate = is_insert ? insert_splices(words) : condition_splices(words);
  if (trial.gate.empty()) return {};
  auto parsed = sql::parse_sql(gated(text, trial, 1, GateKind::OwnId));
  if (!parsed || parsed->size() != 1) return {};
  Tree after = std::move((*parsed)[0]);
  Tree before = tree[0];
  forget_places(after);
  forget_places(before);
  const Tree gate = gate_tree();
  if (gate.is_null() || !after.contains("stmt") || after["stmt"].size() != 1) return {};
  Tree& statement = *after["stmt"].begin();
  const bool removed = is_insert ? remove_insert_gate(statement, gate)
                                 : remove_gate(statement, sql::inside(child(before, "stmt")), gate);
  if (!removed || after != before) return {};
  return trial.gate;
}

}  // namespace isoscope::record
