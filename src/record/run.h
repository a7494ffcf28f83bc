#pragma once
// What was seen of a run on the wire: transactions of statements.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "history/history.h"
#include "record/statement_text.h"

namespace isoscope::record {

using Microseconds = std::int64_t;  // since the recording began

// The value of $1, $2, … as the client sent it.
struct Parameter {
  bool is_null = false;
  bool is_binary = false;
  std::string bytes;
};

struct Shape;

// What decides how the server reads texts of dates and times, as it last told the client.
struct ClientSettings {
  std::string time_zone = "UTC";
  std::string date_style = "ISO, MDY";
  std::string interval_style = "postgres";
  friend bool operator==(const ClientSettings&, const ClientSettings&) = default;
};

struct RecordedStatement {
  StatementKind kind = StatementKind::Other;
  std::string sql;
  std::vector<Parameter> parameters = {};
  std::vector<std::uint32_t> parameter_types = {};  // as the client declared them; 0 is undeclared
  std::string tag = {};                             // what the server answered: "UPDATE 1"
  std::string error = {};                           // its SQLSTATE if it failed
  Microseconds sent = 0;                            // to the server; it may have begun then
  Microseconds start = 0;
  Microseconds end = 0;
  // The gate (shape.h) that was put into it, by number; 0 if it passed unchanged.
  std::uint64_t gate = 0;
  bool gate_tells_all = false;  // its transaction's id and level too, not only the snapshot
  // Of a recording that appends (appending.h): did the statement tell, and what, row by row? Of a
  // query the first row is enough.
  bool is_told = false;
  std::vector<std::string> told = {};
  Microseconds bound = 0;                   // its snapshot is not older
  std::shared_ptr<const Shape> shape = {};  // null if it was not asked for, or there is none
  std::shared_ptr<const ClientSettings> settings = {};  // null if the server told none
};

// The tag of a statement whose portal stopped at the client's row limit.
inline constexpr std::string_view kSuspended = "SUSPENDED";

// Something about a transaction that the recording does not know.
struct Gap {
  std::size_t statement = 0;  // counted from 1; 0: the transaction as a whole
  std::string why;
};

struct RecordedTxn {
  std::uint32_t connection = 0;  // counted from 1, in the order of arrival
  std::uint32_t backend = 0;     // the server's process; 0 if it did not tell
  TxnStatus status = TxnStatus::Unknown;
  bool is_explicit = false;  // begun by BEGIN
  Isolation isolation;       // as declared, or as the server told
  std::string error = {};    // the SQLSTATE that ended it
  Microseconds start = 0;
  Microseconds end = 0;
  Microseconds end_sent = 0;  // it has not committed before
  std::vector<RecordedStatement> statements = {};
  std::vector<Gap> gaps = {};
  // What the gates of its statements have told already, so that the next need not tell it again.
  bool has_told_level = false;
  bool has_told_id = false;
  bool may_have_written = false;
};

// Who a connection says it is.
struct Client {
  std::uint32_t connection = 0;
  std::string application;  // application_name, as last set; may be empty
};

// Called with each transaction when it has ended.
using TxnSink = std::function<void(const Client&, RecordedTxn)>;

}  // namespace isoscope::record
