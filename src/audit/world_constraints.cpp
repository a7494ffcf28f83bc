// What holds of a cast: facts of members, pairs, triples and rows, and, in a closed world, what
// the members see.
#include <algorithm>
#include <set>

#include "audit/world.h"

namespace isoscope::audit {

std::vector<Row> World::rows(Cast cast, sql::TableId table) const {
  std::vector<Row> rows;
  std::set<std::vector<std::uint32_t>> known;
  const auto add = [&](const Row& row) {
    std::vector<std::uint32_t> key;
    for (const SmtTerm& term : row) key.push_back(term.index);
    if (known.insert(std::move(key)).second) rows.push_back(row);
  };
  for (const Member a : cast) {
    for (const Access& access : pool_[a]->accesses) {
      if (access.table == table && access.row && !access.attribute.is_entry()) add(*access.row);
    }
    for (const auto& [of, row] : pool_[a]->named_rows) {
      if (of == table) add(row);
    }
    for (const Member b : cast) {
      const auto pair = pairs_.find({a, b});
      if (pair == pairs_.end()) continue;
      for (const auto& [of, row] : pair->second.rows) {
        if (of == table) add(row);
      }
    }
  }
  return rows;
}

void World::add_member_facts(Member a, std::vector<SmtTerm>& out) {
  const Instance& instance = *pool_[a];
  out.insert(out.end(), instance.facts.begin(), instance.facts.end());
  out.push_back(instance.committed);
}

void World::add_pair_facts(Member a, Member b, std::vector<SmtTerm>& out) {
  const Pair& facts = pair(a, b);
  out.insert(out.end(), facts.constraints.begin(), facts.constraints.end());
  if (a > b) return;
  if (is_protected(a) && is_protected(b)) {
    out.push_back(!(depends(a, b) && depends(b, a)));
    out.push_back(!(surely_depends(a, b) && surely_depends(b, a)));
  }
  for (const auto& [column, value] : pool_[a]->fresh_values) {
    for (const auto& [other_column, other] : pool_[b]->fresh_values) {
      if (column == other_column) out.push_back(!equals(value, other));
    }
  }
}

// For the triple in this order: transitivity of ar, and phi_dep for a -rw-> b with c in between.
void World::add_triple_facts(Member a, Member b, Member c, std::vector<SmtTerm>& out) {
  auto& facts = triples_[{a, b, c}];
  if (facts.empty()) {
    facts.push_back(implies(ar(a, b) && ar(b, c), ar(a, c)));
    if (has_moments(c)) {
      for (const MomentId at : pool_[c]->moments.ids())
        facts.push_back(implies(ar(a, b) && sees(b, c, at), sees(a, c, at)));
    }
    for (const Option& option : pair(a, b).options[static_cast<std::size_t>(EdgeKind::Rw)]) {
      const SmtTerm overwrites = wrote(c, option.table, option.attribute, option.row);
      if (symbols_.smt().known_truth(overwrites) == false) continue;
      facts.push_back(implies(option.name && overwrites && sees(c, a, option.at), ar(c, b)));
    }
    if (is_protected(a) && is_protected(b) && is_protected(c)) {
      facts.push_back(!(depends(a, b) && depends(b, c) && depends(c, a)));
      facts.push_back(!(surely_depends(a, b) && surely_depends(b, c) && surely_depends(c, a)));
    }
  }
  out.insert(out.end(), facts.begin(), facts.end());
}

void World::add_row_facts(Cast cast, std::vector<SmtTerm>& out) {
  std::map<sql::TableId, std::vector<Row>> rows_of;
  for (const Member a : cast) {
    for (const RowFact& fact : pool_[a]->row_facts) {
      auto found = rows_of.find(fact.table);
      if (found == rows_of.end()) found = rows_of.emplace(fact.table, rows(cast, fact.table)).first;
      for (const Row& row : found->second) out.push_back(terms(a).holds(fact.holds, row));
    }
  }
}

// Rows that never change obey UNIQUE: no two of them agree on its columns.
void World::add_unique_rows(Cast cast, std::vector<SmtTerm>& out) {
  for (std::uint32_t t = 0; t < symbols_.app().tables.size(); ++t) {
    const sql::TableId table{t};
    for (const auto& unique : symbols_.app().tables[t].unique) {
      const bool is_static = std::ranges::all_of(unique, [&](sql::ColumnId column) {
        return symbols_.changes().is_static(table, column);
      });
      if (!is_static || !symbols_.changes().has_fixed_rows(table)) continue;
      const auto agree_on_all = [&](const Row& a, const Row& b) {
        std::vector<SmtTerm> agree = {symbols_.static_presence(table, a),
                                      symbols_.static_presence(table, b)};
        for (const sql::ColumnId column : unique) {
          const SymValue left = symbols_.static_value(table, column, a);
          const SymValue right = symbols_.static_value(table, column, b);
          agree.push_back(!left.null && !right.null && equals(left.number, right.number));
        }
        return symbols_.all(agree);
      };
      const std::vector<Row> named = rows(cast, table);
      for (std::size_t i = 0; i < named.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j)
          out.push_back(
              implies(agree_on_all(named[i], named[j]), symbols_.same_row(named[i], named[j])));
      }
    }
  }
}

std::vector<SmtTerm> World::constraints(Cast cast) {
  std::vector<SmtTerm> out;
  for (const Member a : cast) add_member_facts(a, out);
  for (const Member a : cast) {
    for (const Member b : cast) {
      if (a == b) continue;
      add_pair_facts(a, b, out);
      for (const Member c : cast) {
        if (c != a && c != b) add_triple_facts(a, b, c, out);
      }
    }
  }
  add_row_facts(cast, out);
  add_unique_rows(cast, out);
  add_references(cast, nullptr, true, out);
  return out;
}

// What a member reads is what the last writer that it sees wrote, or what was there initially.
void World::close_use(Cast cast, Member reader, const Instance::Use& use,
                      std::map<sql::TableId, SmtTerm>* empty, std::vector<SmtTerm>& out) {
  std::vector<Member> writers;
  std::vector<SmtTerm> is_seen;
  for (const Member w : cast) {
    if (w == reader) continue;
    const SmtTerm seen = sees(w, reader, use.at) && wrote(w, use.table, use.attribute, use.row);
    if (symbols_.smt().known_truth(seen) == false) continue;
    writers.push_back(w);
    is_seen.push_back(seen);
  }
  const SymValue read = pool_[reader]->seen(use.table, use.attribute, use.row, use.at);
  for (std::size_t i = 0; i < writers.size(); ++i) {
    std::vector<SmtTerm> is_last = {is_seen[i]};
    for (std::size_t j = 0; j < writers.size(); ++j) {
      if (j != i) is_last.push_back(implies(is_seen[j], ar(writers[j], writers[i])));
    }
    const SymValue value = written(writers[i], use.table, use.attribute, use.row);
    out.push_back(implies(symbols_.all(is_last), symbols_.same_value(read, value)));
  }
  SymValue initial = symbols_.null();
  if (!use.attribute.is_column()) {
    const SmtTerm present =
        use.attribute == kPresence
            ? symbols_.initial_presence(use.table, use.row)
            : symbols_.initial_entry(use.table, use.attribute.unique(), use.row);
    initial = symbols_.truth(present);
    if (empty != nullptr && symbols_.changes().has_inserts(use.table)) {
      auto known = empty->find(use.table);
      if (known == empty->end())
        known = empty->emplace(use.table, symbols_.fresh_truth("empty")).first;
      out.push_back(implies(known->second, !present));
    }
  } else {
    initial = symbols_.initial_value(use.table, use.attribute.column(), use.row);
  }
  out.push_back(implies(!symbols_.any(is_seen), symbols_.same_value(read, initial)));
}

std::vector<SmtTerm> World::closing(Cast cast, std::map<sql::TableId, SmtTerm>* empty) {
  std::vector<SmtTerm> out;
  std::map<Member, std::size_t> done;
  // What a member sees may depend on what another sees in the same row: go on to the fixpoint, at
  // which no member asks for anything new.
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (const Member a : cast) {
      while (done[a] < pool_[a]->uses().size()) {
        is_done = false;
        const Instance::Use use = pool_[a]->uses()[done[a]++];
        close_use(cast, a, use, empty, out);
      }
    }
  }
  add_initial_entries(cast, out);
  add_initial_checks(cast, out);
  add_references(cast, empty, false, out);
  if (rules_.keys_are_current) add_taken_keys(cast, out);
  return out;
}

// A call that takes a key finds it free: the last one that took it, seen or not, freed it.
void World::add_taken_keys(Cast cast, std::vector<SmtTerm>& out) {
  const auto leaves = [&](Member a, const Access& at, std::int64_t value) {
    return wrote(a, at.table, at.attribute, *at.row) &&
           equals(written(a, at.table, at.attribute, *at.row).number, symbols_.smt().number(value));
  };
  for (const Member b : cast) {
    for (const Access& take : pool_[b]->accesses) {
      const bool is_key = take.is_insert && take.attribute == kPresence;
      if (take.kind != AccessKind::Write || !take.row || !(is_key || take.attribute.is_entry()))
        continue;
      if (symbols_.smt().known_number(terms(b).written(take, *take.row).number) != 1) continue;
      // It may have given the key back itself, just before.
      std::vector<SmtTerm> own;
      for (const Access& write : pool_[b]->accesses) {
        if (write.kind == AccessKind::Write && write.table == take.table &&
            write.attribute == take.attribute && !write.is_insert && &write != &take)
          own.push_back(terms(b).happens(write, *take.row));
      }
      for (const Member a : cast) {
        if (a == b) continue;
        std::vector<SmtTerm> freed = own;
        for (const Member c : cast) {
          if (c != a && c != b) freed.push_back(ar(a, c) && ar(c, b) && leaves(c, take, 0));
        }
        out.push_back(implies(take.guard && leaves(a, take, 1) && ar(a, b), symbols_.any(freed)));
      }
    }
  }
}

// Rows that are there at the start meet the CHECKs of their tables, and have values of enums.
void World::add_initial_checks(Cast cast, std::vector<SmtTerm>& out) {
  for (std::uint32_t t = 0; t < symbols_.app().tables.size(); ++t) {
    const sql::TableId table{t};
    const sql::Table& declared = symbols_.app().tables[t];
    const bool has_enums = std::ranges::any_of(
        declared.columns, [](const sql::Column& column) { return column.width.labels != nullptr; });
    if (declared.checks.empty() && !has_enums) continue;
    // A CHECK is an expression like any other, in a transaction that does nothing.
    Instance no_call(symbols_, sql::FunctionId{}, "start", {});
    for (const Row& row : rows(cast, table)) {
      Source source{table, row};
      for (const sql::ColumnId c : declared.columns.ids())
        source.values.push_back(symbols_.value_at_start(table, c, row));
      const Frame frame{.sources = {source}};
      std::vector<SmtTerm> parts;
      for (const sql::Expr& check : declared.checks)
        parts.push_back(!AccessEvaluator(symbols_, no_call).truth(check, frame).no);
      for (const sql::ColumnId c : declared.columns.ids())
        parts.push_back(symbols_.is_label(declared.columns[c].width, source.values[c]));
      const SmtTerm meets_checks = symbols_.all(parts);
      out.push_back(implies(symbols_.present_at_start(table, row), meets_checks));
    }
  }
}

// Rows that are there at the start have their entries of UNIQUE constraints, each its own.
void World::add_initial_entries(Cast cast, std::vector<SmtTerm>& out) {
  for (std::uint32_t t = 0; t < symbols_.app().tables.size(); ++t) {
    const sql::TableId table{t};
    const sql::Table& declared = symbols_.app().tables[t];
    if (declared.unique.empty()) continue;
    const std::vector<Row> named = rows(cast, table);
    for (const sql::UniqueId u : declared.unique.ids()) {
      std::vector<std::pair<SmtTerm, Row>> entries;  // by row: whether it has one, and which
      for (const Row& row : named) {
        SmtTerm has = symbols_.present_at_start(table, row);
        Row entry;
        for (const sql::ColumnId column : declared.unique[u]) {
          const SymValue value = symbols_.value_at_start(table, column, row);
          has = has && !value.null;
          entry.push_back(value.number);
        }
        out.push_back(implies(has, symbols_.initial_entry(table, u, entry)));
        for (std::size_t other = 0; other < entries.size(); ++other) {
          out.push_back(implies(
              has && entries[other].first && symbols_.same_row(entry, entries[other].second),
              symbols_.same_row(row, named[other])));
        }
        entries.emplace_back(has, std::move(entry));
      }
    }
  }
}

SmtTerm World::has_target(const sql::ForeignKey& key, sql::TableId table, const Row& row,
                          bool is_static) {
  const sql::Table& target = symbols_.app().table(key.target);
  std::vector<SmtTerm> are_given;
  Row named;
  for (const sql::ColumnId wanted : target.primary_key) {
    const auto at = std::ranges::find(key.target_columns, wanted) - key.target_columns.begin();
    const sql::ColumnId column = key.columns[static_cast<std::size_t>(at)];
    const SymValue value = is_static ? symbols_.static_value(table, column, row)
                                     : symbols_.value_at_start(table, column, row);
    are_given.push_back(!value.null);
    named.push_back(value.number);
  }
  return implies(symbols_.all(are_given), is_static ? symbols_.static_presence(key.target, named)
                                                    : symbols_.present_at_start(key.target, named));
}

// Rows refer to rows that are there: at the start, and, where nothing of them changes, always.
void World::add_references(Cast cast, const std::map<sql::TableId, SmtTerm>* empty, bool is_static,
                           std::vector<SmtTerm>& out) {
  const sql::Changes& changes = symbols_.changes();
  for (std::uint32_t t = 0; t < symbols_.app().tables.size(); ++t) {
    const sql::TableId table{t};
    for (const sql::ForeignKey& key : symbols_.app().tables[t].foreign_keys) {
      const sql::Table& target = symbols_.app().table(key.target);
      const bool is_of_key = std::ranges::is_permutation(key.target_columns, target.primary_key);
      const bool may_be_empty = empty != nullptr && changes.has_inserts(key.target);
      const bool lasts = changes.has_fixed_rows(table) && changes.has_fixed_rows(key.target) &&
                         std::ranges::all_of(key.columns, [&](sql::ColumnId column) {
                           return changes.is_static(table, column);
                         });
      if (!is_of_key || !key.is_valid || may_be_empty || (is_static && !lasts)) continue;
      for (const Row& row : rows(cast, table)) {
        const SmtTerm is_there = is_static ? symbols_.static_presence(table, row)
                                           : symbols_.present_at_start(table, row);
        out.push_back(implies(is_there, has_target(key, table, row, is_static)));
      }
    }
  }
}

}  // namespace isoscope::audit
