#include "workload/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "support/text_cursor.h"
#include "workload/program_text.h"

namespace isoscope {

namespace {

using lexical::trimmed;

constexpr std::array<std::string_view, 3> kComparisons = {"==", "<=", ">="};

Result<std::int64_t> number_of(std::string_view text, const TextOf& find) {
  const auto made = substitute_all(trimmed(text), find);
  if (!made) return made.error();
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(made->data(), made->data() + made->size(), number);
  if (code != std::errc() || end != made->data() + made->size())
    return Error{.what = fmt::format("'{}' is no number", *made)};
  return number;
}

// The word `call` replaced by the name of a call.
std::string about(std::string_view text, const DrawnCall& call) {
  constexpr std::string_view kCall = "call";
  const std::string name = fmt::format("s{}[{}]", call.client.session, call.client.number);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (!lexical::starts_name(text[at])) {
      out += text[at++];
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && lexical::continues_name(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    out += word == kCall ? std::string_view(name) : word;
    at = end;
  }
  return out;
}

}  // namespace

bool ClaimWriter::Selection::has(const DrawnCall& call) const {
  return call.txn == txn && std::ranges::all_of(conditions, [&](const Condition& condition) {
           return call.arguments[condition.argument] == condition.value;
         });
}

Result<std::optional<Claim>> ClaimWriter::write(std::string_view text, const TextOf& find) const {
  for (const std::string_view sign : kComparisons) {
    const std::size_t at = find_outside(text, sign);
    if (at == std::string_view::npos) continue;
    auto left = side(trimmed(text.substr(0, at)), find);
    if (!left) return left.error();
    if (left->has_selections && !left->has_calls) return std::optional<Claim>();
    auto right = side(trimmed(text.substr(at + sign.size())), find);
    if (!right) return right.error();
    return std::optional<Claim>({std::move(left->text), std::string(sign), std::move(right->text)});
  }
  return Error{.what = "a claim compares two sides by ==, <= or >="};
}

Result<ClaimWriter::Side> ClaimWriter::side(std::string_view text, const TextOf& find) const {
  const bool is_sum = text.starts_with("sum(");
  Side side;
  if ((!is_sum && !text.starts_with("max(")) || find_outside(text, ")", 4) != text.size() - 1) {
    auto plain = substitute_all(text, find);
    if (!plain) return plain.error();
    side.text = std::move(*plain);
    return side;
  }
  std::vector<std::string> terms;
  for (const std::string_view item : split_outside(text.substr(4, text.size() - 5), ",")) {
    if (auto added = add_terms(item, find, side, terms); !added) return added.error();
  }
  // Only on the left side, where a claim without a call is left out.
  if (!is_sum && terms.empty()) return side;
  side.text = is_sum ? sum_of(terms) : max_of(terms);
  return side;
}

Result<void> ClaimWriter::add_terms(std::string_view item, const TextOf& find, Side& side,
                                    std::vector<std::string>& terms) const {
  if (const std::size_t split = find_outside(item, " for "); split != std::string_view::npos)
    return add_round(item, split, find, side, terms);
  if (find_outside(item, " of ") == std::string_view::npos) {
    auto inner = this->side(item, find);
    if (!inner) return inner.error();
    side.has_selections |= inner->has_selections;
    side.has_calls |= inner->has_calls;
    terms.push_back(std::move(inner->text));
    return {};
  }
  std::vector<Saying> sayings;
  for (const std::string_view saying : split_outside(item, " or ")) {
    const std::size_t of = find_outside(saying, " of ");
    if (of == std::string_view::npos) return Error{.what = "expected 'of' and calls"};
    auto selected = selections(saying.substr(of + 4), find);
    if (!selected) return selected.error();
    sayings.push_back({.text = trimmed(saying.substr(0, of)), .selections = std::move(*selected)});
  }
  side.has_selections = true;
  for (const DrawnCall& call : calls_) {
    const TextOf of_call = [&](std::string_view name) -> std::optional<std::string> {
      if (name == "client") return std::to_string(call.client.session);
      if (name == "number") return std::to_string(call.client.number);
      return find(name);
    };
    for (const Saying& saying : sayings) {
      const bool is_about = std::ranges::any_of(
          saying.selections, [&](const Selection& selection) { return selection.has(call); });
      if (!is_about) continue;
      const auto term = substitute_all(about(saying.text, call), of_call);
      if (!term) return term.error();
      side.has_calls = true;
      terms.push_back(*term);
    }
  }
  return {};
}

// max(…) for d in 1..2
Result<void> ClaimWriter::add_round(std::string_view item, std::size_t split, const TextOf& find,
                                    Side& side, std::vector<std::string>& terms) const {
  const std::string_view loop = item.substr(split + 5);
  const std::size_t in = loop.find(" in ");
  const std::size_t dots = loop.find("..");
  if (in == std::string_view::npos || dots == std::string_view::npos || dots < in)
    return Error{.what = "expected a range", .hint = "max(…) for d in 1..$districts"};
  const std::string_view name = trimmed(loop.substr(0, in));
  const auto low = number_of(loop.substr(in + 4, dots - in - 4), find);
  if (!low) return low.error();
  const auto high = number_of(loop.substr(dots + 2), find);
  if (!high) return high.error();
  for (std::int64_t i = *low; i <= *high; ++i) {
    const TextOf inside = [&](std::string_view asked) -> std::optional<std::string> {
      return asked == name ? std::to_string(i) : find(asked);
    };
    if (auto added = add_terms(item.substr(0, split), inside, side, terms); !added) return added;
  }
  return {};
}

Result<std::vector<ClaimWriter::Selection>> ClaimWriter::selections(std::string_view calls,
                                                                    const TextOf& find) const {
  std::vector<Selection> out;
  for (const std::string_view text : split_outside(calls, "|")) {
    const std::size_t open = text.find('(');
    if (open == std::string_view::npos || !text.ends_with(')'))
      return Error{.what = fmt::format("expected calls, found '{}'", text), .hint = "pay(c = $c)"};
    Selection selection{.txn = trimmed(text.substr(0, open)), .conditions = {}};
    const auto head = heads_.find(selection.txn);
    if (head == heads_.end())
      return Error{.what = fmt::format("there is no transaction '{}'", selection.txn)};
    for (const std::string_view condition :
         split_outside(text.substr(open + 1, text.size() - open - 2), ",")) {
      const std::size_t equals = std::min(condition.find('='), condition.size());
      const std::string_view parameter = trimmed(condition.substr(0, equals));
      const auto at = std::ranges::find(head->second, parameter);
      if (at == head->second.end() || equals == condition.size())
        return Error{.what = fmt::format("{} has no parameter '{}'", selection.txn, parameter)};
      const auto value = number_of(condition.substr(equals + 1), find);
      if (!value) return value.error();
      selection.conditions.push_back(
          {.argument = static_cast<std::size_t>(at - head->second.begin()), .value = *value});
    }
    out.push_back(std::move(selection));
  }
  return out;
}

Result<std::int64_t> ClaimWriter::count(std::string_view calls, const TextOf& find) const {
  const auto selected = selections(calls, find);
  if (!selected) return selected.error();
  return static_cast<std::int64_t>(std::ranges::count_if(calls_, [&](const DrawnCall& call) {
    return std::ranges::any_of(*selected, [&](const Selection& one) { return one.has(call); });
  }));
}

}  // namespace isoscope
