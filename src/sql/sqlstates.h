#pragma once
// Names of errors, as EXCEPTION and RAISE use them, and which of them are the server's doing.
#include <optional>
#include <string>
#include <string_view>

namespace isoscope::sql {

// The code of a named condition; a code is its own. Nothing for other names. A class of errors
// ends with 000.
std::optional<std::string> sqlstate_of(std::string_view condition);

// The code of an error that the evaluation of SQL raises, by what it says; empty for others.
std::string sqlstate_of_error(std::string_view what);
// What PostgreSQL says then (SQLERRM); nothing where we do not know.
std::optional<std::string> message_of_error(std::string_view what);

// What some of these say.
inline constexpr std::string_view kNegativeLimit = "LIMIT must not be negative";
inline constexpr std::string_view kNegativeOffset = "OFFSET must not be negative";
inline constexpr std::string_view kNullBound = "a bound of a FOR loop is NULL";
inline constexpr std::string_view kIdleStep = "BY of a FOR loop must be greater than zero";
inline constexpr std::string_view kZeroStep = "the step of generate_series is zero";
inline constexpr std::string_view kNullArray = "FOREACH goes through an array, not NULL";
inline constexpr std::string_view kSecondRow =
    "a subquery that is a value returned more than one row";

// Can an error with this code come out of the model? Others, as of casts, it does not know.
bool is_modelled_sqlstate(std::string_view code);

// Those that a server raises because others work beside a transaction.
inline constexpr std::string_view kSerializationFailure = "40001";
inline constexpr std::string_view kDeadlockDetected = "40P01";
inline constexpr std::string_view kLockNotAvailable = "55P03";  // NOWAIT, lock_timeout
inline constexpr std::string_view kMariaDbDeadlock = "1213";    // the number of the error
// Every statement of a transaction that has failed already.
inline constexpr std::string_view kInFailedTransaction = "25P02";

// Has the server ended the whole transaction for the sake of others?
constexpr bool ends_transaction_by_others(std::string_view code) {
  return code == kSerializationFailure || code == kDeadlockDetected;
}

// May the same program succeed when it is run again?
constexpr bool is_worth_a_retry(std::string_view code) {
  return ends_transaction_by_others(code) || code == kLockNotAvailable || code == kMariaDbDeadlock;
}

// Did the statement fail since others work beside it, or an earlier one has failed? Of class 40
// all: the transaction was rolled back.
constexpr bool is_by_conflict(std::string_view code) {
  return code.starts_with("40") || code == kLockNotAvailable || code == kInFailedTransaction;
}

// Is the connection gone? Also the numbers of MariaDB's client and server.
constexpr bool is_connection_loss(std::string_view code) {
  return code.starts_with("08") || code.starts_with("57P") || code == "2006" || code == "2013" ||
         code == "1927" || code == "1053";
}

}  // namespace isoscope::sql
