#include "check/visibility.h"

#include "check/level_table.h"

namespace isoscope {

namespace {
constexpr std::size_t kMostTxnsWithVis = 2000;  // 4 million pairs
}

Witness as_visibility(const History& h, Logic logic, const Witness& witness) {
  if (witness.framework == Framework::VisAr) return witness;
  if (const auto strong = strong_level(logic)) return as_vis_witness(h, *strong, witness);
  Witness result{.framework = Framework::VisAr, .order = witness.order, .vis = {}};
  if (h.num_txns() > kMostTxnsWithVis) return result;
  result.vis = so_relation(h) | wr_relation(h);
  if (logic == Logic::Cc) result.vis = transitive_closure(*std::move(result.vis));
  return result;
}

}  // namespace isoscope
