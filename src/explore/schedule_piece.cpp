#include "explore/schedule_piece.h"

#include <cstddef>

namespace isoscope::explore {

std::vector<std::uint32_t> pack_frames(const Frames& all) {
  std::vector<std::uint32_t> words = {all.base, all.is_round_over ? 1U : 0U,
                                      static_cast<std::uint32_t>(all.frames.size())};
  const auto add = [&](const std::vector<LiveSession>& list) {
    words.push_back(static_cast<std::uint32_t>(list.size()));
    for (const LiveSession session : list) words.push_back(session.index);
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
    std::vector<LiveSession> sessions(words[next++]);
    for (LiveSession& session : sessions) session = {words[next++]};
    return sessions;
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
