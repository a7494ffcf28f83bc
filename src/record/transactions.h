#pragma once
// Follows one connection from transaction to transaction.
//
// The server says after each request whether the connection is idle, in a transaction block, or in
// a failed one; in between, the statements tell. Outside of a block the statements of one request
// (a text of several statements, or everything up to a Sync) are one transaction, unless a BEGIN or
// a COMMIT stands among them. Where the server and the statements disagree (a procedure that
// commits), the server is right, and the transactions concerned have a gap.
#include <optional>

#include "record/run.h"

namespace isoscope::record {

class Transactions {
 public:
  Transactions(std::uint32_t connection, Isolation default_isolation, TxnSink sink);

  // The server process that serves the connection.
  void served_by(std::uint32_t backend) { backend_ = backend; }
  void called(std::string application) { client_.application = std::move(application); }
  const Client& client() const { return client_; }

  // A statement ended well; or with an error, which statement.error tells.
  void done(RecordedStatement statement, const StatementText& text);
  void failed(RecordedStatement statement, const StatementText& text);
  // Something happened that was not understood: the current transaction has a gap.
  void doubt(std::string why, Microseconds now);
  // ReadyForQuery: 'I' idle, 'T' in a block, 'E' in a failed block.
  void ready(char status, Microseconds now);
  // The connection ended while the statement ran: whether it took effect is not known.
  void interrupted(RecordedStatement statement);
  // The connection is gone. `is_committing`: a COMMIT was under way, and its outcome is not known.
  void lost(bool is_committing, Microseconds now);

  bool is_open() const { return open_.has_value(); }
  // May the gate of the next statement leave out the transaction's id and level? What earlier gates
  // told is known only once the server has answered: nothing else must be under way.
  bool has_told(StatementKind next) const;

 private:
  RecordedTxn& current(Microseconds now);
  void begin(Microseconds now, bool is_explicit);
  void end(TxnStatus status, Microseconds now, Microseconds sent);
  void set_isolation(const StatementText& text);
  static void note_told(const RecordedStatement& statement, RecordedTxn& txn);

  Client client_;
  std::uint32_t backend_ = 0;
  Isolation default_isolation_;
  Isolation block_isolation_;  // of the last block, for AND CHAIN
  TxnSink sink_;
  std::optional<RecordedTxn> open_;
  bool has_failed_ = false;
};

}  // namespace isoscope::record
