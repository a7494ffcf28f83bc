#include "check/ground/reasons.h"

#include <fmt/format.h>

#include "support/printable.h"

namespace isoscope {

std::string words_of_txn(const Universe& universe, std::size_t txn) {
  return printable(universe.history().name(universe.txn(txn)));
}

std::string words_of_point(const Universe& universe, std::size_t point) {
  const std::size_t n = universe.num_txns();
  if (point < n) return words_of_txn(universe, point);
  const std::size_t statement = point - n;
  for (const Universe::Read& read : universe.reads()) {
    if (read.statement == statement)
      return fmt::format("{} statement {}", words_of_txn(universe, read.reader),
                         universe.history().statement(read.event) + 1);
  }
  return fmt::format("point {}", point);
}

std::string words_of_binding(const Universe& universe, std::span<const Variable> variables,
                             const Binding& binding) {
  const History& h = universe.history();
  std::string words;
  for (const Variable& v : variables) {
    const std::uint32_t value = binding[static_cast<std::size_t>(v.slot)];
    if (value == kUnbound) continue;
    std::string of_value;
    switch (v.sort) {
      case Sort::Txn: of_value = words_of_txn(universe, value); break;
      case Sort::Key: of_value = printable(h.name(KeyId{value})); break;
      case Sort::Read: {
        const Universe::Read& read = universe.reads()[value];
        const EventId first = *h.events(universe.txn(read.reader)).begin();
        of_value = fmt::format("{} event {}", words_of_txn(universe, read.reader),
                               read.event.index - first.index + 1);
        break;
      }
    }
    words += fmt::format("{}{} = {}", words.empty() ? "" : ", ", v.name, of_value);
  }
  return words;
}

}  // namespace isoscope
