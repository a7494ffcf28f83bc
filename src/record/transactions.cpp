#include "record/transactions.h"

#include <utility>

namespace isoscope::record {

Transactions::Transactions(std::uint32_t connection, Isolation default_isolation, TxnSink sink)
    : client_{connection, {}},
      default_isolation_(std::move(default_isolation)),
      sink_(std::move(sink)) {}

void Transactions::begin(Microseconds now, bool is_explicit) {
  open_.emplace();
  open_->connection = client_.connection;
  open_->is_explicit = is_explicit;
  open_->isolation = default_isolation_;
  open_->start = now;
  has_failed_ = false;
}

RecordedTxn& Transactions::current(Microseconds now) {
  if (!open_) begin(now, false);
  return *open_;
}

// `sent`: when the request was sent that ended it.
void Transactions::end(TxnStatus status, Microseconds now, Microseconds sent) {
  if (!open_) return;
  RecordedTxn txn = std::move(*open_);
  open_.reset();
  has_failed_ = false;
  txn.status = status;
  txn.end = now;
  txn.end_sent = sent;
  txn.backend = backend_;
  block_isolation_ = txn.isolation;
  if (txn.statements.empty() && txn.gaps.empty()) return;  // BEGIN; COMMIT: nothing happened
  sink_(client_, std::move(txn));
}

void Transactions::set_isolation(const StatementText& text) {
  if (!text.isolation.is_told()) return;
  if (text.kind == StatementKind::SetSession) {
    default_isolation_ = text.isolation;
  } else if (open_) {
    open_->isolation = text.isolation;
  }
}

void Transactions::done(RecordedStatement statement, const StatementText& text) {
  const Microseconds start = statement.start;
  const Microseconds now = statement.end;
  switch (text.kind) {
    case StatementKind::Begin:
      // Statements before it in the same request belong to the same transaction.
      current(start).is_explicit = true;
      set_isolation(text);
      return;
    case StatementKind::Commit:
    case StatementKind::Rollback: {
      // The COMMIT of a failed transaction is answered by ROLLBACK.
      const bool commits = text.kind == StatementKind::Commit && !statement.tag.starts_with("ROLL");
      end(commits ? TxnStatus::Committed : TxnStatus::Aborted, now, statement.sent);
      if (text.chains) {
        begin(now, true);
        open_->isolation = block_isolation_;
      }
      return;
    }
    case StatementKind::RollbackTo: has_failed_ = false; break;
    case StatementKind::TwoPhase: doubt("two-phase commit", now); break;
    case StatementKind::Call:
      current(start).gaps.push_back(
          {open_->statements.size() + 1, "a procedure may read, write and commit inside"});
      break;
    default: break;
  }
  RecordedTxn& txn = current(start);
  set_isolation(text);
  note_told(statement, txn);
  txn.statements.push_back(std::move(statement));
}

// A gate has run for certain where rows were found: a condition that is false whatever the row is
// may be decided without it.
void Transactions::note_told(const RecordedStatement& statement, RecordedTxn& txn) {
  const bool reads = statement.kind == StatementKind::Select;
  if (statement.gate_tells_all && !statement.tag.ends_with(" 0")) {
    txn.has_told_level = true;
    txn.has_told_id |= !reads;
  }
  txn.may_have_written |= !reads;
}

bool Transactions::has_told(StatementKind next) const {
  if (!open_ || !open_->has_told_level) return false;
  return open_->has_told_id || (next == StatementKind::Select && !open_->may_have_written);
}

void Transactions::failed(RecordedStatement statement, const StatementText& text) {
  RecordedTxn& txn = current(statement.start);
  const Microseconds now = statement.end;
  const Microseconds sent = statement.sent;
  txn.error = statement.error;
  has_failed_ = true;
  if (is_recorded(text.kind)) txn.statements.push_back(std::move(statement));
  // Outside of a block, and when it is COMMIT that fails, the transaction is over.
  if (!txn.is_explicit || text.kind == StatementKind::Commit) end(TxnStatus::Aborted, now, sent);
}

void Transactions::doubt(std::string why, Microseconds now) {
  current(now).gaps.push_back({0, std::move(why)});
}

void Transactions::ready(char status, Microseconds now) {
  if (status == 'I') {
    if (!open_) return;
    // Outside of a block, the last statement was sent before the commit began.
    const Microseconds sent =
        open_->statements.empty() ? open_->start : open_->statements.back().sent;
    if (has_failed_) {
      end(TxnStatus::Aborted, now, sent);
    } else if (!open_->is_explicit) {
      end(TxnStatus::Committed, now, sent);
    } else {
      doubt("the server ended the transaction by itself", now);
      end(TxnStatus::Unknown, now, sent);
    }
    return;
  }
  if (!open_) {
    begin(now, true);
    doubt("the server began the transaction by itself", now);
  } else if (!open_->is_explicit) {
    open_->is_explicit = true;
    doubt("the server began a transaction block by itself", now);
  }
  has_failed_ = status == 'E';
}

void Transactions::interrupted(RecordedStatement statement) {
  RecordedTxn& txn = current(statement.start);
  txn.gaps.push_back({txn.statements.size() + 1, "the connection ended while it ran"});
  txn.statements.push_back(std::move(statement));
}

void Transactions::lost(bool is_committing, Microseconds now) {
  // Outside of a block, the end of a request is the commit.
  const bool is_open_end = open_ && !has_failed_ && (is_committing || !open_->is_explicit);
  const Microseconds sent = open_ && !open_->statements.empty() ? open_->statements.back().sent : 0;
  end(is_open_end ? TxnStatus::Unknown : TxnStatus::Aborted, now, sent);
}

}  // namespace isoscope::record
