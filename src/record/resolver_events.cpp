// What each transaction did, as its line in the file states it.
#include <algorithm>
#include <tuple>

#include "record/resolver.h"

namespace isoscope::record {

// The statement that wrote this: of those that changed the row, or else of all, the last one whose
// message is before it in the log. A statement without a message may have written it too.
std::size_t Resolver::writing_statement(const Work& work, const Accesses::Written& written) const {
  const auto& statements = work.out.txn.statements;
  const auto has_changed = [&](std::size_t i) {
    if (i >= work.changed.size() || !work.changed[i].contains(written.row) ||
        catalog_.find(work.shapes[i]->schema, work.shapes[i]->table) != written.table)
      return false;
    Execution run;
    find_window(work, i, run);
    return written.lsn >= run.from && written.lsn < run.to;
  };
  std::size_t found = statements.size() - 1;
  for (const bool is_certain : {true, false}) {
    bool is_found = false;
    bool is_exact = false;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (!writes_rows(statements[i].kind) || (is_certain && !has_changed(i))) continue;
      if (work.message(i) != nullptr && work.message(i)->lsn <= written.lsn) {
        found = i;
        is_exact = true;
      } else if (work.message(i) == nullptr || !is_exact) {
        found = i;
      }
      is_found = true;
    }
    if (is_found) break;
  }
  return found;
}

void Resolver::write(Work& work, std::vector<Accesses::Written> all) {
  work.out.events.resize(work.out.txn.statements.size());
  for (std::size_t i = 0; i < work.reads.size(); ++i)
    tell_reads(work, i, Access::Phase::Within, work.out.events[i]);
  if (!work.out.events.empty()) {
    for (Accesses::Written& written : all) {
      work.out.events[writing_statement(work, written)].push_back(
          {written.deletes   ? RunEvent::Kind::Delete
           : written.inserts ? RunEvent::Kind::Insert
                             : RunEvent::Kind::Write,
           std::move(written.key),
           {},
           std::move(written.value)});
    }
  }
  split(work);
}

void Resolver::tell_reads(const Work& work, std::size_t i, Access::Phase phase,
                          std::vector<RunEvent>& events) {
  // The same read comes more than once, from the search and from a constraint, say.
  constexpr std::size_t kFew = 16;
  const bool is_short = work.reads[i].size() <= kFew;
  std::set<std::tuple<RunEvent::Kind, std::string_view, std::uint64_t>> told;
  for (auto next = work.reads[i].begin(); next != work.reads[i].end(); ++next) {
    const Access& access = *next;
    if (access.phase != phase) continue;
    const auto is_same = [&](const Access& a) {
      return a.phase == phase && a.kind == access.kind && a.writer == access.writer &&
             a.key == access.key;
    };
    const bool is_told = is_short ? std::any_of(work.reads[i].begin(), next, is_same)
                                  : !told.emplace(access.kind, access.key, access.writer).second;
    if (is_told) continue;
    const bool is_read = access.kind == RunEvent::Kind::Read;
    events.push_back({access.kind,
                      access.key,
                      is_read ? name_of(access.writer) : std::string(),
                      {},
                      is_read && access.is_coarse});
  }
}

// Reads by another snapshot than the statement's become statements of their own.
void Resolver::split(Work& work) {
  const auto is_apart = [](const Access& access) { return access.phase != Access::Phase::Within; };
  if (std::ranges::none_of(work.reads, [&](const std::vector<Access>& reads) {
        return std::ranges::any_of(reads, is_apart);
      }))
    return;
  std::vector<RecordedStatement> statements;
  std::vector<std::vector<RunEvent>> events;
  std::vector<std::size_t> places;  // of the statements, from 1
  for (std::size_t i = 0; i < work.out.txn.statements.size(); ++i) {
    const auto add = [&](Access::Phase phase) {
      std::vector<RunEvent> told;
      if (i < work.reads.size()) tell_reads(work, i, phase, told);
      if (told.empty()) return;
      statements.push_back(work.out.txn.statements[i]);
      events.push_back(std::move(told));
    };
    add(Access::Phase::Before);
    statements.push_back(work.out.txn.statements[i]);
    events.push_back(std::move(work.out.events[i]));
    places.push_back(statements.size());
    add(Access::Phase::After);
  }
  // What COMMIT checks: deferred foreign keys.
  RecordedStatement commit{.kind = StatementKind::Commit, .sql = "COMMIT"};
  commit.sent = commit.start = commit.end = work.out.txn.end;
  std::vector<RunEvent> checked;
  for (std::size_t i = 0; i < work.reads.size(); ++i)
    tell_reads(work, i, Access::Phase::AtCommit, checked);
  if (!checked.empty()) {
    statements.push_back(std::move(commit));
    events.push_back(std::move(checked));
  }
  for (Gap& gap : work.out.txn.gaps) {
    if (gap.statement > 0 && gap.statement <= places.size())
      gap.statement = places[gap.statement - 1];
  }
  work.out.txn.statements = std::move(statements);
  work.out.events = std::move(events);
}

}  // namespace isoscope::record
