#pragma once
// Histories as scenes: the whole of a small one, the core and its neighbours of a large one.
#include <functional>
#include <string>
#include <vector>

#include "history/history.h"
#include "report/page.h"
#include "verdict/verdict.h"

namespace isoscope {

struct SceneOptions {
  std::string title = {};
  // Of a witness: all transactions, T0 among them, and the words for what the order is.
  std::vector<TxnId> order = {};
  std::string order_words = {};
  // What further is known of a transaction; may be empty.
  std::function<std::string(TxnId)> call = {};
  // What is to be said of a read; may be empty.
  std::function<std::string(EventId)> remark = {};
  bool with_text = true;  // the history as text, if it is short enough
};

// A violation, with its cycle and the transactions behind it; or without one the history itself.
Scene history_scene(const History& h, const Violation* violation, SceneOptions options);

}  // namespace isoscope
