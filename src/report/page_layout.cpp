#include "report/page_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isoscope {

namespace {

constexpr double kMargin = 16;
constexpr double kLanePadding = 20;
constexpr double kLaneLetter = 7.5;
constexpr std::size_t kMostLaneLetters = 18;
// Of a schedule: from box to box in a lane, from a step to the next, and the height of a title.
constexpr double kStepGap = 22;
constexpr double kStepShift = 40;
constexpr double kSpanTitle = 16;

Point point_at(const EdgeShape& shape, double t) {
  const double s = 1 - t;
  const double a = s * s * s;
  const double b = 3 * s * s * t;
  const double c = 3 * s * t * t;
  const double d = t * t * t;
  const Point* p = shape.points;
  return {a * p[0].x + b * p[1].x + c * p[2].x + d * p[3].x,
          a * p[0].y + b * p[1].y + c * p[2].y + d * p[3].y};
}

class LayoutMaker {
 public:
  LayoutMaker(const Scene& scene, double top) : scene_(scene), top_(top) {}

  SceneLayout make() {
    if (scene_.is_schedule) {
      place_schedule();
    } else {
      place_columns();
      place_boxes();
    }
    for (const SceneEdge& edge : scene_.edges) out_.edges.push_back(shape_of(edge));
    for (std::size_t i = 0; i < out_.edges.size(); ++i) place_label(i);
    for (const EdgeShape& edge : out_.edges) {
      out_.width = std::max(out_.width, edge.label.right() + kMargin);
      for (const Point& p : edge.points) out_.width = std::max(out_.width, p.x + 4);
      out_.height = std::max(out_.height, edge.label.bottom() + 4);
    }
    for (Rectangle& lane : out_.lanes) lane.width = out_.width - lane.x - kMargin / 2;
    return std::move(out_);
  }

 private:
  // Longest path over so and wr; a cycle among them is cut where it is found.
  std::size_t column_by_facts(std::size_t box) {
    if (columns_[box] != kNoIndex) return columns_[box];
    columns_[box] = 1;
    std::size_t column = 1;
    for (const SceneEdge& edge : scene_.edges) {
      if (edge.to != box || edge.from == 0) continue;
      if (edge.kind != EdgeKind::So && edge.kind != EdgeKind::Wr) continue;
      column = std::max(column, column_by_facts(edge.from) + 1);
    }
    return columns_[box] = column;
  }

  void place_columns() {
    columns_.assign(scene_.boxes.size(), kNoIndex);
    if (columns_.empty()) return;
    columns_[0] = 0;
    if (!scene_.order.empty()) {
      for (std::size_t i = 0; i < scene_.order.size(); ++i) columns_[scene_.order[i]] = i + 1;
    }
    for (std::size_t box = 1; box < columns_.size(); ++box) (void)column_by_facts(box);
    // Two boxes of a lane never share a column, whatever a cut cycle says.
    for (std::size_t lane = 0; lane < scene_.lanes.size(); ++lane) {
      std::size_t next = 0;
      for (std::size_t box = 1; box < columns_.size(); ++box) {
        if (scene_.boxes[box].lane != lane || !scene_.order.empty()) continue;
        columns_[box] = std::max(columns_[box], next);
        next = columns_[box] + 1;
      }
    }
  }

  static double width_of(const SceneBox& box) {
    std::size_t letters = count_letters(fitted(box.name)) + 2;
    for (const std::string& line : lines_of(box))
      letters = std::max(letters, count_letters(fitted(line)));
    return static_cast<double>(letters) * SceneLayout::kLetter + 20;
  }
  static double height_of(const SceneBox& box) {
    return SceneLayout::kTitle + static_cast<double>(lines_of(box).size()) * SceneLayout::kRow + 8;
  }

  // Room between columns for the labels of edges.
  double gap() const {
    std::size_t letters = 6;
    for (const SceneEdge& edge : scene_.edges) {
      if (edge.kind != EdgeKind::So) letters = std::max(letters, count_letters(edge_label(edge)));
    }
    return static_cast<double>(letters) * SceneLayout::kLetter + 56;
  }

  void place_boxes() {
    const std::size_t num_columns = columns_.empty() ? 0 : *std::ranges::max_element(columns_) + 1;
    std::vector<double> widths(num_columns, 0);
    std::vector<double> heights(scene_.lanes.size(), 40);
    for (std::size_t i = 0; i < scene_.boxes.size(); ++i) {
      widths[columns_[i]] = std::max(widths[columns_[i]], width_of(scene_.boxes[i]));
      if (i > 0) {
        double& height = heights[scene_.boxes[i].lane];
        height = std::max(height, height_of(scene_.boxes[i]));
      }
    }
    const double first_x = place_lanes(heights);
    std::vector<double> xs(num_columns, first_x);
    for (std::size_t c = 1; c < num_columns; ++c) {
      // Without anything in T0 its column is not there.
      const bool is_empty = c == 1 && scene_.boxes[0].ops.empty();
      const bool is_free = c == 1 && std::ranges::none_of(scene_.edges, [](const SceneEdge& edge) {
                             return edge.from == 0 || edge.to == 0;
                           });
      // An edge between boxes of the first column may bulge to its left.
      const double room = is_free ? std::max(64.0, gap() - 40) : gap();
      xs[c] = is_empty ? first_x + 64 : xs[c - 1] + widths[c - 1] + room;
    }
    for (std::size_t i = 0; i < scene_.boxes.size(); ++i) {
      const SceneBox& box = scene_.boxes[i];
      Rectangle r{xs[columns_[i]], 0, widths[columns_[i]], height_of(box)};
      if (i == 0) {
        r = initial_rectangle(xs[0], out_.height);
      } else {
        const Rectangle& lane = out_.lanes[box.lane];
        r.y = lane.y + (lane.height - r.height) / 2;
      }
      out_.boxes.push_back(r);
      out_.width = std::max(out_.width, r.right() + 72);
    }
  }

  void place_schedule() {
    columns_.assign(scene_.boxes.size(), 0);
    std::vector<double> heights(scene_.lanes.size(), 40);
    for (std::size_t i = 1; i < scene_.boxes.size(); ++i) {
      columns_[i] = i;
      double& height = heights[scene_.boxes[i].lane];
      height = std::max(height, height_of(scene_.boxes[i]) + kSpanTitle);
    }
    const double first_x = place_lanes(heights);
    if (scene_.boxes.empty()) return;
    const Rectangle start = initial_rectangle(first_x, out_.height);
    out_.boxes.push_back(start);
    double x = start.width > 0 ? start.right() + kStepGap - kStepShift : first_x - kStepShift;
    std::vector<double> free_from(scene_.lanes.size(), 0);
    for (std::size_t i = 1; i < scene_.boxes.size(); ++i) {
      const SceneBox& box = scene_.boxes[i];
      x = std::max(x + kStepShift, free_from[box.lane]);
      const Rectangle& lane = out_.lanes[box.lane];
      out_.boxes.push_back({x, lane.y + kLanePadding + kSpanTitle, width_of(box), height_of(box)});
      free_from[box.lane] = out_.boxes.back().right() + kStepGap;
      out_.width = std::max(out_.width, out_.boxes.back().right() + kMargin * 2);
    }
    for (const SceneSpan& span : scene_.spans) {
      const Rectangle& lane = out_.lanes[scene_.boxes[span.first].lane];
      const double left = out_.boxes[span.first].x - 7;
      const double right = std::max(
          out_.boxes[span.last].right() + 7,
          left + static_cast<double>(count_letters(fitted(span.title))) * SceneLayout::kLetter);
      out_.spans.push_back({left, lane.y + 8, right - left, lane.height - 16});
      out_.width = std::max(out_.width, right + kMargin);
    }
  }

  // Returns where the first box may begin.
  double place_lanes(const std::vector<double>& heights) {
    std::size_t letters = 2;
    for (const std::string& lane : scene_.lanes)
      letters = std::max(letters, count_letters(fitted(lane, kMostLaneLetters)));
    double y = top_;
    for (const double height : heights) {
      out_.lanes.push_back({kMargin / 2, y, 0, height + 2 * kLanePadding});
      y += height + 2 * kLanePadding + 8;
    }
    out_.height = y;
    out_.top = top_;
    out_.lane_x = kMargin;
    return kMargin + static_cast<double>(letters) * kLaneLetter + 28;
  }

  // T0, as high as all lanes; of no size if it wrote nothing.
  Rectangle initial_rectangle(double x, double bottom) const {
    const SceneBox& box = scene_.boxes[0];
    Rectangle r{x, top_ + kLanePadding / 2, width_of(box), height_of(box)};
    r.height = std::max(r.height, bottom - 8 - top_ - kLanePadding);
    if (box.ops.empty()) r.width = r.height = 0;
    return r;
  }

  double anchor_y(std::size_t box, std::size_t op) const {
    const Rectangle& r = out_.boxes[box];
    if (op == kNoIndex || op >= scene_.boxes[box].ops.size()) return r.y + SceneLayout::kTitle / 2;
    const std::size_t row =
        op + (scene_.boxes[box].title.empty() ? 0 : 1) + scene_.boxes[box].code.size();
    return r.y + SceneLayout::kTitle + (static_cast<double>(row) + 0.5) * SceneLayout::kRow;
  }

  bool crosses_a_box(const EdgeShape& shape, const SceneEdge& edge) const {
    for (double t = 0.08; t < 0.95; t += 0.04) {
      const Point p = point_at(shape, t);
      for (std::size_t i = 0; i < out_.boxes.size(); ++i) {
        const bool is_end = i == edge.from || i == edge.to;
        if (!is_end && out_.boxes[i].meets({p.x - 1, p.y - 1, 2, 2})) return true;
      }
    }
    return false;
  }

  // How many edges before this one join the same two boxes, in either direction?
  std::size_t number_of(const SceneEdge& edge) const {
    std::size_t number = 0;
    for (const SceneEdge& other : scene_.edges) {
      if (&other == &edge) break;
      if ((other.from == edge.from && other.to == edge.to) ||
          (other.from == edge.to && other.to == edge.from))
        ++number;
    }
    return number;
  }

  EdgeShape shape_of(const SceneEdge& edge) const {
    const Rectangle& a = out_.boxes[edge.from];
    const Rectangle& b = out_.boxes[edge.to];
    if (scene_.is_schedule && edge.from != 0 && edge.to != 0) return between_lanes(edge);
    const double y1 = anchor_y(edge.from, edge.from_op);
    const double y2 = anchor_y(edge.to, edge.to_op);
    const std::size_t number = number_of(edge);
    if (columns_[edge.from] == columns_[edge.to]) {
      const std::size_t pair = number / 2;  // one of each lies on either side
      const double bulge = 46 + 14 * static_cast<double>(pair);
      if (number % 2 == 0) {
        const double x = std::max(a.right(), b.right()) + bulge;
        return {.points = {{a.right(), y1}, {x, y1}, {x, y2}, {b.right(), y2}}};
      }
      const double x = std::min(a.x, b.x) - bulge;
      return {.points = {{a.x, y1}, {x, y1}, {x, y2}, {b.x, y2}}};
    }
    const bool is_forward = columns_[edge.from] < columns_[edge.to];
    const double x1 = is_forward ? a.right() : a.x;
    const double x2 = is_forward ? b.x : b.right();
    const double bend = std::max(36.0, std::abs(x2 - x1) * 0.45) * (is_forward ? 1 : -1);
    // From the T0 that is as high as all lanes, an edge starts at the height of its end.
    const double from_y = edge.from == 0 && edge.from_op == kNoIndex ? y2 : y1;
    EdgeShape shape{.points = {{x1, from_y}, {x1 + bend, from_y}, {x2 - bend, y2}, {x2, y2}}};
    if (!crosses_a_box(shape, edge)) return shape;
    // Over or under what is in the way.
    for (const double lift : {-1.0, 1.0}) {
      const double edge_y1 = lift < 0 ? a.y : a.bottom();
      const double edge_y2 = lift < 0 ? b.y : b.bottom();
      const double far =
          lift < 0 ? std::min(edge_y1, edge_y2) - 34 : std::max(edge_y1, edge_y2) + 34;
      const EdgeShape arch{.points = {{a.x + a.width * 0.6, edge_y1},
                                      {a.x + a.width * 0.6, far},
                                      {b.x + b.width * 0.4, far},
                                      {b.x + b.width * 0.4, edge_y2}}};
      if (edge.from != 0 && edge.to != 0 && far > top_ - 12 && !crosses_a_box(arch, edge))
        return arch;
    }
    return shape;
  }

  // From the bottom of the upper box to the top of the lower one, or the other way round; between
  // boxes of one lane, above them.
  EdgeShape between_lanes(const SceneEdge& edge) const {
    const Rectangle& a = out_.boxes[edge.from];
    const Rectangle& b = out_.boxes[edge.to];
    const std::size_t lane_a = scene_.boxes[edge.from].lane;
    const std::size_t lane_b = scene_.boxes[edge.to].lane;
    const bool is_down = lane_a < lane_b;
    const double y1 = is_down ? a.bottom() : a.y;
    const double y2 = lane_a == lane_b || is_down ? b.y : b.bottom();
    const double shift = 0.14 * static_cast<double>(number_of(edge) % 4);
    EdgeShape first = {};
    for (const double at : {0.5, 0.25, 0.75}) {
      for (const double to : {0.5, 0.25, 0.75}) {
        const double x1 = a.x + a.width * std::min(at + shift, 0.94);
        const double x2 = b.x + b.width * std::min(to + shift, 0.94);
        const double bend = lane_a == lane_b ? -48 : (y2 - y1) * 0.5;
        const double bend_b = lane_a == lane_b ? 48 : bend;
        const EdgeShape shape{.points = {{x1, y1}, {x1, y1 + bend}, {x2, y2 - bend_b}, {x2, y2}}};
        if (first.points[3].y == 0) first = shape;
        if (!crosses_a_box(shape, edge)) return shape;
      }
    }
    return first;
  }

  void place_label(std::size_t index) {
    const SceneEdge& edge = scene_.edges[index];
    EdgeShape& shape = out_.edges[index];
    if (edge.kind == EdgeKind::So && !edge.in_cycle) return;
    const double width = static_cast<double>(count_letters(edge_label(edge))) * 6.7 + 12;
    const auto at = [&](double t, double dy) {
      const Point p = point_at(shape, t);
      return Rectangle{p.x - width / 2, p.y - 9 + dy, width, 18};
    };
    const auto is_free = [&](const Rectangle& r, bool with_boxes) {
      for (std::size_t i = 0; i < out_.edges.size(); ++i) {
        if (i != index && out_.edges[i].label.width > 0 && out_.edges[i].label.meets(r))
          return false;
      }
      return !with_boxes ||
             std::ranges::none_of(out_.boxes, [&](const Rectangle& box) { return box.meets(r); });
    };
    for (const bool with_boxes : {true, false}) {
      for (const double dy : {0.0, -10.0, 10.0, -20.0, 20.0}) {
        for (const double t : {0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82}) {
          const Rectangle r = at(t, dy);
          if (r.x < 2 || !is_free(r, with_boxes)) continue;
          shape.label = r;
          return;
        }
      }
    }
    shape.label = at(0.5, 0);
  }

  const Scene& scene_;
  double top_;
  std::vector<std::size_t> columns_;  // by box
  SceneLayout out_;
};

}  // namespace

SceneLayout layout_of(const Scene& scene, double top) { return LayoutMaker(scene, top).make(); }

std::size_t count_letters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string fitted(std::string_view text, std::size_t letters) {
  if (count_letters(text) <= letters) return std::string(text);
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    const bool is_start = (static_cast<unsigned char>(text[end]) & 0xc0U) != 0x80U;
    if (is_start && ++seen == letters) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t letters) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string word = fitted(text.substr(0, end), letters);
    if (!line.empty() && count_letters(line) + count_letters(word) + 1 > letters) {
      lines.push_back(std::move(line));
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string edge_label(const SceneEdge& edge) {
  const std::string kind(name_of(edge.kind));
  return edge.key.empty() ? kind : fmt::format("{} {}", kind, fitted(edge.key, 24));
}

std::string op_label(const SceneOp& op) {
  return op.remark.empty() ? op.text : fmt::format("{}  {}", op.text, op.remark);
}

std::vector<std::string> lines_of(const SceneBox& box) {
  std::vector<std::string> lines;
  if (!box.title.empty()) lines.push_back(box.title);
  lines.insert(lines.end(), box.code.begin(), box.code.end());
  for (const SceneOp& op : box.ops) lines.push_back(op_label(op));
  if (box.left_out > 0) lines.push_back(fmt::format("… {} more", box.left_out));
  if (!box.remark.empty()) lines.push_back(box.remark);
  return lines;
}

}  // namespace isoscope
