#include "audit/counters.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoscope::audit {

namespace {

constexpr SmtLimits kSmallQuestion{.steps = 2'000'000};

IdRange<sql::FunctionId> functions_of(const World& world) {
  return world.symbols().app().function_ids();
}

bool writes_column(const Access& access, const Counter& counter) {
  return access.kind == AccessKind::Write && access.table == counter.table &&
         access.attribute == Attribute(counter.column);
}

}  // namespace

Counters::Counters(World& world, Axioms& axioms, bool rows_at_start, bool may_count, Budget& budget)
    : world_(world), axioms_(axioms) {
  if (!may_count) return;
  try {
    find_counters(rows_at_start, budget);
  } catch (const SmtStopped&) {
    counters_.clear();
    is_causal_.clear();
    counted_.clear();
  }
}

void Counters::find_counters(bool rows_at_start, Budget& budget) {
  const sql::Application& app = world_.symbols().app();
  const sql::Changes& changes = world_.symbols().changes();
  for (std::uint32_t t = 0; t < app.tables.size(); ++t) {
    const sql::TableId table{t};
    if (changes.has_inserts(table)) continue;
    for (const sql::ColumnId c : app.tables[t].columns.ids()) {
      const Counter counter{table, c};
      if (!changes.is_updated(table, c) || app.tables[t].columns[c].type != sql::Type::Integer)
        continue;
      if (is_counter(counter, budget) && is_serial(counter, budget)) counters_.push_back(counter);
    }
  }
  if (!rows_at_start) find_counted(budget);
  // A counter that numbers nothing is of no use, and every fact costs time.
  std::vector<Counter> useful;
  for (CountedRows& rows : counted_) {
    const Counter counter = counters_[rows.counter];
    const auto place = std::ranges::find_if(useful, [&](const Counter& other) {
      return other.table == counter.table && other.column == counter.column;
    });
    rows.counter = static_cast<std::size_t>(place - useful.begin());
    if (place == useful.end()) useful.push_back(counter);
  }
  counters_ = std::move(useful);
  for (const Counter& counter : counters_) {
    ById<sql::FunctionId, bool> causal;
    for (const sql::FunctionId f : functions_of(world_))
      causal.push_back(is_causal(counter, f, budget));
    is_causal_.push_back(std::move(causal));
  }
}

bool Counters::always(Cast cast, SmtTerm claim, bool with_levels, Budget& budget) {
  if (world_.symbols().smt().known_truth(claim) == true) return true;
  std::vector<SmtTerm> formulas = world_.constraints(cast);
  if (with_levels) {
    const std::vector<SmtTerm> levels = axioms_.constraints(cast);
    formulas.insert(formulas.end(), levels.begin(), levels.end());
  }
  formulas.push_back(!claim);
  return world_.symbols().smt().check(formulas, kSmallQuestion, budget) == SmtResult::Unsat;
}

std::vector<sql::FunctionId> Counters::writers_of(const Counter& counter) {
  std::vector<sql::FunctionId> writers;
  for (const sql::FunctionId f : functions_of(world_)) {
    const Instance& instance = world_.instance(world_.member(f, 0));
    if (std::ranges::any_of(instance.accesses,
                            [&](const Access& a) { return writes_column(a, counter); }))
      writers.push_back(f);
  }
  return writers;
}

bool Counters::is_counter(const Counter& counter, Budget& budget) {
  for (const sql::FunctionId f : writers_of(counter)) {
    const Member member = world_.member(f, 0);
    Instance& instance = world_.instance(member);
    for (std::size_t i = 0; i < instance.accesses.size(); ++i) {
      const Access access = instance.accesses[i];
      if (!writes_column(access, counter)) continue;
      if (!access.row) return false;
      const SymValue before = instance.value(counter.table, counter.column, *access.row);
      const SymValue after = world_.terms(member).written(access, *access.row);
      const Member cast[] = {member};
      if (!always(cast, implies(access.guard, !after.null && before.number < after.number), false,
                  budget))
        return false;
    }
  }
  return true;
}

bool Counters::is_serial(const Counter& counter, Budget& budget) {
  const std::vector<sql::FunctionId> writers = writers_of(counter);
  for (const sql::FunctionId f : writers) {
    for (const sql::FunctionId g : writers) {
      const Member a = world_.member(f, 0);
      const Member b = world_.member(g, f == g ? 1 : 0);
      const Member cast[] = {a, b};
      Row row;
      for (std::size_t i = 0; i < world_.symbols().app().table(counter.table).primary_key.size();
           ++i)
        row.push_back(world_.symbols().fresh_number("counter"));
      const SmtTerm both = world_.wrote(a, counter.table, Attribute(counter.column), row) &&
                           world_.wrote(b, counter.table, Attribute(counter.column), row);
      if (!always(cast, implies(both && world_.ar(a, b), world_.vis(a, b)), true, budget))
        return false;
    }
  }
  return true;
}

bool Counters::is_causal(const Counter& counter, sql::FunctionId viewer, Budget& budget) {
  const std::vector<sql::FunctionId> writers = writers_of(counter);
  for (const sql::FunctionId f : writers) {
    for (const sql::FunctionId g : writers) {
      const Member a = world_.member(f, 0);
      const Member b = world_.member(g, 1);
      const Member c = world_.member(viewer, 2);
      const Member cast[] = {a, b, c};
      const SmtTerm claim = implies(world_.vis(a, b) && world_.vis(b, c), world_.vis(a, c));
      if (!always(cast, claim, true, budget)) return false;
    }
  }
  return true;
}

namespace {

// Where the parts of a row stand in another one, up to the first that does not.
std::vector<std::size_t> places_in(const Row& row, const Row& parts) {
  std::vector<std::size_t> places;
  for (const SmtTerm& part : parts) {
    const auto place =
        std::ranges::find_if(row, [&](const SmtTerm& term) { return term.index == part.index; });
    if (place == row.end()) break;
    places.push_back(static_cast<std::size_t>(place - row.begin()));
  }
  return places;
}

}  // namespace

std::optional<CountedRows> Counters::counted_by(sql::FunctionId function, const Access& insert,
                                                Budget& budget) {
  const Member member = world_.member(function, 0);
  Instance& instance = world_.instance(member);
  const Member cast[] = {member};
  const Row& row = *insert.row;
  for (std::size_t k = 0; k < row.size(); ++k) {
    for (std::size_t n = 0; n < counters_.size(); ++n) {
      const Counter& counter = counters_[n];
      for (std::size_t i = 0; i < instance.accesses.size(); ++i) {
        const Access write = instance.accesses[i];
        if (!writes_column(write, counter) || !write.row) continue;
        // The counter's row is named by parts of the key.
        const CountedRows counted{insert.table, k, n, places_in(row, *write.row)};
        if (counted.counter_row.size() != write.row->size()) continue;
        const SymValue before = instance.value(counter.table, counter.column, *write.row);
        if (always(cast, implies(insert.guard, write.guard && equals(row[k], before.number)), false,
                   budget))
          return counted;
      }
    }
  }
  return std::nullopt;
}

void Counters::find_counted(Budget& budget) {
  if (counters_.empty()) return;
  const sql::Application& app = world_.symbols().app();
  for (std::uint32_t t = 0; t < app.tables.size(); ++t) {
    const sql::TableId table{t};
    if (!world_.symbols().changes().has_inserts(table)) continue;
    std::optional<CountedRows> common;
    bool all = true;
    for (const sql::FunctionId f : functions_of(world_)) {
      if (!all) break;
      const Member member = world_.member(f, 0);
      const std::vector<Access> accesses = world_.instance(member).accesses;
      for (const Access& access : accesses) {
        if (access.kind != AccessKind::Write || access.table != table ||
            access.attribute != kPresence || !all)
          continue;
        if (!access.row) continue;  // a DELETE of many rows
        const auto value = world_.symbols().smt().known_number(
            world_.terms(member).written(access, *access.row).number);
        if (value == 0) continue;  // a DELETE
        const auto counted = counted_by(f, access, budget);
        all = counted && (!common || (counted->key_part == common->key_part &&
                                      counted->counter == common->counter &&
                                      counted->counter_row == common->counter_row));
        if (all) common = counted;
      }
    }
    if (all && common) counted_.push_back(*common);
  }
}

std::vector<SmtTerm> Counters::constraints(Cast cast) {
  std::vector<SmtTerm> out;
  for (std::size_t n = 0; n < counters_.size(); ++n) {
    const Counter& counter = counters_[n];
    std::vector<Row> rows = world_.rows(cast, counter.table);
    for (const CountedRows& counted : counted_) {
      if (counted.counter != n) continue;
      for (const Row& row : world_.rows(cast, counted.table)) {
        Row of;
        for (const std::size_t part : counted.counter_row) of.push_back(row[part]);
        // F3.
        for (const Member a : cast) {
          Instance& viewer = world_.instance(a);
          const SmtTerm now = viewer.value(counter.table, counter.column, of).number;
          out.push_back(implies(viewer.presence(counted.table, row), row[counted.key_part] < now));
        }
        rows.push_back(std::move(of));
      }
    }
    for (const Member writer : cast) {
      for (const Member viewer : cast) {
        if (writer == viewer) continue;
        for (const Row& row : rows) {
          const SmtTerm moved = world_.wrote(writer, counter.table, Attribute(counter.column), row);
          if (world_.symbols().smt().known_truth(moved) == false) continue;
          const SmtTerm found =
              world_.instance(writer).value(counter.table, counter.column, row).number;
          const SmtTerm now =
              world_.instance(viewer).value(counter.table, counter.column, row).number;
          // F1 and F2.
          out.push_back(implies(moved && world_.vis(writer, viewer), found < now));
          if (is_causal_[n][world_.function(viewer)])
            out.push_back(implies(moved && !world_.vis(writer, viewer), now <= found));
        }
      }
    }
  }
  return out;
}

std::vector<std::string> Counters::describe() const {
  const sql::Application& app = world_.symbols().app();
  std::vector<std::string> lines;
  for (const CountedRows& counted : counted_) {
    const sql::Table& table = app.table(counted.table);
    const Counter& counter = counters_[counted.counter];
    const sql::Table& of = app.table(counter.table);
    lines.push_back(fmt::format("{}.{} is counted by {}.{}", table.name,
                                table.columns[table.primary_key[counted.key_part]].name, of.name,
                                of.columns[counter.column].name));
  }
  return lines;
}

}  // namespace isoscope::audit
