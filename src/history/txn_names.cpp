#include "history/txn_names.h"

#include <fmt/format.h>

#include <charconv>

namespace isoscope {

namespace {

Error twice(const History& h, TxnId first, TxnId second) {
  return Error{.where = h.place(second),
               .what = fmt::format("two transactions are called '{}'", h.name(second)),
               .hint = fmt::format("the other one begins on line {}; rename one of them",
                                   h.place(first).line)};
}

}  // namespace

std::optional<std::int64_t> numbered(std::string_view name, char letter) {
  if (name.size() < 2 || name[0] != letter || (name[1] == '0' && name.size() > 2)) return {};
  if (name[1] == '-') return {};
  std::int64_t number = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + 1, end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return {};
  return number;
}

Result<TxnNames> TxnNames::of(const History& h) {
  TxnNames names(h);
  for (TxnId t : h.txns()) {
    const Value given = h.given_name(t);
    if (given.is_nil()) continue;
    auto& table = given.is_text() ? names.texts_ : names.numbers_;
    const auto [entry, fresh] = table.try_emplace(given.bits, t);
    if (!fresh) return twice(h, entry->second, t);
    if (!given.is_text()) continue;
    // T7 may also be what position 7 is called by default.
    const auto position = numbered(h.texts().text(given), 'T');
    if (!position || *position >= static_cast<std::int64_t>(h.num_txns())) continue;
    const TxnId other{static_cast<std::uint32_t>(*position)};
    if (h.given_name(other).is_nil() && other != t)
      return other < t ? twice(h, other, t) : twice(h, t, other);
  }
  return names;
}

std::optional<TxnId> TxnNames::find(std::string_view name) const {
  if (const auto number = numbered(name, 't')) {
    const auto found = numbers_.find(*number);
    if (found != numbers_.end()) return found->second;
  }
  if (const auto text = h_->texts().find(name)) {
    const auto found = texts_.find(text->bits);
    if (found != texts_.end()) return found->second;
  }
  const auto position = numbered(name, 'T');
  if (!position || *position >= static_cast<std::int64_t>(h_->num_txns())) return {};
  const TxnId t{static_cast<std::uint32_t>(*position)};
  if (!h_->given_name(t).is_nil()) return {};
  return t;
}

}  // namespace isoscope
