// Any bytes as a conversation of a client and a PostgreSQL server, in both directions
// (wire_game.h).
#include "record/wire_game.h"
#include "target.h"

namespace isoscope {

bool fuzz(FuzzInput input) {
  if (input.empty()) return false;
  const std::string_view text = as_text(input);
  return record::WireGame(record::WireGame::way_of(text[0])).play(text.substr(1)).messages > 0;
}

}  // namespace isoscope
