#include "explore/schedule_piece.h"

#include <cstddef>

namespace isoscope::explore {

std::vector<std::uint32_t> pack_frames(const Frames& all) {
  std::vector<std::uint32_t> words = {all.base, all.is_round_over ? 1U : 0U,
                                      static_cast<std::uint32_t>(all.frames.size())};
  const auto add = [&](const std::vector<std::uint32_t>& list) {
    words.push_back(static_cast<std::uint32_t>(list.size()));
    words.insert(words.end(), list.begin(), list.end());
  };
  for (const Frame& frame : all.frames) {
    add(frame.tried);
    add(frame.known);
    words.insert(words.end(),
                 {frame.current, frame.limit, static_cast<std::uint32_t>(frame.join >> 32),
                  static_cast<std::uint32_t>(frame.join)});
  }
  return words;
}

Frames unpack_frames(const std::vector<std::uint32_t>& words) {
  std::size_t next = 0;
  const auto list = [&] {
    const std::size_t size = words[next++];
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(next);
    next += size;
    return std::vector<std::uint32_t>(begin, begin + static_cast<std::ptrdiff_t>(size));
  };
  Frames all;
  all.base = words[next++];
  all.is_round_over = words[next++] != 0;
  all.frames.resize(words[next++]);
  for (Frame& frame : all.frames) {
    frame.tried = list();
    frame.known = list();
    frame.current = words[next++];
    frame.limit = words[next++];
    frame.join = std::uint64_t{words[next++]} << 32;
    frame.join |= words[next++];
  }
  return all;
}

}  // namespace isoscope::explore
