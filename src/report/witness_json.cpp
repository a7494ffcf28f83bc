#include "report/witness_json.h"

#include "report/snapshots.h"

namespace isoscope {

namespace {

constexpr std::size_t kMostPairsPrinted = 100'000;

}  // namespace

Json order_json(const History& h, const std::vector<TxnId>& order) {
  Json json = Json::array();
  for (TxnId t : order) json.push_back(h.name(t));
  return json;
}

Json witness_json(const History& h, const Witness& w) {
  if (w.framework == Framework::Co) return {{"co", order_json(h, w.order)}};
  if (w.framework == Framework::CoSnap) {
    Json snap = Json::array();
    for_each_snapshot(h, w, [&](TxnId t, std::uint32_t statement, TxnId last) {
      snap.push_back({{"txn", h.name(t)}, {"statement", statement}, {"upto", h.name(last)}});
    });
    return {{"co", order_json(h, w.order)}, {"snap", std::move(snap)}};
  }
  Json json;
  json["vis"] = nullptr;  // stays so where there are too many
  if (w.vis && w.vis->count() <= kMostPairsPrinted) {
    json["vis"] = Json::array();
    for (TxnId a : h.txns()) {
      w.vis->for_each_successor(a.index, [&](std::size_t b) {
        json["vis"].push_back({h.name(a), h.name(TxnId{static_cast<std::uint32_t>(b)})});
      });
    }
  }
  json["ar"] = order_json(h, w.order);
  return json;
}

}  // namespace isoscope
