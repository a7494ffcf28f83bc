#include "audit/access_evaluator.h"

#include "sql/statement_walk.h"

namespace isoscope::audit {

SmtTerm AccessEvaluator::happens(const Access& access, const Row& row) {
  return access.guard &&
         (access.row ? symbols_.same_row(*access.row, row) : holds(access.condition, row));
}

SymValue AccessEvaluator::written(const Access& access, const Row& row) {
  return std::visit(sql::Overloaded{
                        [](const SymValue& value) { return value; },
                        [&](const RowExpr& expr) { return eval(expr, row); },
                        [&](const SmtFunction& is) { return symbols_.truth(is(row)); },
                    },
                    access.value);
}

SmtTerm AccessEvaluator::would_match(const Access& scan, const Row& row, ColumnValues values) {
  Frame frame = scan.would_match->of(row);
  frame.sources[scan.would_match->source].values = std::move(values);
  return meets(*scan.would_match, frame);
}

SmtTerm AccessEvaluator::meets(const RowExpr& expr, const Frame& frame) {
  return expr.expr != nullptr ? is_true(*expr.expr, frame) : symbols_.yes();
}

std::vector<SmtTerm> AccessEvaluator::all_hold(const std::vector<ConditionId>& conditions,
                                               const Row& row) {
  std::vector<SmtTerm> parts;
  for (const ConditionId part : conditions) parts.push_back(holds(part, row));
  return parts;
}

SmtTerm AccessEvaluator::holds(ConditionId id, const Row& row) {
  return std::visit(
      sql::Overloaded{
          [](const condition::Always& c) { return c.holds; },
          [&](const condition::Committed&) { return instance_.committed; },
          [&](const condition::Is& c) { return symbols_.same_row(c.row, row); },
          [&](const condition::KeyIs& c) { return equals(row[c.part], c.number); },
          [&](const condition::Named& c) { return c.of(row); },
          [&](const condition::Meets& c) { return meets(c.expr, c.expr.of(row)); },
          [&](const condition::Present& c) { return present(c.table, row, c.frame); },
          [&](const condition::Holds& c) {
            const SymValue is = value(c.table, c.column, row, c.frame);
            return !is.null && equals(is.number, c.number);
          },
          [&](const condition::Unwritten& c) { return is_unwritten(c, row); },
          [&](const condition::Locked& c) { return has_locked(c.table, row, c.before); },
          [&](const condition::NotBefore& c) {
            const SymValue other = eval(c.value, row);
            const SmtTerm is_behind =
                c.descending ? other.number <= c.first.number : c.first.number <= other.number;
            return other.null || c.first.null || is_behind;
          },
          [&](const condition::NotBeyond& c) {
            const SymValue other = eval(c.value, row);
            const SmtTerm is_beyond = !other.null && (c.is_min ? other.number < c.best.number
                                                               : c.best.number < other.number);
            return other.null || (!c.best.null && !is_beyond);
          },
          [&](const condition::UpTo& c) {
            const SymValue other = eval(c.value, row);
            const SmtTerm counts =
                c.is_min ? other.number <= c.best.number : c.best.number <= other.number;
            return holds(c.inner, row) && (c.best.null || counts);
          },
          [&](const condition::All& c) { return symbols_.all(all_hold(c.parts, row)); },
          [&](const condition::Any& c) { return symbols_.any(all_hold(c.parts, row)); },
          [&](const condition::Not& c) { return !holds(c.part, row); },
          [&](const condition::Implies& c) {
            const SmtTerm conclusion = holds(c.conclusion, row);
            return implies(holds(c.premise, row), conclusion);
          },
      },
      instance_.conditions[id]);
}

SmtTerm AccessEvaluator::is_unwritten(const condition::Unwritten& what, const Row& row) {
  std::vector<SmtTerm> parts;
  for (std::size_t i = what.from; i < what.to; ++i) {
    const Access& access = instance_.accesses[i];
    if (access.kind == AccessKind::Write && access.table == what.table &&
        (what.attribute ? access.attribute == *what.attribute : !access.attribute.is_entry()))
      parts.push_back(!happens(access, row));
  }
  return symbols_.all(parts);
}

bool AccessEvaluator::may_have_locked(sql::TableId table, std::size_t before) const {
  for (std::size_t i = 0; i < before; ++i) {
    const Access& access = instance_.accesses[i];
    if (access.table == table && excludes_writers(access) && !access.is_late) return true;
  }
  return false;
}

SmtTerm AccessEvaluator::has_locked(sql::TableId table, const Row& row, std::size_t before) {
  std::vector<SmtTerm> parts;
  for (std::size_t i = 0; i < before; ++i) {
    const Access& access = instance_.accesses[i];
    if (access.table == table && excludes_writers(access) && !access.is_late)
      parts.push_back(happens(access, row));
  }
  return symbols_.any(parts);
}

Instance::Asked AccessEvaluator::asked(sql::TableId table, Attribute attribute, const Row& row,
                                       const Frame& frame) {
  Instance::Asked asked{table, attribute, frame.num_accesses, frame.at, {}};
  for (const SmtTerm& term : row) asked.row.push_back(term.index);
  return asked;
}

SmtTerm AccessEvaluator::present(sql::TableId table, const Row& row, const Frame& frame) {
  if (frame.disturbed.contains({table, kPresence}))
    return symbols_.fresh_truth("some_round.present");
  Instance::Asked question = asked(table, kPresence, row, frame);
  if (const auto known = instance_.known.find(question); known != instance_.known.end())
    return known->second.number;
  SmtTerm present = instance_.presence(table, row, frame.at);
  if (per_statement_ && frame.at != kCurrent && may_have_locked(table, frame.num_accesses))
    present = choose(has_locked(table, row, frame.num_accesses),
                     instance_.presence(table, row, kCurrent), present);
  for (std::size_t i = 0; i < frame.num_accesses; ++i) {
    const Access& access = instance_.accesses[i];
    if (access.kind != AccessKind::Write || access.table != table || access.attribute != kPresence)
      continue;
    present = choose(happens(access, row),
                     equals(written(access, row).number, symbols_.smt().number(1)), present);
  }
  instance_.known.emplace(std::move(question), SymValue{symbols_.no(), present});
  return present;
}

SymValue AccessEvaluator::value(sql::TableId table, sql::ColumnId column, const Row& row,
                                const Frame& frame) {
  const Attribute attribute(column);
  if (frame.disturbed.contains({table, attribute})) {
    const bool may_be_null = !symbols_.app().table(table).columns[column].not_null;
    return symbols_.fresh_value("some_round.value", may_be_null);
  }
  Instance::Asked question = asked(table, attribute, row, frame);
  if (const auto known = instance_.known.find(question); known != instance_.known.end())
    return known->second;
  SymValue value = instance_.value(table, column, row, frame.at);
  if (per_statement_ && frame.at != kCurrent && may_have_locked(table, frame.num_accesses))
    value = symbols_.choose_value(has_locked(table, row, frame.num_accesses),
                                  instance_.value(table, column, row, kCurrent), value);
  for (std::size_t i = 0; i < frame.num_accesses; ++i) {
    const Access& access = instance_.accesses[i];
    if (access.kind != AccessKind::Write || access.table != table || access.attribute != attribute)
      continue;
    value = symbols_.choose_value(happens(access, row), written(access, row), value);
  }
  instance_.known.emplace(std::move(question), value);
  return value;
}

}  // namespace isoscope::audit
