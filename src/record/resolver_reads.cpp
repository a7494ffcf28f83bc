// What statements read, and why that is not known of some.
#include <algorithm>
#include <charconv>
#include <limits>

#include "record/accesses_parts.h"
#include "record/resolver.h"
#include "record/words.h"

namespace isoscope::record {
namespace {

constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();

// ROLLBACK TO gives the locks of a statement back: no session waits for them afterwards. If the
// statement itself waited, it has read what its snapshot does not have and only its lock explains.
std::string forget_locks(std::vector<Access>& accesses) {
  const bool has_waited = std::ranges::any_of(
      accesses, [](const Access& access) { return access.phase == Access::Phase::Before; });
  if (has_waited) return "a row that it waited for, and gave back by ROLLBACK TO";
  std::erase_if(accesses, [](const Access& access) { return access.kind != RunEvent::Kind::Read; });
  return {};
}

// An error that tells the application nothing about rows: it conflicted, or was never run.
bool tells_nothing(const std::string& sqlstate) {
  for (const char* family : {"40", "42", "25", "26", "34", "57"}) {
    if (sqlstate.starts_with(family)) return true;
  }
  return false;
}

// Was the cursor that statement `i` declares read to its end by the same transaction? What it did
// not fetch was not read. Only FETCH [FORWARD] [n | ALL] is understood.
bool is_fetched(const RecordedTxn& txn, std::size_t i) {
  const std::string& declaration = txn.statements[i].sql;
  const std::vector<Word> declared = words_of(declaration);
  for (std::size_t j = i + 1; j < txn.statements.size() && declared.size() > 1; ++j) {
    const std::string& fetch = txn.statements[j].sql;
    const std::vector<Word> words = words_of(fetch);
    if (words.size() < 2 || words[0].text != "fetch" ||
        name_of(fetch, words.back()) != name_of(declaration, declared[1]))
      continue;
    std::size_t wanted = 1;
    bool is_all = false;
    bool is_plain = true;
    for (std::size_t w = 1; w + 1 < words.size(); ++w) {
      const std::string& word = words[w].text;
      const auto [stop, failure] = std::from_chars(word.data(), word.data() + word.size(), wanted);
      is_all |= word == "all";
      is_plain &= failure == std::errc() || is_all || word == "forward" || word == "next" ||
                  word == "from" || word == "in";
    }
    const std::size_t told = told_rows(txn.statements[j].tag);
    if (is_plain && told != kNone && (is_all || told < wanted)) return true;
  }
  return false;
}

// Does the statement put values into a key, or take some away, that others may write otherwise?
bool changes_loose_key(const Shape& shape, const Table& table) {
  if (table.loose.empty() || shape.kind != StatementKind::Update) return !table.loose.empty();
  return std::ranges::any_of(table.loose, [&](std::size_t column) {
    return shape.set_columns.contains(table.columns[column]);
  });
}

}  // namespace

bool Resolver::calls_unseen(const Implied& implied) const {
  const auto is_in = [](const std::set<std::string>& all) {
    return [&all](const std::string& name) { return all.contains(name); };
  };
  return catalog_.has_implicit_calls ||
         std::ranges::any_of(implied.operators, is_in(catalog_.user_operators)) ||
         std::ranges::any_of(implied.types, is_in(catalog_.user_casts));
}

// Why the statement cannot be understood, as far as that is known without looking at versions.
std::string Resolver::obstacle(const Work& work, std::size_t i, const Table*& table) const {
  const RecordedTxn& txn = work.out.txn;
  const RecordedStatement& statement = txn.statements[i];
  if (work.shapes[i] == nullptr) return "neither SELECT, INSERT, UPDATE nor DELETE";
  const Shape& shape = *work.shapes[i];
  if (!shape.gap.empty()) return shape.gap;
  for (const std::string& function : shape.functions) {
    // Of one that was made or dropped meanwhile the catalog does not tell.
    if (catalog_.user_functions.contains(function) || !catalog_.own_functions.contains(function) ||
        changed_functions_.contains(function))
      return "a function that may read or write inside";
  }
  if (calls_unseen(shape.implied)) return "an operator or a cast that may read or write inside";
  for (const std::string& name : shape.implied.catalog) {
    if (catalog_.has_table(name)) return "a table that is called like one of the server's";
  }
  if (!statement.error.empty() &&
      (statement.error != "23505" || shape.kind != StatementKind::Insert))
    return "it failed with " + statement.error;
  if (!shape.reads_tables) return {};
  for (const std::string& function : shape.condition_functions) {
    if (catalog_.unstable_functions.contains(function))
      return "a condition that depends on more than the row";
  }
  for (std::size_t j = i + 1; shape.is_cursor && j < work.shapes.size(); ++j) {
    if (writes_rows(txn.statements[j].kind)) return "a cursor beside writes of its transaction";
  }
  if (shape.is_cursor && !is_fetched(txn, i))
    return "a cursor that its transaction did not fetch to its end";
  if (statement.tag == kSuspended && shape.is_query)
    return "a portal that stopped at its row limit";
  if (work.message(i) == nullptr && shape.is_query) return "its snapshot is not in the log";
  if (shape.is_query) {
    for (const Block& block : shape.blocks) {
      for (const BlockTable& mentioned : block.tables) {
        const Table* one = nullptr;
        if (auto why = unreadable(work, i, mentioned.schema, mentioned.name, one); !why.empty())
          return why;
      }
    }
    return {};
  }
  if (auto why = unreadable(work, i, shape.schema, shape.table, table); !why.empty()) return why;
  if (writes_rows(shape.kind) && !table->no_writes.empty()) return table->no_writes;
  if (writes_rows(shape.kind) && changes_loose_key(shape, *table))
    return "a key whose equal values may be printed in several ways (1.0 and 1.00)";
  if (work.message(i) == nullptr && shape.kind != StatementKind::Insert)
    return "its snapshot is not in the log";
  if (writes_rows(shape.kind) && txn.status == TxnStatus::Committed && work.own == 0 &&
      !statement.tag.ends_with(" 0"))
    return "its changes cannot be distinguished from those of others";
  return {};
}

// Why what the statement read of this table cannot be computed.
std::string Resolver::unreadable(const Work& work, std::size_t i, const std::string& schema,
                                 const std::string& name, const Table*& table) const {
  table = catalog_.find(schema, name);
  if (table == nullptr) return "a table that is not there, or that two schemas have";
  if (!table->no_reads.empty()) return table->no_reads;
  if (altered_.contains(table)) return "a table that other statements may have changed";
  const TableVersions* versions = versions_.of(*table);
  if (versions == nullptr || !versions->trouble.empty())
    return versions == nullptr ? "a table without versions" : versions->trouble;
  const auto lost = lost_rows(work, i, *table);
  return !lost || (work.shapes[i]->is_query && !lost->empty())
             ? "rows of its own that were rolled back later"
             : std::string();
}

// The rows of the table that the transaction had written when the statement ran, and of which the
// log has nothing, since that was rolled back later; nothing if they are not known.
std::optional<std::set<std::string>> Resolver::lost_rows(const Work& work, std::size_t i,
                                                         const Table& table) const {
  const auto& statements = work.out.txn.statements;
  std::set<std::string> lost;
  for (std::size_t j = 0; j < i; ++j) {
    if (is_harmless(statements[j].kind) || !statements[j].error.empty()) continue;
    const bool is_undone = work.undone[j] < i;
    const bool is_logged =
        work.out.txn.status == TxnStatus::Committed && work.undone[j] == statements.size();
    if (is_undone || is_logged) continue;
    if (work.shapes[j] == nullptr || !work.shapes[j]->gap.empty()) return std::nullopt;
    if (!writes_rows(work.shapes[j]->kind)) continue;
    const Table* other = catalog_.find(work.shapes[j]->schema, work.shapes[j]->table);
    if (other != nullptr && other != &table) continue;
    if (other == nullptr || !work.knows_changed[j]) return std::nullopt;
    lost.insert(work.changed[j].begin(), work.changed[j].end());
  }
  return lost;
}

// Was the version certainly written after the statement had ended? All statements of its writer
// were sent when that end was known.
bool Resolver::is_later(const RecordedStatement& ended, const Version& version) const {
  const Logged* writer = version.xid == kInitialXid ? nullptr : logged(version.xid);
  return writer != nullptr && writer->number != 0 && writer->first_sent > ended.end;
}

// A later snapshot of the transaction, while it holds all locks that statement `i` took.
const GateMessage* Resolver::next_snapshot(const Work& work, std::size_t i) {
  if (!work.out.txn.isolation.is_read_committed()) return nullptr;
  for (std::size_t j = i + 1; j < work.messages.size() && j < work.undone[i]; ++j) {
    if (work.message(j) != nullptr && !(work.shapes[j] && work.shapes[j]->is_cursor))
      return work.message(j);
  }
  return nullptr;
}

// Changes of this statement lie between its message and the next one of its transaction.
void Resolver::find_window(const Work& work, std::size_t i, Execution& run) const {
  run.from = 0;
  run.to = kEnd;
  if (work.message(i) != nullptr) run.from = work.message(i)->lsn;
  const auto tells = [&](std::size_t j) {
    return work.message(j) != nullptr && !(work.shapes[j] && work.shapes[j]->is_cursor);
  };
  for (std::size_t j = i; work.message(i) == nullptr && j-- > 0;) {
    if (!tells(j)) continue;
    run.from = work.message(j)->lsn;
    break;
  }
  for (std::size_t j = i + 1; j < work.messages.size(); ++j) {
    if (!tells(j)) continue;
    run.to = work.message(j)->lsn;
    break;
  }
}

// The columns that its statements set.
std::vector<Versions::Assigned> Resolver::assigned_by(const Work& work) const {
  std::vector<Versions::Assigned> all;
  const auto& statements = work.out.txn.statements;
  for (std::size_t i = 0; work.out.commit != 0 && i < statements.size(); ++i) {
    if (work.shapes[i] == nullptr || work.shapes[i]->set_columns.empty() ||
        work.undone[i] != statements.size())
      continue;
    const Table* table = catalog_.find(work.shapes[i]->schema, work.shapes[i]->table);
    if (table == nullptr) continue;
    Execution run;
    find_window(work, i, run);
    std::set<std::string> columns = work.shapes[i]->set_columns;
    for (const std::size_t column : table->generated) columns.insert(table->columns[column]);
    all.push_back({work.own, work.out.commit, table, run.from, run.to, std::move(columns)});
  }
  return all;
}

void Resolver::read(Work& work) {
  RecordedTxn& txn = work.out.txn;
  work.reads.resize(txn.statements.size());
  work.changed.resize(txn.statements.size());
  work.knows_changed.resize(txn.statements.size());
  for (std::size_t i = 0; i < txn.statements.size(); ++i) {
    const RecordedStatement& statement = txn.statements[i];
    if (is_harmless(statement.kind)) continue;
    if (!statement.error.empty() && tells_nothing(statement.error)) continue;
    if (std::ranges::any_of(txn.gaps, [i](const Gap& gap) { return gap.statement == i + 1; }))
      continue;
    const Table* table = nullptr;
    std::string why = obstacle(work, i, table);
    const bool is_query =
        work.shapes[i] != nullptr && work.shapes[i]->is_query && work.shapes[i]->reads_tables;
    if (why.empty() && (table != nullptr || is_query)) {
      Execution run{.statement = &statement,
                    .shape = work.shapes[i].get(),
                    .table = table == nullptr ? nullptr : versions_.of(*table),
                    .message = work.message(i),
                    .own = work.own,
                    .own_place = work.out.commit,
                    .level = txn.isolation.level,
                    .is_committed = txn.status == TxnStatus::Committed &&
                                    work.undone[i] == txn.statements.size(),
                    .next = next_snapshot(work, i),
                    .is_later = [&](const Version& v) { return is_later(statement, v); }};
      find_window(work, i, run);
      std::optional<std::set<std::string>> lost;
      if (table != nullptr) lost = lost_rows(work, i, *table);
      if (lost && !lost->empty()) run.lost = &*lost;
      why = accesses_.read(run, work.reads[i], work.changed[i]);
      if (why.empty() && work.undone[i] != txn.statements.size()) why = forget_locks(work.reads[i]);
      work.knows_changed[i] = why.empty();
      if (!why.empty()) work.reads[i].clear();
    }
    if (!why.empty()) txn.gaps.push_back({i + 1, why});
  }
}

}  // namespace isoscope::record
