#include <fmt/format.h>

#include <algorithm>

#include "report/markup.h"
#include "report/page_layout.h"
#include "report/svg_parts.h"

namespace isoscope {

namespace {

class LatticePicture {
 public:
  LatticePicture(const Lattice& lattice, SvgUse use)
      : lattice_(lattice), use_(use), top_(use == SvgUse::Alone ? 60 : 20) {
    place();
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

  static double width_of(const std::string& node) {
    return static_cast<double>(count_letters(node)) * 8 + 28;
  }

  // The row of a node: how many arrows at most lead up to the strongest above it.
  void place() {
    const std::size_t n = lattice_.nodes.size();
    std::vector<std::size_t> depth(n, 0);
    for (std::size_t round = 0; round < n; ++round) {
      for (const Lattice::Arrow& arrow : lattice_.arrows)
        depth[arrow.weaker] = std::max(depth[arrow.weaker], depth[arrow.stronger] + 1);
    }
    rows_.resize(n == 0 ? 0 : *std::ranges::max_element(depth) + 1);
    for (std::size_t i = 0; i < n; ++i) rows_[depth[i]].push_back(i);
    for (const auto& row : rows_) {
      double all = 40;
      for (const std::size_t i : row) all += width_of(lattice_.nodes[i]) + 110;
      width_ = std::max(width_, all);
    }
    places_.resize(n);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const double slot = width_ / static_cast<double>(rows_[r].size());
      for (std::size_t k = 0; k < rows_[r].size(); ++k) {
        const double width = width_of(lattice_.nodes[rows_[r][k]]);
        places_[rows_[r][k]] = {slot * (static_cast<double>(k) + 0.5) - width / 2,
                                top_ + static_cast<double>(r) * kStep, width, 34};
      }
    }
  }

  std::string line(std::size_t i) const {
    const Lattice::Arrow& arrow = lattice_.arrows[i];
    const Rectangle& a = places_[arrow.weaker];
    const Rectangle& b = places_[arrow.stronger];
    return fmt::format(
        "<path class=\"arrow\" d=\"M{:.1f} {:.1f} L{:.1f} {:.1f}\"{} marker-end=\"url(#tip)\"/>\n",
        a.x + a.width / 2, a.y, b.x + b.width / 2, b.bottom(),
        arrow.is_proved ? "" : " stroke-dasharray=\"6 4\"");
  }

  std::string label(std::size_t i) const {
    const Lattice::Arrow& arrow = lattice_.arrows[i];
    const Rectangle& a = places_[arrow.weaker];
    const Rectangle& b = places_[arrow.stronger];
    const std::string text = fitted(!arrow.is_known       ? "not known to differ"
                                    : arrow.label.empty() ? "separated"
                                                          : arrow.label,
                                    28);
    // Labels of neighbouring arrows at different heights, so that they do not meet.
    const double t = i % 2 == 0 ? 0.4 : 0.62;
    const double x1 = a.x + a.width / 2;
    const double x2 = b.x + b.width / 2;
    std::string attributes;
    if (use_ == SvgUse::InPage) {
      attributes = " tabindex=\"0\" role=\"button\"";
      if (arrow.scene != kNoIndex) attributes += fmt::format(" data-scene=\"{}\"", arrow.scene + 1);
    }
    return fmt::format("<g class=\"edge lattice\" id=\"arrow{}\"{}><title>{}</title>\n", i,
                       attributes, markup(arrow.why)) +
           svg_pill(x1 + (x2 - x1) * t, a.y + (b.bottom() - a.y) * t,
                    static_cast<double>(count_letters(text)) * 6.7 + 14, "label rw", text) +
           "</g>\n";
  }

  std::string node(std::size_t i) const {
    const Rectangle& r = places_[i];
    return fmt::format(
               "<rect class=\"node\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
               "rx=\"8\"/>\n",
               r.x, r.y, r.width, r.height) +
           svg_text(r.x + r.width / 2, r.y + 22, "name", lattice_.nodes[i],
                    " text-anchor=\"middle\"");
  }

  const Lattice& lattice_;
  SvgUse use_;
  double top_;
  double width_ = 640;
  std::vector<std::vector<std::size_t>> rows_ = {};
  std::vector<Rectangle> places_ = {};
};

}  // namespace

std::string lattice_svg(const Lattice& lattice, SvgUse use) {
  return LatticePicture(lattice, use).draw();
}

}  // namespace isoscope
