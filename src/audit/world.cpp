#include "audit/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace isoscope::audit {

World::World(Symbols& symbols, Scope scope, WorldRules rules)
    : symbols_(symbols), scope_(scope), rules_(std::move(rules)) {}

Member World::member(sql::FunctionId function, std::size_t n) {
  const auto found = members_.find({function, n});
  if (found != members_.end()) return found->second;
  const std::string name = fmt::format("{}#{}", symbols_.app().function(function).name, n + 1);
  const bool is_open = scope_ == Scope::Open;
  // In a closed world a call that finds its key taken in its view is no run that we look for.
  const InstanceRules rules{.loops = is_open ? Loops::AnyTwo : Loops::AtMostTwo,
                            .keys_are_unknown = is_open && rules_.keys_are_current,
                            .per_statement = rules_.takes_many_snapshots(function)};
  pool_.push_back(make_instance(symbols_, function, name, rules));
  const Member member{static_cast<std::uint32_t>(pool_.size() - 1)};
  members_.emplace(std::pair(function, n), member);
  return member;
}

SmtTerm World::ar(Member a, Member b) {
  if (a > b) return !ar(b, a);
  auto found = ar_.find({a, b});
  if (found == ar_.end())
    found =
        ar_.emplace(PairKey{a, b}, symbols_.fresh_truth(fmt::format("ar.{}.{}", a.index, b.index)))
            .first;
  return found->second;
}

SmtTerm World::vis(Member a, Member b) {
  if (has_moments(b)) return ar(a, b);
  auto found = vis_.find({a, b});
  if (found == vis_.end())
    found = vis_.emplace(PairKey{a, b},
                         symbols_.fresh_truth(fmt::format("vis.{}.{}", a.index, b.index)))
                .first;
  return found->second;
}

SmtTerm World::sees(Member a, Member b, MomentId at) {
  if (!has_moments(b)) return vis(a, b);
  if (at == kCurrent) return ar(a, b);
  auto found = sees_.find({a, b, at});
  if (found == sees_.end())
    found =
        sees_
            .emplace(std::tuple(a, b, at),
                     symbols_.fresh_truth(fmt::format("sees.{}.{}.{}", a.index, b.index, at.index)))
            .first;
  return found->second;
}

SmtTerm World::always_sees(Member a, Member b) {
  const bool has_first = has_moments(b) && !pool_[b]->moments.empty();
  return has_first ? sees(a, b, MomentId{0}) : vis(a, b);  // later snapshots contain the first
}

SmtTerm World::wrote(Member a, sql::TableId table, Attribute attribute, const Row& row) {
  std::vector<SmtTerm> parts;
  for (const Access& access : pool_[a]->accesses) {
    if (access.kind == AccessKind::Write && access.table == table && access.attribute == attribute)
      parts.push_back(terms(a).happens(access, row));
  }
  if (!attribute.is_entry() || parts.empty()) return symbols_.any(parts);
  // An entry that is left as it was found is not written.
  return symbols_.any(parts) &&
         !symbols_.same_value(
             written(a, table, attribute, row),
             pool_[a]->seen(table, attribute, row, has_moments(a) ? kCurrent : MomentId{0}));
}

SymValue World::written(Member a, sql::TableId table, Attribute attribute, const Row& row) {
  std::optional<SymValue> value;
  for (const Access& access : pool_[a]->accesses) {
    if (access.kind != AccessKind::Write || access.table != table || access.attribute != attribute)
      continue;
    value = value ? symbols_.choose_value(terms(a).happens(access, row),
                                          terms(a).written(access, row), *value)
                  : terms(a).written(access, row);
  }
  return value.value_or(symbols_.null());
}

// The row that both accesses are about: the one that either names, else some row.
Row World::common_row(const Access& x, const Access& y, Pair& pair) {
  if (x.row) return *x.row;
  if (y.row) return *y.row;
  Row row;
  const std::size_t size = x.attribute.is_entry()
                               ? symbols_.app().table(x.table).unique[x.attribute.unique()].size()
                               : symbols_.app().table(x.table).primary_key.size();
  for (std::size_t i = 0; i < size; ++i) row.push_back(symbols_.fresh_number("common"));
  if (!x.attribute.is_entry()) pair.rows.emplace_back(x.table, row);
  return row;
}

SmtTerm World::changes_what_is_read(Member reader, Member writer, const Option& option) {
  const SymValue read = pool_[reader]->seen(option.table, option.attribute, option.row, option.at);
  if (scope_ == Scope::Closed) {
    const SymValue now = written(writer, option.table, option.attribute, option.row);
    return !symbols_.same_value(read, now);
  }
  if (option.attribute.is_column()) return symbols_.yes();
  // The value that the writer leaves is known if all its writes leave the same.
  std::optional<std::int64_t> leaves;
  for (const Access& access : pool_[writer]->accesses) {
    if (access.kind != AccessKind::Write || access.table != option.table ||
        access.attribute != option.attribute)
      continue;
    const auto value =
        symbols_.smt().known_number(terms(writer).written(access, option.row).number);
    if (!value || (leaves && *leaves != *value)) return symbols_.yes();
    leaves = value;
  }
  return !equals(read.number, symbols_.smt().number(leaves.value_or(1)));
}

// The scan would find the row that this member writes, if it is one that inserts it.
SmtTerm World::would_match(Member reader, const Access& scan, Member writer, const Row& row) {
  ColumnValues values;
  for (const sql::ColumnId c : symbols_.app().table(scan.table).columns.ids()) {
    const auto number = symbols_.key_value(scan.table, c, row);
    values.push_back(number ? *number : written(writer, scan.table, Attribute(c), row));
  }
  return terms(reader).would_match(scan, row, std::move(values));
}

// A dependency that cannot make a difference, see the header.
SmtTerm World::matters(const Access& x, const Access& y, EdgeKind kind, Member a, Member b,
                       const Row& row) {
  if (kind == EdgeKind::Rw && x.would_match && y.attribute == kPresence &&
      symbols_.smt().known_number(terms(b).written(y, row).number) == 1)
    return would_match(a, x, b, row);
  // That a row was seen which did not match may matter where rows are deleted and inserted again;
  // elsewhere a run that shows something does without.
  if (kind == EdgeKind::Wr && scope_ == Scope::Closed && y.would_match &&
      !symbols_.changes().has_deletes(x.table))
    return would_match(b, y, a, row);
  return symbols_.yes();
}

void World::add_options(Pair& pair, Member a, Member b, EdgeKind kind) {
  const AccessKind from = kind == EdgeKind::Rw ? AccessKind::Read : AccessKind::Write;
  const AccessKind to = kind == EdgeKind::Wr ? AccessKind::Read : AccessKind::Write;
  const bool by_row = kind == EdgeKind::Ww && rules_.conflicts == Conflicts::Rows;
  for (const Access& x : pool_[a]->accesses) {
    if (x.kind != from) continue;
    for (const Access& y : pool_[b]->accesses) {
      if (y.kind != to || y.table != x.table) continue;
      const bool is_row_part = !x.attribute.is_entry() && !y.attribute.is_entry();
      if (x.attribute != y.attribute && !(by_row && is_row_part)) continue;
      Option option{x.table, x.attribute, common_row(x, y, pair), {}, {}};
      option.at = kind == EdgeKind::Wr ? y.at : x.at;
      SmtTerm condition = terms(a).happens(x, option.row) && terms(b).happens(y, option.row);
      switch (kind) {
        case EdgeKind::Wr: condition = condition && sees(a, b, y.at); break;
        case EdgeKind::Ww: condition = condition && ar(a, b); break;
        case EdgeKind::Rw:
          condition = condition && !sees(b, a, x.at) && changes_what_is_read(a, b, option);
          break;
      }
      condition = condition && matters(x, y, kind, a, b, option.row);
      if (symbols_.smt().known_truth(condition) == false) continue;
      option.condition = condition;
      option.name = symbols_.fresh_truth("edge");
      pair.constraints.push_back(implies(option.name, condition));
      auto& options = pair.options[static_cast<std::size_t>(kind)];
      const bool is_known = std::ranges::any_of(
          options, [&](const Option& other) { return other.condition.index == condition.index; });
      if (!is_known) options.push_back(std::move(option));
    }
  }
}

void World::add_locks(Pair& pair, Member a, Member b) {
  for (const Access& held : pool_[b]->accesses) {
    if (held.kind != AccessKind::Lock) continue;
    for (const Access& write : pool_[a]->accesses) {
      if (write.kind != AccessKind::Write || write.table != held.table ||
          write.attribute.is_entry())
        continue;
      if (held.lock == sql::Lock::KeyShare && (write.attribute != kPresence || write.is_insert))
        continue;
      for (const Row& row : meeting_rows(write, held, a, b)) {
        pair.constraints.push_back(implies(
            terms(a).happens(write, row) && terms(b).happens(held, row) && ar(a, b), vis(a, b)));
      }
    }
  }
}

std::vector<Row> World::meeting_rows(const Access& x, const Access& y, Member a, Member b) {
  if (x.row) return {*x.row};
  if (y.row) return {*y.row};
  const Member both[] = {a, b};
  return rows(both, x.table);
}

// The snapshots of b, as far as a is concerned.
void World::add_moments(Pair& pair, Member a, Member b) {
  if (!has_moments(b)) return;
  const auto& moments = pool_[b]->moments;
  const auto after = [](MomentId at) { return MomentId{at.index + 1}; };
  for (const MomentId at : moments.ids()) {
    pair.constraints.push_back(implies(sees(a, b, at), ar(a, b)));
    if (moments.contains(after(at)))
      pair.constraints.push_back(implies(sees(a, b, at), sees(a, b, after(at))));
  }
  // Who waits for a row sees whom it waited for from its next statement on. An INSERT waits for
  // whoever has its key, and a row can be had by others only when its INSERT is committed.
  const auto has_row = [](const Access& access) {
    return excludes_writers(access) || (access.is_insert && !access.attribute.is_entry());
  };
  for (const Access& held : pool_[b]->accesses) {
    if (!has_row(held) || !moments.contains(after(held.step))) continue;
    for (const Access& other : pool_[a]->accesses) {
      if (other.table != held.table || !has_row(other)) continue;
      const auto is_shared = [](const Access& access) {
        return access.kind == AccessKind::Lock && access.lock == sql::Lock::Share;
      };
      if (is_shared(held) && is_shared(other)) continue;
      for (const Row& row : meeting_rows(other, held, a, b)) {
        pair.constraints.push_back(
            implies(terms(a).happens(other, row) && terms(b).happens(held, row) && ar(a, b),
                    sees(a, b, after(held.step))));
      }
    }
  }
}

// Where nothing is ever deleted, who sees an INSERT finds the row, and the entry of a UNIQUE
// constraint that it took.
void World::add_lasting_rows(Pair& pair, Member a, Member b) {
  const sql::Changes& changes = symbols_.changes();
  for (const Access& read : pool_[b]->accesses) {
    if (read.kind != AccessKind::Read || !read.row || read.attribute.is_column()) continue;
    const bool is_entry = read.attribute.is_entry();
    const bool is_freed =
        is_entry ? changes.frees_entries(
                       read.table, symbols_.app().table(read.table).unique[read.attribute.unique()])
                 : changes.frees_keys(read.table);
    if (is_freed) continue;
    for (const Access& write : pool_[a]->accesses) {
      if (write.kind != AccessKind::Write || write.table != read.table ||
          write.attribute != read.attribute)
        continue;
      if (is_entry ? symbols_.smt().known_number(terms(a).written(write, *read.row).number) != 1
                   : !write.is_insert)
        continue;
      const SmtTerm is_there =
          is_entry ? pool_[b]->taken(read.table, read.attribute.unique(), *read.row, read.at)
                   : pool_[b]->presence(read.table, *read.row, read.at);
      pair.constraints.push_back(
          implies(terms(a).happens(write, *read.row) && sees(a, b, read.at), is_there));
    }
  }
}

// Where nothing is ever deleted, a row is inserted once: who finds it sees the call that did.
void World::add_only_inserter(Pair& pair, Member a, Member b) {
  for (const Access& insert : pool_[a]->accesses) {
    if (insert.kind != AccessKind::Write || !insert.is_insert || insert.attribute != kPresence ||
        !insert.row || symbols_.changes().frees_keys(insert.table))
      continue;
    std::set<MomentId> looked;
    for (const Access& read : pool_[b]->accesses) {
      if (read.kind == AccessKind::Read && read.table == insert.table) looked.insert(read.at);
    }
    for (const MomentId at : looked) {
      pair.constraints.push_back(implies(terms(a).happens(insert, *insert.row) &&
                                             pool_[b]->presence(insert.table, *insert.row, at),
                                         sees(a, b, at)));
    }
  }
}

void World::add_references(Pair& pair, Member a, Member b) {
  const auto leaves = [&](Member of, const Access& write, const Row& row) {
    return symbols_.smt().known_number(terms(of).written(write, row).number);
  };
  for (const Access& insert : pool_[a]->accesses) {
    if (insert.kind != AccessKind::Write || insert.attribute != kPresence || !insert.row) continue;
    if (leaves(a, insert, *insert.row) != 1) continue;
    const sql::Table& child = symbols_.app().table(insert.table);
    for (const sql::ForeignKey& key : child.foreign_keys) {
      if (key.target_columns != symbols_.app().table(key.target).primary_key) continue;
      Row parent;
      std::vector<SmtTerm> known;
      for (const sql::ColumnId column : key.columns) {
        const auto number = symbols_.key_value(insert.table, column, *insert.row);
        const SymValue value =
            number ? *number : written(a, insert.table, Attribute(column), *insert.row);
        parent.push_back(value.number);
        known.push_back(!value.null);
      }
      for (const Access& remove : pool_[b]->accesses) {
        if (remove.kind != AccessKind::Write || remove.table != key.target ||
            remove.attribute != kPresence || leaves(b, remove, parent) != 0)
          continue;
        // Rows that the inserter takes back, or the deleter puts back, are none.
        const SmtTerm stays = equals(written(a, insert.table, kPresence, *insert.row).number,
                                     symbols_.smt().number(1));
        const SmtTerm is_gone =
            equals(written(b, key.target, kPresence, parent).number, symbols_.smt().number(0));
        pair.constraints.push_back(implies(insert.guard && stays && symbols_.all(known) &&
                                               terms(b).happens(remove, parent) && is_gone &&
                                               ar(a, b),
                                           vis(a, b)));
      }
    }
  }
}

bool World::is_serial(sql::FunctionId f, sql::FunctionId g) const {
  return std::ranges::any_of(rules_.serial, [&](const auto& pair) {
    return pair == std::pair(f, g) || pair == std::pair(g, f);
  });
}

World::Pair& World::pair(Member a, Member b) {
  const auto found = pairs_.find({a, b});
  if (found != pairs_.end()) return found->second;
  Pair& pair = pairs_[{a, b}];
  for (const EdgeKind kind : kEdgeKinds) add_options(pair, a, b, kind);
  pair.constraints.push_back(implies(vis(a, b), ar(a, b)));
  if (is_serial(function(a), function(b)))
    pair.constraints.push_back(implies(ar(a, b), always_sees(a, b)));
  add_moments(pair, a, b);
  if (has_moments(b)) add_lasting_rows(pair, a, b);
  // In a closed world it follows from what members see.
  if (rules_.keys_are_current && scope_ == Scope::Open) add_only_inserter(pair, a, b);
  if (!has_moments(b)) {
    add_locks(pair, a, b);
    add_references(pair, a, b);
  }
  // Who reads before the writer comes, in ar, reads something older. On a server so does whoever
  // does not see the writer, as snapshots are beginnings of ar; but for keys that INSERT looks for.
  std::vector<SmtTerm> sure;
  for (const EdgeKind kind : kEdgeKinds) {
    for (const Option& option : pair.options[static_cast<std::size_t>(kind)]) {
      const bool reads_snapshot =
          has_moments(a) || (rules_.keys_are_current && option.attribute.is_column());
      sure.push_back(kind == EdgeKind::Rw && !reads_snapshot ? option.condition && ar(a, b)
                                                             : option.condition);
    }
  }
  pair.surely = symbols_.any(sure);
  return pair;
}

SmtTerm World::depends(Member a, Member b, EdgeKind kind) {
  std::vector<SmtTerm> parts;
  for (const Option& option : pair(a, b).options[static_cast<std::size_t>(kind)])
    parts.push_back(option.name);
  return symbols_.any(parts);
}

SmtTerm World::depends(Member a, Member b) {
  std::vector<SmtTerm> parts;
  for (const EdgeKind kind : kEdgeKinds) parts.push_back(depends(a, b, kind));
  return symbols_.any(parts);
}

SmtTerm World::surely_depends(Member a, Member b) { return pair(a, b).surely; }

bool World::may_be_freed(const Access& x, const Access& y) const {
  if (!rules_.keys_are_current) return false;
  const sql::Changes& changes = symbols_.changes();
  if (x.attribute.is_entry())
    return changes.frees_entries(x.table,
                                 symbols_.app().table(x.table).unique[x.attribute.unique()]);
  return (x.is_insert || y.is_insert) && changes.frees_keys(x.table);
}

SmtTerm World::conflict(Member a, Member b) {
  if (a > b) return conflict(b, a);
  const auto found = conflict_.find({a, b});
  if (found != conflict_.end()) return found->second;
  std::vector<SmtTerm> parts;
  const Member both[] = {a, b};
  for (const Access& x : pool_[a]->accesses) {
    if (x.kind != AccessKind::Write) continue;
    for (const Access& y : pool_[b]->accesses) {
      if (y.kind != AccessKind::Write || y.table != x.table) continue;
      const bool is_row_part = !x.attribute.is_entry() && !y.attribute.is_entry();
      if (x.attribute != y.attribute && !(rules_.conflicts == Conflicts::Rows && is_row_part))
        continue;
      if (may_be_freed(x, y)) continue;
      std::vector<Row> rows;
      if (x.row || y.row) {
        rows.push_back(x.row ? *x.row : *y.row);
      } else if (is_row_part) {  // which entries many rows change is not known
        rows = this->rows(both, x.table);
      }
      for (const Row& row : rows) {
        SmtTerm meet = terms(a).happens(x, row) && terms(b).happens(y, row);
        if (!is_row_part)
          meet = meet && wrote(a, x.table, x.attribute, row) && wrote(b, x.table, x.attribute, row);
        parts.push_back(meet);
      }
    }
  }
  return conflict_.emplace(PairKey{a, b}, symbols_.any(parts)).first->second;
}

SmtTerm World::writes_anything(Member a) {
  std::vector<SmtTerm> parts;
  for (const Access& access : pool_[a]->accesses) {
    if (access.kind != AccessKind::Write) continue;
    parts.push_back(access.row ? access.guard : symbols_.no());
    if (access.row || access.attribute.is_entry()) continue;
    const Member self[] = {a};
    for (const Row& row : rows(self, access.table)) parts.push_back(terms(a).happens(access, row));
  }
  return symbols_.any(parts);
}

SmtTerm World::reads_anything(Member a) {
  std::vector<SmtTerm> parts;
  for (const Access& access : pool_[a]->accesses) {
    if (access.kind == AccessKind::Read) parts.push_back(access.guard);
  }
  return symbols_.any(parts);
}

}  // namespace isoscope::audit
