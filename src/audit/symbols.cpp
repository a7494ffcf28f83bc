#include "audit/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql/statement_walk.h"

namespace isoscope::audit {

namespace {

void collect_texts(const sql::Expr& expr, std::set<std::string>& texts) {
  if (expr.op == sql::ExprOp::Text) texts.insert(expr.text);
  for (const sql::Expr& arg : expr.args) collect_texts(arg, texts);
}

void collect_texts(const std::optional<sql::Expr>& expr, std::set<std::string>& texts) {
  if (expr) collect_texts(*expr, texts);
}

void collect_texts(std::span<const sql::Statement> body, std::set<std::string>& texts) {
  for (const sql::Statement& s : body) {
    sql::for_each_expr(s, [&](const sql::Expr& expr) { collect_texts(expr, texts); });
    collect_texts(s.body(), texts);
    collect_texts(s.otherwise(), texts);
  }
}

bool has_numeric(const sql::Expr& expr) {
  return expr.type == sql::Type::Numeric || std::ranges::any_of(expr.args, has_numeric);
}

bool has_numeric(std::span<const sql::Statement> body) {
  return std::ranges::any_of(body, [](const sql::Statement& s) {
    bool found = false;
    sql::for_each_expr(s, [&](const sql::Expr& expr) { found = found || has_numeric(expr); });
    return found || has_numeric(s.body()) || has_numeric(s.otherwise());
  });
}

constexpr std::uint32_t kShort = 8;  // characters

// Another text for each number, none of the literals, of one letter where few are needed.
template <class Literals>
std::string short_text(std::int64_t number, const Literals& literals) {
  auto rest = static_cast<std::uint64_t>(number) * 2;
  if (number < 0) rest = ~rest;
  std::string text;
  for (++rest; rest > 0; rest = (rest - 1) / 26)
    text.insert(text.begin(), static_cast<char>('a' + (rest - 1) % 26));
  return literals.contains(text) ? text + "_" : text;
}

}  // namespace

SmtNumbers numbers_of(const sql::Application& app) {
  const auto is_numeric = [](const auto& declared) { return declared.type == sql::Type::Numeric; };
  const bool in_tables = std::ranges::any_of(app.tables, [&](const sql::Table& table) {
    return std::ranges::any_of(table.columns, is_numeric) ||
           std::ranges::any_of(table.checks, [](const sql::Expr& e) { return has_numeric(e); }) ||
           std::ranges::any_of(table.columns, [](const sql::Column& column) {
             return (column.default_value && has_numeric(*column.default_value)) ||
                    (column.generated && has_numeric(*column.generated));
           });
  });
  const bool in_functions = std::ranges::any_of(app.functions, [&](const sql::Function& function) {
    return std::ranges::any_of(function.variables, is_numeric) || has_numeric(function.body);
  });
  return in_tables || in_functions ? SmtNumbers::Real : SmtNumbers::Whole;
}

Symbols::Symbols(SmtSolver& smt, const sql::Application& app, const sql::Changes& changes,
                 bool may_cut_texts)
    : smt_(smt),
      app_(app),
      changes_(changes),
      may_cut_texts_(may_cut_texts),
      yes_(smt.truth(true)),
      no_(smt.truth(false)),
      zero_(smt.number(0)) {
  std::set<std::string> texts;
  for (const sql::Function& function : app.functions) {
    collect_texts(function.body, texts);
    for (const sql::Variable& variable : function.variables) {
      if (variable.width.labels)
        texts.insert(variable.width.labels->begin(), variable.width.labels->end());
    }
  }
  for (const sql::Table& table : app.tables) {
    for (const sql::Column& column : table.columns) {
      collect_texts(column.default_value, texts);
      if (column.width.labels)
        texts.insert(column.width.labels->begin(), column.width.labels->end());
      const std::uint32_t length = column.width.length;
      has_short_texts_ = has_short_texts_ || (length > 0 && length < kShort);
    }
    for (const sql::Expr& check : table.checks) collect_texts(check, texts);
  }
  // In the order of the texts, and far apart, so that comparisons of literals come out right.
  constexpr std::int64_t kGap = 1000;
  std::int64_t number = 0;
  for (const std::string& text : texts) {
    number += kGap;
    text_numbers_[text] = number;
    texts_[number] = text;
  }
}

bool Symbols::may_change(sql::TableId table, Attribute attribute) const {
  if (attribute == kPresence) return !changes_.has_fixed_rows(table);
  return attribute.is_entry() || !changes_.is_static(table, attribute.column());
}

std::string Symbols::text_of(std::int64_t number) const {
  const auto literal = texts_.find(number);
  if (literal != texts_.end()) return literal->second;
  if (has_short_texts_) return short_text(number, text_numbers_);
  return number < 0 ? fmt::format("t_{}", -number) : fmt::format("t{}", number);
}

SymValue Symbols::truth(SmtTerm formula) const {
  return {no_, choose(formula, smt_.number(1), zero_)};
}

SmtTerm Symbols::is_label(const sql::Width& width, const SymValue& value) const {
  if (width.labels == nullptr) return yes_;
  std::vector<SmtTerm> parts = {value.null};
  for (const std::string& label : *width.labels)
    parts.push_back(equals(value.number, text(label).number));
  return any(parts);
}

SymValue Symbols::fresh_value(std::string_view name, bool may_be_null) {
  return {may_be_null ? fresh_truth(fmt::format("{}.null", name)) : no_, fresh_number(name)};
}

SymArray Symbols::fresh_array(std::string_view name) {
  const SmtSort from[] = {SmtSolver::kInt};
  return {fresh_number(fmt::format("{}.size", name)),
          smt_.new_function(name, from, SmtSolver::kInt)};
}

SmtFunction Symbols::row_function(std::string_view name, sql::TableId table, SmtSort to) {
  const std::vector<SmtSort> from(app_.table(table).primary_key.size(), SmtSolver::kInt);
  return smt_.new_function(name, from, to);
}

SmtTerm Symbols::presence_of(std::map<sql::TableId, SmtFunction>& functions,
                             std::string_view prefix, sql::TableId table, const Row& row) {
  auto found = functions.find(table);
  if (found == functions.end()) {
    const std::string name = fmt::format("{}.{}", prefix, app_.table(table).name);
    found = functions.emplace(table, row_function(name, table, SmtSolver::kBool)).first;
  }
  return found->second(row);
}

SymValue Symbols::value_of(std::map<ColumnKey, ColumnFunctions>& functions, std::string_view prefix,
                           sql::TableId table, sql::ColumnId column, const Row& row) {
  const sql::Column& declared = app_.table(table).columns[column];
  auto found = functions.find({table, column});
  if (found == functions.end()) {
    const std::string name = fmt::format("{}.{}.{}", prefix, app_.table(table).name, declared.name);
    found = functions
                .emplace(ColumnKey{table, column},
                         ColumnFunctions{row_function(name + ".null", table, SmtSolver::kBool),
                                         row_function(name, table, SmtSolver::kInt)})
                .first;
  }
  return {declared.not_null ? no_ : found->second.null(row), found->second.number(row)};
}

SmtTerm Symbols::static_presence(sql::TableId table, const Row& row) {
  return presence_of(static_presences_, "rows", table, row);
}
SymValue Symbols::static_value(sql::TableId table, sql::ColumnId column, const Row& row) {
  return value_of(static_values_, "static", table, column, row);
}
SmtTerm Symbols::initial_presence(sql::TableId table, const Row& row) {
  return presence_of(initial_presences_, "initially", table, row);
}
SymValue Symbols::initial_value(sql::TableId table, sql::ColumnId column, const Row& row) {
  return value_of(initial_values_, "initial", table, column, row);
}

SmtTerm Symbols::present_at_start(sql::TableId table, const Row& row) {
  return changes_.has_fixed_rows(table) ? static_presence(table, row)
                                        : initial_presence(table, row);
}
SymValue Symbols::value_at_start(sql::TableId table, sql::ColumnId column, const Row& row) {
  if (const auto number = key_value(table, column, row)) return *number;
  return changes_.is_static(table, column) ? static_value(table, column, row)
                                           : initial_value(table, column, row);
}

std::optional<SymValue> Symbols::key_value(sql::TableId table, sql::ColumnId column,
                                           const Row& row) const {
  const std::vector<sql::ColumnId>& key = app_.table(table).primary_key;
  const auto place = std::ranges::find(key, column);
  if (place == key.end()) return std::nullopt;
  return SymValue{no_, row[static_cast<std::size_t>(place - key.begin())]};
}

SmtFunction Symbols::entry_function(std::string_view name, sql::TableId table,
                                    sql::UniqueId unique) {
  const std::vector<SmtSort> from(app_.table(table).unique[unique].size(), SmtSolver::kInt);
  return smt_.new_function(name, from, SmtSolver::kBool);
}

SmtTerm Symbols::initial_entry(sql::TableId table, sql::UniqueId unique, const Row& entry) {
  auto found = initial_entries_.find({table, unique});
  if (found == initial_entries_.end()) {
    found = initial_entries_
                .emplace(std::pair(table, unique), entry_function("initially.taken", table, unique))
                .first;
  }
  return found->second(entry);
}

SymValue Symbols::opaque(const std::string& name, std::span<const SymValue> arguments) {
  // A NULL argument is a number that no other value is likely to be, and its flag beside it.
  std::vector<SmtTerm> terms;
  for (const SymValue& argument : arguments) {
    terms.push_back(choose(argument.null, zero_, argument.number));
    terms.push_back(choose(argument.null, smt_.number(1), zero_));
  }
  auto found = opaque_.find({name, terms.size()});
  if (found == opaque_.end()) {
    const std::vector<SmtSort> from(terms.size(), SmtSolver::kInt);
    found = opaque_
                .emplace(std::pair(name, terms.size()),
                         ColumnFunctions{smt_.new_function(name + ".null", from, SmtSolver::kBool),
                                         smt_.new_function(name, from, SmtSolver::kInt)})
                .first;
  }
  return {found->second.null(terms), found->second.number(terms)};
}

SmtTerm Symbols::same_row(const Row& a, const Row& b) const {
  std::vector<SmtTerm> parts;
  for (std::size_t i = 0; i < a.size(); ++i) parts.push_back(equals(a[i], b[i]));
  return all(parts);
}

SmtTerm Symbols::same_value(const SymValue& a, const SymValue& b) const {
  return iff(a.null, b.null) && (a.null || equals(a.number, b.number));
}

}  // namespace isoscope::audit
