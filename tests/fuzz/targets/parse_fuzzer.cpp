// Feeds arbitrary bytes to one reader, ISOSCOPE_FUZZED_FORMAT.
//
// Whatever is read must also survive being written: in each format that can hold it, it comes
// back with as many transactions and events. Build with clang and -DISOSCOPE_FUZZ=ON, then
//
//     fuzz_plume -max_total_time=20 NEW_INPUTS tests/fuzz/corpus/plume
#include <cstdint>
#include <string>

#include "formats/formats.h"
#include "support/assert.h"

namespace isoscope {
namespace {

void write_and_read_again(const History& h) {
  for (Format format : all_formats()) {
    if (!can_write(format)) continue;
    std::string text;
    const auto done = write_history(h, format, [&](std::string_view piece) { text += piece; });
    ISO_ASSERT(done.ok() || text.empty());
    if (!done.ok() || h.num_txns() == 1) continue;
    const auto again = parse_history(text, format);
    ISO_ASSERT(again.ok());
    ISO_ASSERT(again->num_txns() == h.num_txns());
    ISO_ASSERT(again->num_events() == h.num_events());
    ISO_ASSERT(again->faults().size() == h.faults().size());
  }
}

}  // namespace
}  // namespace isoscope

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isoscope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)recognise(text);
  const auto h = parse_history(text, Format::ISOSCOPE_FUZZED_FORMAT);
  if (h) {
    write_and_read_again(*h);
  } else {
    ISO_ASSERT(!render(h.error()).empty());
  }
  return 0;
}
