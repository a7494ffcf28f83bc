#pragma once
// Histories in the binary formats that isoscope only reads, so that tests can hold the readers to
// histories of any size. Keys and values must be unsigned numbers, initial values 0.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/cobra.h"
#include "formats/examples.h"
#include "history/history.h"

namespace isoscope {

inline std::uint64_t number_of(Value value) { return static_cast<std::uint64_t>(value.bits); }

// dbcop's old binary form. Requires: no outcome is unknown.
inline std::string encode_bincode(const History& h) {
  std::string bytes;
  std::size_t most_txns = 0;
  for (SessionId s : h.sessions()) most_txns = std::max(most_txns, h.session_txns(s).size());
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{h.num_sessions()}, std::uint64_t{h.num_keys()},
        std::uint64_t{most_txns}, std::uint64_t{h.num_events()}}) {
    bytes += little_endian(number);
  }
  for (const std::string text : {"generated", "", ""}) bytes += little_endian(text.size()) + text;
  bytes += little_endian(h.num_sessions());
  for (SessionId s : h.sessions()) {
    bytes += little_endian(h.session_txns(s).size());
    for (TxnId t : h.session_txns(s)) {
      bytes += little_endian(h.events(t).size());
      for (EventId e : h.events(t)) {
        bytes += bincode_event(h.is_write(e), number_of(h.key_name(h.key(e))),
                               number_of(h.value(e)), true);
      }
      bytes += h.status(t) == TxnStatus::Committed ? '\1' : '\0';
    }
  }
  return bytes;
}

// Cobra's logs, one per session. A version is known by its writer and, here, by its value.
// Requires: every transaction committed, and somebody wrote each value that was read.
inline std::vector<CobraLog> encode_cobra(const History& h) {
  constexpr std::uint64_t kInitial = 0xbebeebee;
  // Not h.writer(): where a transaction does not read its own write, that names the transaction.
  std::map<std::pair<KeyId, Value>, TxnId> writers;
  for (TxnId t : h.txns()) {
    for (EventId e : h.events(t)) {
      if (h.is_write(e)) writers[{h.key(e), h.value(e)}] = t;
    }
  }
  std::vector<CobraLog> logs;
  for (SessionId s : h.sessions()) {
    CobraLog log{.name = "T" + std::to_string(s.index + 1) + ".log", .bytes = {}};
    for (TxnId t : h.session_txns(s)) {
      log.bytes += "S" + big_endian(t.index);
      for (EventId e : h.events(t)) {
        const std::uint64_t value = number_of(h.value(e));
        if (h.is_read(e)) {
          const auto writer = writers.find({h.key(e), h.value(e)});
          const bool initial = writer == writers.end();
          log.bytes += "R" + big_endian(initial ? kInitial : writer->second.index) +
                       big_endian(initial ? kInitial : value);
        } else {
          log.bytes += "W" + big_endian(value);
        }
        log.bytes += big_endian(number_of(h.key_name(h.key(e)))) + big_endian(value);
      }
      log.bytes += "C" + big_endian(t.index);
    }
    logs.push_back(std::move(log));
  }
  return logs;
}

}  // namespace isoscope
