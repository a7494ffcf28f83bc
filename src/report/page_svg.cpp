#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/markup.h"
#include "report/page_layout.h"
#include "report/page_writers.h"
#include "report/plural.h"
#include "report/svg_parts.h"

namespace isoscope {

namespace {

constexpr double kLegendLetter = 6.4;

struct KindWords {
  EdgeKind kind;
  const char* dashes;  // so that kinds differ without colour, too
  const char* words;
};
constexpr std::array<KindWords, 8> kKindWords = {{
    {EdgeKind::So, "", "before it in the same session"},
    {EdgeKind::Wr, "", "the other reads what it wrote"},
    {EdgeKind::Ww, "9 4", "the other overwrites what it wrote"},
    {EdgeKind::Rw, "2 3", "it reads a version that the other overwrites"},
    {EdgeKind::Co, "6 3 2 3", "must commit before the other"},
    {EdgeKind::Vis, "1 3", "is visible to the other"},
    {EdgeKind::Ar, "6 3 2 3", "takes effect before the other"},
    {EdgeKind::Rt, "", "ended before the other began"},
}};

const KindWords& words_of(EdgeKind kind) {
  return *std::ranges::find(kKindWords, kind, &KindWords::kind);
}

// var(--ink) by its colour; viewers other than browsers know no variables.
std::string with_colours(std::string_view css, bool dark) {
  std::string out(css);
  for (const Colour& colour : palette()) {
    const std::string variable = fmt::format("var(--{})", colour.name);
    for (std::size_t at = out.find(variable); at != std::string::npos; at = out.find(variable, at))
      out.replace(at, variable.size(), dark ? colour.dark : colour.light);
  }
  return out;
}

// The rules that name a colour, for the dark scheme.
std::string alone_style() {
  return fmt::format("<style>{}@media (prefers-color-scheme: dark) {{\n{}}}\n</style>\n",
                     with_colours(picture_css(), false), with_colours(picture_css(), true));
}

std::string markers(std::string_view prefix) {
  std::string out = "<defs>\n";
  for (const KindWords& kind : kKindWords)
    out += fmt::format(
        "<marker id=\"{0}-{1}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" "
        "markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 8 4 0 "
        "8z\" "
        "class=\"head {1}\"/></marker>\n",
        prefix, name_of(kind.kind));
  return out + "</defs>\n";
}

class ScenePicture {
 public:
  ScenePicture(const Scene& scene, std::size_t number, SvgUse use)
      : scene_(scene), prefix_(fmt::format("s{}", number)), use_(use) {
    // Alone, the picture says itself what it shows; the page has that in its own text.
    if (use == SvgUse::Alone) {
      sentence_ = wrapped(scene.sentence, 92);
      top_ = 52 + 19 * static_cast<double>(sentence_.size());
    }
    layout_ = layout_of(scene, top_);
    const double end_of_time =
        time_x() + 6.2 * static_cast<double>(count_letters(time_text())) + 16;
    layout_.width = std::max({layout_.width, use == SvgUse::Alone ? 720.0 : 360.0, end_of_time});
  }

  std::string draw() const {
    const std::vector<std::string> rows = legend_rows();
    const double legend_y = layout_.height + 26;
    const double height = legend_y + 20 * static_cast<double>(rows.size()) + 10;
    std::string out = open_svg(layout_.width, height, scene_.title, use_) + markers(prefix_);
    if (use_ == SvgUse::Alone) {
      out += svg_text(16, 26, "title", fitted(scene_.title, 90));
      for (std::size_t i = 0; i < sentence_.size(); ++i)
        out += svg_text(16, 46 + 19 * static_cast<double>(i), "sentence", sentence_[i]);
    }
    out += svg_text(layout_.lane_x, top_ - 10, "small", "session");
    out += svg_text(time_x(), top_ - 10, "small", time_text());
    for (std::size_t i = 0; i < layout_.lanes.size(); ++i) out += lane(i);
    for (std::size_t i = 0; i < layout_.spans.size(); ++i) out += span(i);
    for (std::size_t i = 0; i < scene_.boxes.size(); ++i) {
      if (scene_.boxes[i].goes_on != kNoIndex) out += wait(i);
    }
    for (std::size_t i = 0; i < scene_.boxes.size(); ++i) {
      if (i > 0 || !scene_.boxes[0].ops.empty()) out += box(i);
    }
    for (const bool in_cycle : {false, true}) {
      for (std::size_t i = 0; i < scene_.edges.size(); ++i) {
        if (scene_.edges[i].in_cycle == in_cycle) out += line(i);
      }
    }
    // Above all lines, so that none crosses a label.
    for (std::size_t i = 0; i < scene_.edges.size(); ++i) {
      if (layout_.edges[i].label.width > 0) out += label(i);
    }
    double y = legend_y;
    for (const std::string& row : rows) {
      out += fmt::format("<g transform=\"translate(16 {:.0f})\">{}</g>\n", y, row);
      y += 20;
    }
    return out + "</svg>\n";
  }

 private:
  double time_x() const {
    return layout_.boxes.empty() ? 90.0 : std::max(90.0, layout_.boxes[0].x);
  }
  std::string time_text() const { return fmt::format("time →  {}", scene_.time); }

  std::string lane(std::size_t i) const {
    const Rectangle& r = layout_.lanes[i];
    return fmt::format(
               "<rect class=\"lane\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
               "rx=\"6\"/>\n",
               r.x, r.y, std::max(r.width, layout_.width - r.x - 8), r.height) +
           svg_text(layout_.lane_x, r.y + r.height / 2 + 4, "lane-name",
                    fitted(scene_.lanes[i], 18));
  }

  std::string span(std::size_t i) const {
    const Rectangle& r = layout_.spans[i];
    return fmt::format(
               "<rect class=\"span{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
               "height=\"{:.1f}\" rx=\"9\"/>\n",
               scene_.spans[i].is_aborted ? " aborted" : "", r.x, r.y, r.width, r.height) +
           svg_text(r.x + 8, r.y + 18, "call", fitted(scene_.spans[i].title));
  }

  // From where a statement waits to where it goes on.
  std::string wait(std::size_t i) const {
    const Rectangle& from = layout_.boxes[i];
    const Rectangle& to = layout_.boxes[scene_.boxes[i].goes_on];
    return fmt::format("<path class=\"wait\" d=\"M{:.1f} {:.1f} H{:.1f}\"/>\n", from.right(),
                       from.y + SceneLayout::kTitle / 2, to.x);
  }

  // What hovering or a screen reader tells about the box.
  std::string about(const SceneBox& box, std::size_t i) const {
    std::string out = i == 0 ? "T0, the initial state" : box.name;
    if (!box.title.empty()) out += ": " + box.title;
    if (i > 0) out += ", session " + scene_.lanes[box.lane];
    if (!box.where.empty()) out += ", " + box.where;
    for (const SceneOp& op : box.ops)
      out += fmt::format("\n{}{}{}", op_label(op),
                         op.is_read && !op.writer_name.empty() ? " from " + op.writer_name : "",
                         op.where.empty() ? "" : ", " + op.where);
    if (!box.remark.empty()) out += "\n" + box.remark;
    return box.sql.empty() ? out : out + "\n" + box.sql;
  }

  std::string box(std::size_t i) const {
    const SceneBox& box = scene_.boxes[i];
    const Rectangle& r = layout_.boxes[i];
    std::string out = fmt::format(
        "<g class=\"box{}{}{}{}\" id=\"{}b{}\"{}><title>{}</title>\n<rect class=\"frame\" "
        "x=\"{:.1f}\" "
        "y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"7\"/>\n",
        i == 0 ? " initial" : "", box.is_aborted ? " aborted" : "", box.is_faint ? " faint" : "",
        box.is_waiting ? " waiting" : "", prefix_, i,
        use_ == SvgUse::InPage ? " tabindex=\"0\"" : "", markup(about(box, i)), r.x, r.y, r.width,
        r.height);
    out += svg_text(r.x + 10, r.y + 16, "name", fitted(i == 0 ? "T0" : box.name));
    double y = r.y + SceneLayout::kTitle;
    const auto line = [&](std::string_view css, std::string_view text, std::string_view id = "") {
      const std::string more = id.empty() ? "" : fmt::format(" id=\"{}\"", id);
      out += svg_text(r.x + 10, y + 13, css, fitted(text), more);
      y += SceneLayout::kRow;
    };
    if (!box.title.empty()) line("call", box.title);
    for (const std::string& code : box.code) line("op", code);
    for (std::size_t op = 0; op < box.ops.size(); ++op)
      line(box.ops[op].is_inexcusable    ? "op wrong"
           : !box.ops[op].remark.empty() ? "op changed"
                                         : "op",
           op_label(box.ops[op]), fmt::format("{}b{}o{}", prefix_, i, op));
    if (box.left_out > 0) line("remark", fmt::format("… {} more", box.left_out));
    if (!box.remark.empty()) line("remark", box.remark);
    return out + "</g>\n";
  }

  std::string about(const SceneEdge& edge) const {
    return fmt::format("{} {} {}{}{}", scene_.boxes[edge.from].name, edge_label(edge),
                       scene_.boxes[edge.to].name, edge.why.empty() ? "" : ": ", edge.why);
  }

  std::string line(std::size_t i) const {
    const SceneEdge& edge = scene_.edges[i];
    const Point* p = layout_.edges[i].points;
    const char* dashes = words_of(edge.kind).dashes;
    return fmt::format(
        "<path class=\"line {0}{1}\" id=\"{2}e{3}line\" d=\"M{4:.1f} {5:.1f} C{6:.1f} {7:.1f} "
        "{8:.1f} {9:.1f} {10:.1f} {11:.1f}\"{12} "
        "marker-end=\"url(#{2}-{0})\"><title>{13}</title></path>\n",
        name_of(edge.kind), edge.in_cycle ? " cycle" : "", prefix_, i, p[0].x, p[0].y, p[1].x,
        p[1].y, p[2].x, p[2].y, p[3].x, p[3].y,
        *dashes == '\0' ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes),
        markup(about(edge)));
  }

  std::string label(std::size_t i) const {
    const SceneEdge& edge = scene_.edges[i];
    const Rectangle& r = layout_.edges[i].label;
    const std::string_view kind = name_of(edge.kind);
    return fmt::format("<g class=\"edge {}{}\" id=\"{}e{}\"{}><title>{}</title>\n", kind,
                       edge.in_cycle ? " cycle" : "", prefix_, i,
                       use_ == SvgUse::InPage ? " tabindex=\"0\"" : "", markup(about(edge))) +
           svg_pill(r.x + r.width / 2, r.y + r.height / 2, r.width, fmt::format("label {}", kind),
                    edge_label(edge)) +
           "</g>\n";
  }

  std::vector<std::string> legend_rows() const {
    std::vector<std::string> rows;
    for (const KindWords& kind : kKindWords) {
      const bool is_used = std::ranges::any_of(
          scene_.edges, [&](const SceneEdge& edge) { return edge.kind == kind.kind; });
      if (!is_used) continue;
      rows.push_back(fmt::format(
          "<path class=\"line {0}\" d=\"M0 -4 H34\"{1} marker-end=\"url(#{2}-{0})\"/>"
          "<text x=\"44\" y=\"0\" class=\"legend\">{0}: {3}</text>",
          name_of(kind.kind),
          *kind.dashes == '\0' ? "" : fmt::format(" stroke-dasharray=\"{}\"", kind.dashes), prefix_,
          kind.words));
    }
    const auto words = [&](const std::string& text) {
      rows.push_back(fmt::format("<text x=\"0\" y=\"0\" class=\"legend\">{}</text>", markup(text)));
    };
    std::string further;
    const auto add = [&](std::string_view text) {
      further += (further.empty() ? "" : "; ") + std::string(text);
    };
    if (std::ranges::any_of(scene_.edges, &SceneEdge::in_cycle))
      add("thick: the edges that no order can satisfy");
    if (!scene_.boxes.empty() && !scene_.boxes[0].ops.empty()) add("T0: the initial state");
    if (std::ranges::any_of(scene_.boxes, &SceneBox::is_aborted)) add("dashed box: aborted");
    if (std::ranges::any_of(scene_.boxes, &SceneBox::is_waiting))
      add("hatched line: waits for a lock");
    if (scene_.is_schedule) add("numbers: the order of the steps");
    if (scene_.left_out > 0)
      add(fmt::format("{} not drawn", plural(scene_.left_out, "further transaction is",
                                             "further transactions are")));
    const auto letters = static_cast<std::size_t>((layout_.width - 32) / kLegendLetter);
    for (const std::string& line : wrapped(further, letters)) words(line);
    return rows;
  }

  const Scene& scene_;
  std::string prefix_;
  SvgUse use_;
  double top_ = 30;
  std::vector<std::string> sentence_ = {};
  SceneLayout layout_ = {};
};

std::string words_only(std::string_view title, std::string_view text) {
  const auto lines = wrapped(text, 88);
  const double height = 60 + 20 * static_cast<double>(lines.size());
  std::string out = open_svg(720, height, title, SvgUse::Alone);
  out += svg_text(16, 28, "title", fitted(title, 88));
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += svg_text(16, 54 + 20 * static_cast<double>(i), "sentence", lines[i]);
  return out + "</svg>\n";
}

}  // namespace

std::string open_svg(double width, double height, std::string_view name, SvgUse use) {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"{2}\" aria-label=\"{3}\" class=\"picture\">\n",
      width, height, use == SvgUse::Alone ? "img" : "group", markup(name));
  if (use == SvgUse::Alone)
    out += fmt::format(
        "<title>{}</title>\n{}<rect class=\"paper\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n",
        markup(name), alone_style(), width, height);
  return out;
}

std::string svg_text(double x, double y, std::string_view css, std::string_view text,
                     std::string_view more) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\"{}>{}</text>\n", x, y, css, more,
                     markup(text));
}

std::string svg_pill(double x, double y, double width, std::string_view css,
                     std::string_view text) {
  return fmt::format(
             "<rect class=\"pill\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"18\" "
             "rx=\"9\"/>\n",
             x - width / 2, y - 9, width) +
         svg_text(x, y + 4, css, text, " text-anchor=\"middle\"");
}

std::string_view meaning_of(EdgeKind kind) { return words_of(kind).words; }

const std::vector<Colour>& palette() {
  static const std::vector<Colour> colours = {
      {"paper", "#ffffff", "#0d1117"}, {"ink", "#1f2328", "#e6edf3"},
      {"faint", "#59636e", "#9da7b3"}, {"rule", "#c4ccd4", "#3d444d"},
      {"lane", "#f3f5f8", "#161b22"},  {"frame", "#57606a", "#7d8590"},
      {"box", "#ffffff", "#0d1117"},   {"so", "#59636e", "#9da7b3"},
      {"wr", "#116329", "#56d364"},    {"ww", "#0550ae", "#79c0ff"},
      {"rw", "#b3141f", "#ff9492"},    {"co", "#7d4e00", "#e3b341"},
      {"mark", "#fff3b0", "#4b3a00"},  {"good", "#116329", "#56d364"},
      {"bad", "#b3141f", "#ff9492"},   {"link", "#0550ae", "#79c0ff"},
  };
  return colours;
}

std::string_view picture_css() {
  return R"css(
.picture text { font-family: ui-sans-serif, system-ui, "Helvetica Neue", Arial, sans-serif; font-size: 12px; fill: var(--ink); }
.picture .title { font-size: 16px; font-weight: 600; }
.picture .sentence { font-size: 13.5px; }
.picture .small, .picture .remark, .picture .legend { font-size: 11.5px; fill: var(--faint); }
.picture .op, .picture .label, .picture .call { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.picture .call { font-size: 11.5px; fill: var(--faint); }
.picture .label { font-size: 11px; font-weight: 600; }
.picture .name, .picture .lane-name { font-weight: 600; }
.picture .wrong, .picture .changed { fill: var(--bad); font-weight: 600; }
.picture .paper { fill: var(--paper); }
.picture .lane { fill: var(--lane); }
.picture .frame { fill: var(--box); stroke: var(--frame); stroke-width: 1.2; }
.picture .initial .frame { fill: var(--lane); stroke-dasharray: 1 0; }
.picture .aborted .frame { stroke-dasharray: 5 4; }
.picture .faint .frame { stroke: var(--rule); }
.picture .span { fill: none; stroke: var(--rule); stroke-width: 1; }
.picture .span.aborted { stroke-dasharray: 5 4; }
.picture .waiting .frame { stroke: var(--co); stroke-dasharray: 2 3; }
.picture .waiting .remark { fill: var(--co); }
.picture .wait { fill: none; stroke: var(--co); stroke-width: 8; stroke-dasharray: 2 4; }
.picture .line { fill: none; stroke-width: 1.2; }
.picture .line.cycle { stroke-width: 2.8; }
.picture .pill { fill: var(--paper); stroke: var(--rule); stroke-width: 0.8; }
.picture .line.rt { stroke: var(--so); } .picture .head.rt, .picture .label.rt { fill: var(--so); }
.picture .line.so { stroke: var(--so); } .picture .head.so, .picture .label.so { fill: var(--so); }
.picture .line.wr { stroke: var(--wr); } .picture .head.wr, .picture .label.wr { fill: var(--wr); }
.picture .line.ww { stroke: var(--ww); } .picture .head.ww, .picture .label.ww { fill: var(--ww); }
.picture .line.rw { stroke: var(--rw); } .picture .head.rw, .picture .label.rw { fill: var(--rw); }
.picture .line.co, .picture .line.vis, .picture .line.ar { stroke: var(--co); }
.picture .head.co, .picture .head.vis, .picture .head.ar { fill: var(--co); }
.picture .label.co, .picture .label.vis, .picture .label.ar { fill: var(--co); }
.picture .node { fill: var(--lane); stroke: var(--frame); stroke-width: 1.2; }
.picture .arrow { fill: none; stroke: var(--frame); stroke-width: 1.4; }
.picture .tip { fill: var(--frame); }
)css";
}

std::string scene_svg(const Scene& scene, std::size_t number, SvgUse use) {
  if (!scene.too_large.empty()) return words_only(scene.title, scene.too_large);
  return ScenePicture(scene, number, use).draw();
}

bool has_picture(const Page& page) { return page.lattice || !page.scenes.empty(); }

std::string page_svg(const Page& page) {
  if (page.lattice) return lattice_svg(*page.lattice, SvgUse::Alone);
  if (!page.scenes.empty()) return scene_svg(page.scenes.front(), 1, SvgUse::Alone);
  return words_only(fmt::format("{}: {}", page.command, page.verdict),
                    page.sentence + " There is nothing to draw.");
}

}  // namespace isoscope
