#include "record/resolver.h"

#include <fmt/format.h>

#include <algorithm>

#include "record/rollbacks.h"
#include "record/words.h"
#include "support/spelling.h"

namespace isoscope::record {
namespace {

Microseconds first_sent(const RecordedTxn& txn) {
  Microseconds first = std::numeric_limits<Microseconds>::max();
  for (const RecordedStatement& statement : txn.statements) first = std::min(first, statement.sent);
  return first;
}

// The tables that a transaction wrote.
std::string signature(const std::set<std::string>& tables) {
  std::string out;
  for (const std::string& table : tables) out += table + " ";
  return out;
}

}  // namespace

Resolver::Resolver(RunSource& source, const Catalog& catalog, Versions& versions, Matches& matches,
                   Gatekeeper& gates, bool is_cut)
    : source_(source),
      catalog_(catalog),
      versions_(versions),
      gates_(gates),
      accesses_(catalog, versions, matches),
      counts_(is_cut) {}

Result<void> Resolver::run(const ResolvedSink& sink) {
  if (auto done = survey(); !done) return done.error();
  versions_.start();
  if (auto done = identify(); !done) return done.error();
  accesses_.settle();
  sink.start([this](const Accesses::EachValue& each) { accesses_.initial_values(each); });
  return hand_on(sink);
}

Result<void> Resolver::identify() {
  if (auto done = source_.rewind(); !done) return done.error();
  Pairing pairing(rules_);
  std::size_t places = 0;
  for (;;) {
    auto part = source_.next_part();
    if (!part) return part.error();
    if (*part == nullptr) break;
    const std::size_t before = places;
    versions_.number(**part, places);
    find_logged(**part);
    versions_.apply_kept(**part);
    pairing.add((*part)->messages);
    for (;;) {
      auto next = source_.next_txn();
      if (!next) return next.error();
      if (!*next) break;
      owns_.push_back(0);
      find_claim(*(*next)->txn, static_cast<std::uint32_t>(owns_.size()), before, pairing);
    }
  }
  join_claims();
  match_the_rest();
  return {};
}

void Resolver::find_logged(const DecodedLog& part) {
  for (const LogTxn& txn : part.txns) {
    if (txn.place == 0) continue;
    std::set<std::string> tables;
    for (const LogChange& change : txn.changes) {
      const auto partition = catalog_.partitions.find(change.table);
      tables.insert(partition == catalog_.partitions.end() ? change.table : partition->second);
    }
    const auto known = table_sets_.try_emplace(signature(tables),
                                               static_cast<std::uint32_t>(table_sets_.size() + 1));
    logged_.push_back({.xid = txn.xid, .place = txn.place, .tables = known.first->second});
    unowned_[txn.xid] = txn.place;
  }
}

// `places_before`: how many commits there were in earlier parts of the log.
void Resolver::find_claim(RecordedTxn& txn, std::uint32_t number, std::size_t places_before,
                          Pairing& pairing) {
  Work work{.out = {.session = {}, .id = {}, .txn = std::move(txn), .events = {}}};
  for (const RecordedStatement& statement : work.out.txn.statements) {
    work.messages.emplace_back();
    if (statement.gate != 0)
      work.messages.back() = pairing.take(statement.gate, !statement.error.empty());
    if (work.messages.back() && work.messages.back()->xid != 0)
      work.own = work.messages.back()->xid;
  }
  const Claim claim{work.own, first_sent(work.out.txn), number};
  if (work.own != 0) {
    claims_.push_back(claim);
    owns_.back() = work.own;
    const auto found = unowned_.find(work.own);
    // Statements of earlier parts may have seen what it wrote.
    if (found != unowned_.end() && found->second <= places_before) {
      for (const RecordedStatement& statement : work.out.txn.statements)
        work.shapes.push_back(shape_of(statement));
      work.undone = undone_at(work.out.txn);
      work.out.commit = found->second;
      for (Versions::Assigned& assigned : assigned_by(work)) late_.push_back(std::move(assigned));
    }
    if (found != unowned_.end()) unowned_.erase(found);
  } else if (work.out.txn.status == TxnStatus::Committed) {
    const std::string tables = tables_written(work.out.txn);
    const auto known =
        table_sets_.try_emplace(tables, static_cast<std::uint32_t>(table_sets_.size() + 1));
    if (!tables.empty()) unclaimed_[known.first->second].push_back(claim);
  }
  txn = std::move(work.out.txn);
}

void Resolver::join_claims() {
  unowned_ = {};
  std::ranges::sort(logged_, {}, &Logged::xid);
  for (const Claim& claim : claims_) {
    const auto found = std::ranges::lower_bound(logged_, claim.xid, {}, &Logged::xid);
    if (found == logged_.end() || found->xid != claim.xid) continue;
    found->number = claim.number;
    found->first_sent = claim.first_sent;
  }
  claims_ = {};
}

std::string Resolver::tables_written(const RecordedTxn& txn) {
  std::set<std::string> tables;
  for (const RecordedStatement& statement : txn.statements) {
    const auto shape = shape_of(statement);
    if (shape == nullptr || !writes_rows(shape->kind)) continue;
    const Table* table = catalog_.find(shape->schema, shape->table);
    if (table != nullptr) tables.insert(table->full_name());
  }
  return signature(tables);
}

// A transaction that wrote and whose id was not recorded is found by elimination.
void Resolver::match_the_rest() {
  std::map<std::uint32_t, std::vector<Logged*>> unmatched;
  for (Logged& logged : logged_) {
    if (logged.number == 0) unmatched[logged.tables].push_back(&logged);
  }
  for (const auto& [tables, works] : unclaimed_) {
    const auto found = unmatched.find(tables);
    if (works.size() != 1 || found == unmatched.end() || found->second.size() != 1) continue;
    Logged& logged = *found->second[0];
    logged.number = works[0].number;
    logged.first_sent = works[0].first_sent;
    owns_[works[0].number - 1] = logged.xid;
  }
  unclaimed_ = {};
}

const Resolver::Logged* Resolver::logged(std::uint64_t xid) const {
  const auto found = std::ranges::lower_bound(logged_, xid, {}, &Logged::xid);
  return found == logged_.end() || found->xid != xid ? nullptr : &*found;
}

std::string Resolver::name_of(std::uint64_t xid) const {
  if (xid == kInitialXid) return "T0";
  const Logged* known = logged(xid);
  return known == nullptr || known->number == 0 ? fmt::format("X{}", xid)
                                                : fmt::format("T{}", known->number);
}

Resolver::Work Resolver::work_of(const std::string& session, RecordedTxn txn, std::uint32_t number,
                                 Pairing& pairing) {
  Work work;
  work.out = {session, fmt::format("T{}", number), std::move(txn), {}, 0};
  work.own = owns_[number - 1];
  RecordedTxn& recorded = work.out.txn;
  for (const RecordedStatement& statement : recorded.statements) {
    work.shapes.push_back(shape_of(statement));
    work.messages.emplace_back();
    if (statement.gate == 0) continue;
    work.messages.back() = pairing.take(statement.gate, !statement.error.empty());
    if (work.messages.back() && work.messages.back()->isolation.is_told())
      recorded.isolation = work.messages.back()->isolation;
  }
  work.undone = undone_at(recorded);
  const Logged* known = work.own == 0 ? nullptr : logged(work.own);
  if (known != nullptr) work.out.commit = known->place;
  // The log knows whether a transaction committed whose end was not seen.
  if (recorded.status == TxnStatus::Unknown && work.out.commit != 0)
    recorded.status = TxnStatus::Committed;
  settle_prepared(work);
  return work;
}

// A transaction that was prepared ends by COMMIT PREPARED, of any connection: those that follow it
// in its session need not see it.
void Resolver::settle_prepared(Work& work) const {
  RecordedTxn& txn = work.out.txn;
  const auto prepares = [](const RecordedStatement& statement) {
    return statement.kind == StatementKind::TwoPhase && statement.error.empty() &&
           lower_case(statement.sql.substr(0, 7)) == "prepare";
  };
  if (std::ranges::none_of(txn.statements, prepares)) return;
  work.out.session += "-" + work.out.id;
  txn.end = std::max(txn.end, last_end_);
}

Result<void> Resolver::hand_on(const ResolvedSink& sink) {
  if (auto done = source_.rewind(); !done) return done.error();
  assigning_.emplace(rules_);
  reading_.emplace(rules_);
  std::size_t places = 0;
  for (std::size_t number = 0;; ++number) {
    auto part = source_.next_part();
    if (!part) return part.error();
    if (*part == nullptr) break;
    versions_.number(**part, places);
    versions_.apply_others(**part);
    if (auto done = hand_on_part(sink, **part); !done) return done.error();
    forget_part(number);
  }
  return hand_on_unread(sink);
}

Result<void> Resolver::hand_on_part(const ResolvedSink& sink, const DecodedLog& part) {
  assigning_->add(part.messages);
  reading_->add(part.messages);
  // Who set a column is known before the first asks for it.
  for (const Versions::Assigned& assigned : late_) versions_.assign(assigned);
  std::uint32_t number = handed_on_;
  for (;;) {
    auto next = source_.next_txn();
    if (!next) return next.error();
    if (!*next) break;
    Work work = work_of({}, std::move(*(*next)->txn), ++number, *assigning_);
    for (const Versions::Assigned& assigned : assigned_by(work)) versions_.assign(assigned);
    *(*next)->txn = std::move(work.out.txn);
  }
  if (auto done = source_.rewind_part(); !done) return done.error();
  for (const LogTxn& txn : part.txns) {
    const Logged* known = txn.place == 0 ? nullptr : logged(txn.xid);
    if (known != nullptr && known->number > number) pending_.emplace_back(known->number, txn.place);
  }
  for (;;) {
    auto next = source_.next_txn();
    if (!next) return next.error();
    if (!*next) break;
    Work work = work_of(*(*next)->session, std::move(*(*next)->txn), ++handed_on_, *reading_);
    read(work);
    write(work, accesses_.writes_of(work.own, work.out.commit));
    versions_.forget_writer(work.own);
    sink.txn(std::move(work.out));
  }
  for (const LogTxn& txn : part.txns) {
    const Logged* known = txn.place == 0 ? nullptr : logged(txn.xid);
    if (known != nullptr && known->number == 0) hand_on_unmatched(*known, sink);
  }
  return {};
}

// Drops the versions that no statement of a later part can see.
void Resolver::forget_part(std::size_t part) {
  std::erase_if(pending_, [this](const auto& one) { return one.first <= handed_on_; });
  std::size_t place = std::numeric_limits<std::size_t>::max();
  for (const auto& [number, at] : pending_) place = std::min(place, at);
  const std::uint64_t horizon = part + 1 < horizons_.size()
                                    ? std::min(horizons_[part + 1], reading_->oldest())
                                    : reading_->oldest();
  versions_.prune(horizon, place);
}

// A transaction of the log that did not go through the proxy, or that more than one recorded
// transaction may be.
void Resolver::hand_on_unmatched(const Logged& logged, const ResolvedSink& sink) {
  Work work;
  work.own = logged.xid;
  work.out.session = fmt::format("log-{}", logged.xid);
  work.out.id = name_of(logged.xid);
  work.out.txn.status = TxnStatus::Committed;
  work.out.txn.isolation = {.text = "unknown", .level = std::nullopt};
  work.out.txn.statements.push_back({.sql = "(in the server's log only)"});
  work.out.txn.gaps.push_back({0, "changes of a transaction that the recorder did not see"});
  work.out.commit = logged.place;
  work.shapes.emplace_back();
  work.messages.emplace_back();
  work.reads.emplace_back();
  write(work, accesses_.writes_of(work.own, work.out.commit));
  versions_.forget_writer(work.own);
  sink.txn(std::move(work.out));
}

// Of these the log was not read.
Result<void> Resolver::hand_on_unread(const ResolvedSink& sink) {
  for (;;) {
    auto next = source_.next_txn();
    if (!next) return next.error();
    if (!*next) return {};
    ResolvedTxn unread{.session = *(*next)->session,
                       .id = fmt::format("T{}", ++handed_on_),
                       .txn = std::move(*(*next)->txn),
                       .events = {}};
    doubt(unread.txn, "the recording ended before the server's log of it was read");
    unread.events.resize(unread.txn.statements.size());
    sink.txn(std::move(unread));
  }
}

}  // namespace isoscope::record
