// Feeds arbitrary bytes to one reader, ISOSCOPE_FUZZED_FORMAT.
//
// Whatever is read must also survive being written: in each format that can hold it, it comes
// back with as many transactions and events.
#include <string>

#include "formats/formats.h"
#include "support/assert.h"
#include "target.h"

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

bool fuzz(FuzzInput input) {
  (void)recognise(as_text(input));
  const auto h = parse_history(as_text(input), Format::ISOSCOPE_FUZZED_FORMAT);
  if (!h) {
    ISO_ASSERT(!render(h.error()).empty());
    return false;
  }
  write_and_read_again(*h);
  return h->num_txns() > 1;
}

}  // namespace isoscope
