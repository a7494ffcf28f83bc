#include "store/directed_policy.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoscope::store {

namespace {

bool is_same_key(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  for (;;) {
    while (i < a.size() && a[i] == ' ') ++i;
    while (j < b.size() && b[j] == ' ') ++j;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (a[i++] != b[j++]) return false;
  }
}

}  // namespace

std::string plain_key(std::string_view key) {
  std::string plain;
  for (const char c : key) {
    if (c != ' ') plain += c;
  }
  return plain;
}

std::string wanted_text(const Executable& program, const WantedRead& wanted) {
  if (!wanted.writer) return fmt::format("{} from a transaction that does not count", wanted.key);
  return fmt::format("{} from {}", wanted.key, name_of_writer(program, *wanted.writer));
}

std::optional<std::size_t> DirectedPolicy::find(const WantedRead& wanted, ProgramKey x,
                                                std::span<const Version> versions, Oracle* oracle,
                                                DivergenceKind& kind) const {
  kind = DivergenceKind::Key;
  if (!is_same_key(wanted.key, store_.program().keys().name(x))) return std::nullopt;
  kind = DivergenceKind::Writer;
  const auto found = std::find_if(versions.begin(), versions.end(), [&](const Version& version) {
    return wanted.writer && version.writer == *wanted.writer;
  });
  if (found == versions.end()) return std::nullopt;
  kind = DivergenceKind::Level;
  if (oracle != nullptr && !oracle->allows(x, found->writer)) return std::nullopt;
  return static_cast<std::size_t>(found - versions.begin());
}

std::optional<std::size_t> DirectedPolicy::choose(ProgramKey x, std::span<const Version> versions,
                                                  Oracle* oracle) {
  const std::uint32_t number = num_reads_++;
  const bool is_known = scripted_.direction != Direction::Free && number < scripted_.reads.size();
  if (!is_known && scripted_.direction != Direction::Exact)
    return scripted_.seed ? random_.choose(x, versions, oracle)
                          : latest_.choose(x, versions, oracle);
  DivergenceKind kind = DivergenceKind::ReadsMore;
  if (is_known) {
    const auto wanted = find(scripted_.reads[number], x, versions, oracle, kind);
    if (wanted) return wanted;
  }
  const auto chosen = latest_.choose(x, versions, oracle);
  const Executable& program = store_.program();
  std::string actual = fmt::format("the program reads {}", program.keys().name(x));
  if (chosen) {
    actual = fmt::format("{}read {} from {}",
                         kind == DivergenceKind::Level ? "the level forbids that: " : "",
                         program.keys().name(x), name_of_writer(program, versions[*chosen].writer));
  }
  divergences_.push_back(
      {.kind = kind,
       .call = scripted_.call,
       .read = number + 1,
       .expected = is_known ? wanted_text(program, scripted_.reads[number]) : "no further read",
       .actual = std::move(actual)});
  return chosen;
}

}  // namespace isoscope::store
