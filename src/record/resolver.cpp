#include "record/resolver.h"

#include <fmt/format.h>

#include <algorithm>

#include "record/words.h"

namespace isoscope::record {

Resolver::Resolver(std::vector<std::pair<std::string, RecordedTxn>> txns, const Catalog& catalog,
                   Versions& versions, const DecodedLog& log, Matches& matches, Gatekeeper& gates,
                   bool is_cut)
    : catalog_(catalog),
      versions_(versions),
      log_(log),
      gates_(gates),
      is_cut_(is_cut),
      accesses_(catalog, versions, matches) {
  works_.reserve(txns.size());
  for (std::pair<std::string, RecordedTxn>& each : txns) {
    Work work;
    work.out = {std::move(each.first),
                fmt::format("T{}", works_.size() + 1),
                std::move(each.second),
                {},
                0};
    work.shapes.resize(work.out.txn.statements.size());
    work.messages.resize(work.out.txn.statements.size());
    works_.push_back(std::move(work));
  }
}

void Resolver::run(const ResolvedSink& sink) {
  find_shapes();
  find_altered();
  pair_messages();
  find_ids();
  match_the_rest();
  for (Work& work : works_) names_[work.own] = work.out.id;
  names_[kInitialXid] = "T0";
  add_strangers();
  for (const Work& work : works_) {
    if (work.own != 0) by_id_[work.own] = &work;
  }
  for (Work& work : works_) find_assigned(work);
  for (Work& work : works_) read(work);
  // What a transaction wrote includes answers to questions that later ones asked: only now is all
  // of it known. From here on nothing is kept of a transaction that was handed on.
  sink.start(accesses_.initial_values());
  auto writes = accesses_.writes();
  for (Work& work : works_) {
    std::vector<Accesses::Written> written;
    if (const auto own = writes.find(work.own); work.own != 0 && own != writes.end()) {
      written = std::move(own->second);
      writes.erase(own);
    }
    write(work, std::move(written));
    sink.txn(std::move(work.out));
    work = Work();
  }
}

void Resolver::find_shapes() {
  for (Work& work : works_) {
    for (std::size_t i = 0; i < work.shapes.size(); ++i) {
      const RecordedStatement& statement = work.out.txn.statements[i];
      if (!has_shape(statement.kind)) continue;
      work.shapes[i] = statement.shape;
      // The blocks of a query hold the constants of the text that they were read from.
      if (statement.shape == nullptr ||
          (statement.shape->is_query && !statement.shape->literals.empty()))
        work.shapes[i] = gates_.exact_shape(statement.sql, statement.kind);
    }
  }
}

// Tables that were dropped, made anew or altered, perhaps: what is known of their rows may be
// that of another table. Any statement that we do not understand and that has the name counts.
void Resolver::find_altered() {
  for (const Work& work : works_) {
    for (std::size_t i = 0; i < work.shapes.size(); ++i) {
      const RecordedStatement& statement = work.out.txn.statements[i];
      const bool is_other = statement.kind == StatementKind::Other;
      if ((!is_other && statement.kind != StatementKind::Setting) || !statement.error.empty())
        continue;
      const std::string text = in_small_letters(statement.sql);
      // It turns off foreign keys, and triggers with them.
      const bool is_replica = text.find("session_replication_role") != std::string::npos;
      const bool drops_all = is_other && text.find("schema") != std::string::npos;
      for (const auto& [name, table] : catalog_.tables) {
        const bool has_keys = !table.foreign_keys.empty() || !table.children.empty();
        const bool is_named =
            is_other && text.find(in_small_letters(table.name)) != std::string::npos;
        if (is_named ||
            (drops_all && text.find(in_small_letters(table.schema)) != std::string::npos) ||
            (is_replica && has_keys))
          altered_.insert(&table);
      }
    }
  }
}

// Messages and executions of one gate are in the same order. Where their numbers differ, those of
// statements that failed may be missing; beyond that it is not known which belong together.
void Resolver::pair_messages() {
  std::map<std::uint64_t, std::vector<const GateMessage*>> messages;
  for (const GateMessage& message : log_.messages) messages[message.gate].push_back(&message);
  struct Place {
    Work* work;
    std::size_t statement;
  };
  std::map<std::uint64_t, std::vector<Place>> executions;
  for (Work& work : works_) {
    for (std::size_t i = 0; i < work.messages.size(); ++i) {
      const std::uint64_t gate = work.out.txn.statements[i].gate;
      if (gate != 0) executions[gate].push_back({&work, i});
    }
  }
  for (auto& [gate, places] : executions) {
    std::vector<const GateMessage*>& sent = messages[gate];
    const auto failed = [](const Place& place) {
      return !place.work->out.txn.statements[place.statement].error.empty();
    };
    // A row that was waited for may run the gate again, with the same snapshot.
    if (places.size() == 1 && sent.size() > 1) sent.erase(sent.begin() + 1, sent.end());
    if (is_cut_ && !std::ranges::any_of(places, failed)) leave_out_unended(sent, places.size());
    if (sent.size() != places.size()) std::erase_if(places, failed);
    if (sent.size() != places.size()) continue;
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i].work->messages[places[i].statement] = sent[i];
  }
}

// The last messages of a log that was cut are of transactions that had not ended. Two equal ones
// may be of one statement, so that it is not known which are the last.
void Resolver::leave_out_unended(std::vector<const GateMessage*>& sent, std::size_t ended) {
  const auto is_same = [](const GateMessage* a, const GateMessage* b) {
    return a->snapshot == b->snapshot && a->xid == b->xid && a->isolation == b->isolation;
  };
  if (sent.size() > ended && std::ranges::adjacent_find(sent, is_same) == sent.end())
    sent.resize(ended);
}

void Resolver::find_ids() {
  for (Work& work : works_) {
    RecordedTxn& txn = work.out.txn;
    for (const GateMessage* message : work.messages) {
      if (message == nullptr) continue;
      if (!message->isolation.empty()) txn.isolation = message->isolation;
      if (message->xid != 0) work.own = message->xid;
    }
    claim(work);
  }
}

// The log knows whether a transaction committed whose end was not seen.
void Resolver::claim(Work& work) {
  if (work.own == 0) return;
  claimed_.insert(work.own);
  work.out.commit = versions_.commit_place(work.own);
  if (work.out.txn.status == TxnStatus::Unknown && work.out.commit != 0)
    work.out.txn.status = TxnStatus::Committed;
}

// The tables that a transaction wrote.
std::string Resolver::signature(const std::set<std::string>& tables) {
  std::string out;
  for (const std::string& table : tables) out += table + " ";
  return out;
}

void Resolver::match_the_rest() {
  std::map<std::string, std::vector<Work*>> recorded;
  for (Work& work : works_) {
    if (work.own != 0 || work.out.txn.status != TxnStatus::Committed) continue;
    std::set<std::string> tables;
    for (std::size_t i = 0; i < work.shapes.size(); ++i) {
      if (work.shapes[i] == nullptr || !writes_rows(work.shapes[i]->kind)) continue;
      const Table* table = catalog_.find(work.shapes[i]->schema, work.shapes[i]->table);
      if (table != nullptr) tables.insert(table->full_name());
    }
    if (!tables.empty()) recorded[signature(tables)].push_back(&work);
  }
  std::map<std::string, std::vector<const LogTxn*>> logged;
  for (const LogTxn& txn : log_.txns) {
    if (claimed_.contains(txn.xid) || versions_.commit_place(txn.xid) == 0) continue;
    std::set<std::string> tables;
    for (const LogChange& change : txn.changes) {
      const auto partition = catalog_.partitions.find(change.table);
      tables.insert(partition == catalog_.partitions.end() ? change.table : partition->second);
    }
    logged[signature(tables)].push_back(&txn);
  }
  for (auto& [tables, works] : recorded) {
    const auto found = logged.find(tables);
    if (works.size() != 1 || found == logged.end() || found->second.size() != 1) continue;
    works[0]->own = found->second[0]->xid;
    claim(*works[0]);
  }
}

// Transactions that did not go through the proxy, or that could not be told apart.
void Resolver::add_strangers() {
  for (const LogTxn& txn : log_.txns) {
    if (claimed_.contains(txn.xid) || versions_.commit_place(txn.xid) == 0) continue;
    Work work;
    work.own = txn.xid;
    work.out.session = fmt::format("log-{}", txn.xid);
    work.out.id = fmt::format("X{}", txn.xid);
    work.out.txn.status = TxnStatus::Committed;
    work.out.txn.isolation = "unknown";
    work.out.txn.statements.push_back({.sql = "(in the server's log only)"});
    work.out.txn.gaps.push_back({0, "changes of a transaction that the recorder did not see"});
    work.out.commit = versions_.commit_place(txn.xid);
    work.shapes.emplace_back();
    work.messages.push_back(nullptr);
    names_[txn.xid] = work.out.id;
    works_.push_back(std::move(work));
  }
}

}  // namespace isoscope::record
