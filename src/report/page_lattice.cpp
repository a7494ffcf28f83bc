#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "report/markup.h"
#include "report/page_layout.h"
#include "report/svg_parts.h"

namespace isoscope {

namespace {

// Levels in rows, each above what it implies; arrows bend around the levels of the rows between.
//
// Paper  [SugiyamaTagawaToda-SMC'81]: rows by longest path, points of the way in rows that an arrow
//        passes, rows sorted by the mean of their neighbours in turn.
class LatticePicture {
 public:
  LatticePicture(const Lattice& lattice, SvgUse use)
      : lattice_(lattice), use_(use), top_(use == SvgUse::Alone ? 60 : 20) {
    fill_rows();
    for (int round = 0; round < 12; ++round) sort_rows(round % 2 == 0);
    place();
    place_labels();
  }

  std::string draw() const {
    const double height = top_ + static_cast<double>(rows_.size()) * kStep + 20;
    std::string out = open_svg(width_, height, "how the levels relate", use_);
    out +=
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" "
        "markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 8 4 0 "
        "8z\" class=\"tip\"/></marker></defs>\n";
    if (use_ == SvgUse::Alone) out += svg_text(16, 28, "title", "How the levels relate");
    for (std::size_t i = 0; i < lattice_.arrows.size(); ++i) out += line(i);
    for (std::size_t i = 0; i < lattice_.arrows.size(); ++i) out += label(i);
    for (std::size_t i = 0; i < lattice_.nodes.size(); ++i) out += node(i);
    out += svg_text(16, height - 40, "legend",
                    "An arrow leads to the next stronger level, which forbids what it names.");
    out += svg_text(16, height - 22, "legend",
                    "Solid arrows and = : proved for every history. Dashed arrows and ~ : no "
                    "proof, only searched.");
    return out + "</svg>\n";
  }

 private:
  static constexpr double kStep = 104;
  static constexpr double kGap = 46;
  static constexpr double kMargin = 24;
  static constexpr double kBox = 34;

  static double width_of(const std::string& node) {
    return static_cast<double>(count_letters(node)) * 8 + 28;
  }

  // A node, or a point that an arrow passes.
  struct Item {
    std::size_t row = 0;
    double width = 10;
    double x = 0;  // of its middle
    std::vector<std::size_t> above = {};
    std::vector<std::size_t> below = {};
  };
  struct Label {
    double x = 0;
    double y = 0;
    double width = 0;
    std::string text = {};
  };

  // The row of a node: how many arrows at most lead up to the strongest above it.
  void fill_rows() {
    const std::size_t n = lattice_.nodes.size();
    std::vector<std::size_t> depth(n, 0);
    for (std::size_t round = 0; round < n; ++round) {
      for (const Lattice::Arrow& arrow : lattice_.arrows)
        depth[arrow.weaker] = std::max(depth[arrow.weaker], depth[arrow.stronger] + 1);
    }
    for (std::size_t i = 0; i < n; ++i)
      items_.push_back({.row = depth[i], .width = width_of(lattice_.nodes[i])});
    for (const Lattice::Arrow& arrow : lattice_.arrows) {
      std::vector<std::size_t> way = {arrow.weaker};
      for (std::size_t row = depth[arrow.weaker]; --row > depth[arrow.stronger];) {
        way.push_back(items_.size());
        items_.push_back({.row = row});
      }
      way.push_back(arrow.stronger);
      for (std::size_t k = 0; k + 1 < way.size(); ++k) {
        items_[way[k]].above.push_back(way[k + 1]);
        items_[way[k + 1]].below.push_back(way[k]);
      }
      ways_.push_back(std::move(way));
    }
    rows_.resize(n == 0 ? 0 : *std::ranges::max_element(depth) + 1);
    for (std::size_t i = 0; i < items_.size(); ++i) rows_[items_[i].row].push_back(i);
    for (const auto& row : rows_) spread(row);
  }

  // Side by side, around a middle of 0.
  void spread(const std::vector<std::size_t>& row) {
    double all = -kGap;
    for (const std::size_t i : row) all += items_[i].width + kGap;
    double x = -all / 2;
    for (const std::size_t i : row) {
      items_[i].x = x + items_[i].width / 2;
      x += items_[i].width + kGap;
    }
  }

  void sort_rows(bool downwards) {
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      auto& row = rows_[downwards ? k : rows_.size() - 1 - k];
      std::map<std::size_t, double> wanted;
      for (const std::size_t i : row) {
        const auto& near = downwards ? items_[i].above : items_[i].below;
        double sum = 0;
        for (const std::size_t other : near) sum += items_[other].x;
        wanted[i] = near.empty() ? items_[i].x : sum / static_cast<double>(near.size());
      }
      std::ranges::stable_sort(row,
                               [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
      spread(row);
    }
  }

  void place() {
    double half = 320 - kMargin;  // the rows have their middle at 0; the widest one decides
    for (const Item& item : items_) half = std::max(half, std::abs(item.x) + item.width / 2);
    width_ = 2 * (half + kMargin);
    for (Item& item : items_) item.x += width_ / 2;
  }

  double top_of(std::size_t item) const {
    return top_ + static_cast<double>(items_[item].row) * kStep;
  }
  // Where an arrow passes a row, or meets the box of a level.
  std::pair<double, double> corner(std::size_t item, bool from_below) const {
    const bool is_point = item >= lattice_.nodes.size();
    const double y = is_point ? top_of(item) + kBox / 2 : top_of(item) + (from_below ? kBox : 0);
    return {items_[item].x, y};
  }

  std::string line(std::size_t i) const {
    const auto& way = ways_[i];
    std::string path;
    for (std::size_t k = 0; k < way.size(); ++k) {
      const auto [x, y] = corner(way[k], k + 1 == way.size());
      path += fmt::format("{}{:.1f} {:.1f}", k == 0 ? "M" : " L", x, y);
    }
    return fmt::format("<path class=\"arrow\" d=\"{}\"{} marker-end=\"url(#tip)\"/>\n", path,
                       lattice_.arrows[i].is_proved ? "" : " stroke-dasharray=\"6 4\"");
  }

  // On the first step of its arrow, where no other label is yet: 0.28 of it are as high as one.
  void place_labels() {
    for (std::size_t i = 0; i < lattice_.arrows.size(); ++i) {
      const Lattice::Arrow& arrow = lattice_.arrows[i];
      Label label;
      label.text = fitted(!arrow.is_known       ? "not known to differ"
                          : arrow.label.empty() ? "separated"
                                                : arrow.label,
                          28);
      label.width = static_cast<double>(count_letters(label.text)) * 6.7 + 14;
      const auto [x1, y1] = corner(ways_[i][0], false);
      const auto [x2, y2] = corner(ways_[i][1], ways_[i].size() == 2);
      for (const double t : {0.5, 0.22, 0.78, 0.36, 0.64}) {
        label.x = x1 + (x2 - x1) * t;
        label.y = y1 + (y2 - y1) * t;
        const bool is_free = std::ranges::none_of(labels_, [&](const Label& other) {
          return std::abs(other.x - label.x) < (other.width + label.width) / 2 + 2 &&
                 std::abs(other.y - label.y) < 19;
        });
        if (is_free) break;
      }
      labels_.push_back(std::move(label));
    }
  }

  std::string label(std::size_t i) const {
    const Lattice::Arrow& arrow = lattice_.arrows[i];
    std::string attributes;
    if (use_ == SvgUse::InPage) {
      attributes = " tabindex=\"0\" role=\"button\"";
      if (arrow.scene != kNoIndex) attributes += fmt::format(" data-scene=\"{}\"", arrow.scene + 1);
    }
    return fmt::format("<g class=\"edge lattice\" id=\"arrow{}\"{}><title>{}</title>\n", i,
                       attributes, markup(arrow.why)) +
           svg_pill(labels_[i].x, labels_[i].y, labels_[i].width, "label rw", labels_[i].text) +
           "</g>\n";
  }

  std::string node(std::size_t i) const {
    const Item& item = items_[i];
    return fmt::format(
               "<rect class=\"node\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
               "rx=\"8\"/>\n",
               item.x - item.width / 2, top_of(i), item.width, kBox) +
           svg_text(item.x, top_of(i) + 22, "name", lattice_.nodes[i], " text-anchor=\"middle\"");
  }

  const Lattice& lattice_;
  SvgUse use_;
  double top_;
  double width_ = 640;
  std::vector<Item> items_ = {};                     // the nodes, then the points of arrows
  std::vector<std::vector<std::size_t>> ways_ = {};  // by arrow, from the weaker level up
  std::vector<std::vector<std::size_t>> rows_ = {};
  std::vector<Label> labels_ = {};
};

}  // namespace

std::string lattice_svg(const Lattice& lattice, SvgUse use) {
  return LatticePicture(lattice, use).draw();
}

}  // namespace isoscope
