#include "report/history_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "formats/formats.h"
#include "report/explain.h"
#include "report/shown.h"
#include "verdict/involved.h"

namespace isoscope {

namespace {

constexpr std::size_t kMostBoxes = 40;
constexpr std::size_t kMostOps = 14;        // of a box
constexpr std::size_t kSmallTxns = 12;      // a history that is drawn whole
constexpr std::size_t kSmallEvents = 90;    //
constexpr std::size_t kMostNeighbours = 6;  // writers that the core reads from
constexpr std::size_t kMostInitialKeys = 14;
constexpr std::size_t kMostText = 100'000;

class SceneMaker {
 public:
  SceneMaker(const History& h, const Violation* violation, SceneOptions options)
      : h_(h), violation_(violation), options_(std::move(options)) {}

  Scene make() {
    scene_.title = options_.title;
    if (violation_ != nullptr) scene_.sentence = explanation(h_, *violation_) + ".";
    scene_.time = !options_.order.empty() ? options_.order_words
                                          : "each after what it reads and what its session did";
    if (options_.with_text) add_text();
    choose_txns();
    if (txns_.size() > kMostBoxes) {
      scene_.too_large =
          violation_ != nullptr
              ? fmt::format(
                    "{} transactions are involved, and a picture of more than {} shows "
                    "nothing. check --minimize FILE writes the smallest part that is "
                    "still violated; draw that.",
                    txns_.size(), kMostBoxes)
              : fmt::format(
                    "The history has {} transactions, and a picture of more than {} shows "
                    "nothing. Of a violation its cycle is drawn, however large the "
                    "history.",
                    txns_.size(), kMostBoxes);
      return std::move(scene_);
    }
    add_lanes();
    add_initial();
    for (const TxnId t : txns_) add_box(t);
    resolve_writers();
    add_facts();
    if (violation_ != nullptr) add_edges(violation_->cycle, true);
    for (const TxnId t : options_.order) {
      if (boxes_.contains(t) && t != kInitialTxn) scene_.order.push_back(boxes_[t]);
    }
    std::size_t all = 0;
    for (const TxnId t : h_.txns()) all += t != kInitialTxn && h_.is_present(t) ? 1 : 0;
    scene_.left_out = all - txns_.size();
    return std::move(scene_);
  }

 private:
  void add_text() {
    if (h_.num_events() > kMostText / 8) return;
    std::string text;
    auto written = write_history(h_, Format::Hist, [&](std::string_view piece) { text += piece; });
    if (!written) {
      text.clear();
      written = write_history(h_, Format::Jsonl, [&](std::string_view piece) { text += piece; });
    }
    if (written && text.size() <= kMostText) scene_.history = std::move(text);
  }

  void choose_txns() {
    std::size_t present = 0;
    for (const TxnId t : h_.txns()) present += t != kInitialTxn && h_.is_present(t) ? 1 : 0;
    std::set<TxnId> chosen;
    if (violation_ != nullptr && !(present <= kSmallTxns && h_.num_events() <= kSmallEvents)) {
      for (const TxnId t : involved_txns(h_, *violation_)) chosen.insert(t);
      for (const KeyId x : involved_keys(h_, *violation_)) keys_.insert(x);
      add_neighbours(chosen);
    } else {
      for (const TxnId t : h_.txns()) {
        if (h_.is_present(t)) chosen.insert(t);
      }
      for (const KeyId x : h_.keys()) keys_.insert(x);
    }
    chosen.erase(kInitialTxn);
    txns_.assign(chosen.begin(), chosen.end());
  }

  // Whom the core reads from.
  void add_neighbours(std::set<TxnId>& chosen) {
    std::set<TxnId> further;
    for (const TxnId t : chosen) {
      for (const EventId e : h_.events(t)) {
        if (!h_.is_external_read(e) || !keys_.contains(h_.key(e))) continue;
        if (!chosen.contains(h_.writer(e)) && further.size() < kMostNeighbours)
          further.insert(h_.writer(e));
      }
    }
    chosen.insert(further.begin(), further.end());
  }

  void add_lanes() {
    for (const TxnId t : txns_) {
      if (lanes_.emplace(h_.session(t), 0).second) continue;
    }
    for (auto& [session, lane] : lanes_) {
      lane = scene_.lanes.size();
      scene_.lanes.push_back(shown(h_, session));
    }
  }

  void add_initial() {
    SceneBox box{.name = "T0"};
    std::set<KeyId> used;
    for (const TxnId t : txns_) {
      for (const EventId e : h_.events(t)) {
        if (keys_.contains(h_.key(e))) used.insert(h_.key(e));
      }
    }
    for (const KeyId x : used) {
      if (!h_.has_initial(x)) continue;
      if (box.ops.size() == kMostInitialKeys) {
        ++box.left_out;
        continue;
      }
      const std::string value = h_.is_list(x) ? std::string("[]") : shown(h_, h_.initial_value(x));
      box.ops.push_back({.key = shown(h_, x),
                         .value = value,
                         .text = fmt::format("{} = {}", shown(h_, x), value)});
    }
    scene_.boxes.push_back(std::move(box));
    boxes_[kInitialTxn] = 0;
  }

  void add_box(TxnId t) {
    SceneBox box{.name = shown(h_, t), .lane = lanes_.at(h_.session(t))};
    if (options_.call) box.title = options_.call(t);
    box.where = h_.place(t).line == 0 ? "" : h_.show(h_.place(t));
    if (const TxnNote* note = h_.note(t)) {
      box.sql = note->sql;
      for (const StatementNote& statement : note->stmts)
        box.sql += (box.sql.empty() ? "" : "\n") + statement.sql +
                   (statement.error.empty() ? "" : "  -- fails: " + statement.error);
    }
    box.is_aborted = h_.status(t) == TxnStatus::Aborted;
    if (box.is_aborted) box.remark = "aborted";
    if (!h_.level(t).empty())
      box.remark += fmt::format("{}at {}", box.remark.empty() ? "" : ", ", printable(h_.level(t)));
    for (const EventId e : h_.events(t)) {
      if (!keys_.contains(h_.key(e)) || box.ops.size() == kMostOps) {
        ++box.left_out;
        continue;
      }
      ops_[e] = {scene_.boxes.size(), box.ops.size()};
      const bool is_list = h_.is_list(h_.key(e));
      SceneOp op{.is_read = h_.is_read(e),
                 .key = shown(h_, h_.key(e)),
                 .value = shown(h_, h_.value(e)),
                 .text = show_event(h_, e),
                 .where = h_.place(e).line == 0 ? "" : where(h_, e)};
      if (is_list && op.is_read) {
        op.value = "[";
        for (const Value v : h_.list(e))
          op.value += (op.value.size() > 1 ? " " : "") + shown(h_, v);
        op.value += "]";
      }
      if (op.is_read && !h_.writer(e).is_none()) op.writer_name = shown(h_, h_.writer(e));
      if (op.is_read && options_.remark) op.remark = options_.remark(e);
      if (violation_ != nullptr && violation_->fault)
        op.is_inexcusable = violation_->fault->read == e;
      box.ops.push_back(std::move(op));
    }
    boxes_[t] = scene_.boxes.size();
    scene_.boxes.push_back(std::move(box));
  }

  void resolve_writers() {
    for (const auto& [event, place] : ops_) {
      if (!h_.is_read(event) || h_.writer(event).is_none()) continue;
      const auto box = boxes_.find(h_.writer(event));
      if (box != boxes_.end()) scene_.boxes[place.first].ops[place.second].writer = box->second;
    }
  }

  // The steps of so, and wr.
  void add_facts() {
    std::map<SessionId, std::size_t> last;
    for (const TxnId t : txns_) {
      const std::size_t box = boxes_.at(t);
      const auto previous = last.find(h_.session(t));
      if (previous != last.end())
        scene_.edges.push_back({.from = previous->second, .to = box, .kind = EdgeKind::So});
      last[h_.session(t)] = box;
      for (const EventId e : h_.events(t)) {
        const auto op = ops_.find(e);
        if (op == ops_.end() || !h_.is_external_read(e) || h_.writer(e) == kInitialTxn) continue;
        const auto writer = boxes_.find(h_.writer(e));
        if (writer == boxes_.end()) continue;
        add({.from = h_.writer(e), .to = t, .kind = EdgeKind::Wr, .key = h_.key(e), .read = e},
            false);
      }
    }
  }

  void add_edges(const std::vector<Edge>& edges, bool in_cycle) {
    for (const Edge& edge : edges) add(edge, in_cycle);
    for (const Edge& edge : edges) add_edges(edge.path, false);
  }

  // The last write of the key that is drawn.
  std::size_t write_of(TxnId t, KeyId x) const {
    if (t == kInitialTxn) {
      const auto& ops = scene_.boxes[0].ops;
      const auto op = std::ranges::find(ops, shown(h_, x), &SceneOp::key);
      return op == ops.end() ? kNoIndex : static_cast<std::size_t>(op - ops.begin());
    }
    std::size_t found = kNoIndex;
    for (const EventId e : h_.events(t)) {
      const auto op = ops_.find(e);
      if (op != ops_.end() && h_.is_write(e) && h_.key(e) == x) found = op->second.second;
    }
    return found;
  }
  std::size_t op_of(EventId e) const {
    const auto op = ops_.find(e);
    return op == ops_.end() ? kNoIndex : op->second.second;
  }

  void add(const Edge& edge, bool in_cycle) {
    const auto from = boxes_.find(edge.from);
    const auto to = boxes_.find(edge.to);
    if (from == boxes_.end() || to == boxes_.end() || edge.from == edge.to) return;
    const std::string key = edge.key.is_none() ? "" : shown(h_, edge.key);
    const auto same = std::ranges::find_if(scene_.edges, [&](const SceneEdge& other) {
      return other.from == from->second && other.to == to->second && other.kind == edge.kind &&
             other.key == key;
    });
    if (same != scene_.edges.end()) {
      if (in_cycle) {
        same->in_cycle = true;
        same->why = why(h_, edge);
      }
      return;
    }
    SceneEdge result{.from = from->second,
                     .to = to->second,
                     .kind = edge.kind,
                     .key = key,
                     .why = why(h_, edge),
                     .in_cycle = in_cycle};
    if (!edge.key.is_none()) {
      const bool reads_first = edge.kind == EdgeKind::Rw;
      result.from_op = reads_first ? op_of(edge.read) : write_of(edge.from, edge.key);
      result.to_op = edge.kind == EdgeKind::Wr ? op_of(edge.read) : write_of(edge.to, edge.key);
    }
    scene_.edges.push_back(std::move(result));
  }

  const History& h_;
  const Violation* violation_;
  SceneOptions options_;
  Scene scene_ = {};
  std::vector<TxnId> txns_ = {};
  std::set<KeyId> keys_ = {};
  std::map<SessionId, std::size_t> lanes_ = {};
  std::map<TxnId, std::size_t> boxes_ = {};
  std::map<EventId, std::pair<std::size_t, std::size_t>> ops_ = {};  // box, operation
};

}  // namespace

Scene history_scene(const History& h, const Violation* violation, SceneOptions options) {
  return SceneMaker(h, violation, std::move(options)).make();
}

}  // namespace isoscope
