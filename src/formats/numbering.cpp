#include "formats/numbering.h"

#include <algorithm>
#include <optional>
#include <string>

#include "formats/scan.h"
#include "history/txn_names.h"

namespace isoscope {

namespace {

std::optional<std::int64_t> unsigned_int(std::string_view text) {
  const auto number = canonical_int(text);
  return number && *number >= 0 ? number : std::nullopt;
}

// The n of t<n>, of a default T<n>, or of t<s>_<n> in session s.
std::optional<std::int64_t> txn_number(const History& h, TxnId t, std::int64_t session) {
  const Value given = h.given_name(t);
  if (given.is_nil()) return t.index;
  if (given.is_int()) return given.bits >= 0 ? std::optional(given.bits) : std::nullopt;
  const std::string_view name = h.texts().text(given);
  const std::string prefix = "t" + std::to_string(session) + "_";
  if (name.starts_with(prefix)) return unsigned_int(name.substr(prefix.size()));
  return numbered(name, 'T');
}

bool number_sessions(const History& h, std::int64_t least, std::vector<std::int64_t>& numbers) {
  std::vector<std::int64_t> used;
  for (SessionId s : h.sessions()) {
    if (h.session_txns(s).empty()) continue;
    const auto n = numbered(h.name(s), 's');
    if (!n || *n < least) return false;
    numbers[s.index] = *n;
    used.push_back(*n);
  }
  std::sort(used.begin(), used.end());
  return std::adjacent_find(used.begin(), used.end()) == used.end();
}

bool number_txns(const History& h, const std::vector<std::int64_t>& sessions,
                 std::vector<std::int64_t>& numbers) {
  std::vector<std::int64_t> used;
  for (SessionId s : h.sessions()) {
    used.clear();
    for (TxnId t : h.session_txns(s)) {
      const auto n = txn_number(h, t, sessions[s.index]);
      if (!n) return false;
      numbers[t.index] = *n;
      used.push_back(*n);
    }
    std::sort(used.begin(), used.end());
    if (std::adjacent_find(used.begin(), used.end()) != used.end()) return false;
  }
  return true;
}

}  // namespace

Numbering number(const History& h, std::int64_t least_session) {
  Numbering result;
  result.sessions.resize(h.num_sessions());
  result.txns.resize(h.num_txns());
  if (!number_sessions(h, least_session, result.sessions)) {
    for (SessionId s : h.sessions()) result.sessions[s.index] = s.index + 1;
  }
  if (!number_txns(h, result.sessions, result.txns)) {
    for (TxnId t : h.txns()) result.txns[t.index] = t.index;
  }
  return result;
}

}  // namespace isoscope
