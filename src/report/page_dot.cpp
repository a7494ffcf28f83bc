#include <fmt/format.h>

#include <set>

#include "report/page_layout.h"
#include "report/page_writers.h"
#include "report/plural.h"
#include "support/printable.h"

namespace isoscope {

namespace {

constexpr std::string_view kDotStyle =
    "  rankdir=LR;\n  fontname=\"Helvetica\";\n  color=gray70;\n"
    "  node [shape=box, style=rounded, fontname=\"Helvetica\"];\n"
    "  edge [fontname=\"Helvetica\", fontsize=11];\n";

// A text as a DOT string, quotes included. Names in it are on one line each (report/shown.h).
std::string dot_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable_lines(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string_view dot_colour(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::So: return "gray40";
    case EdgeKind::Rt: return "purple";
    case EdgeKind::Wr: return "forestgreen";
    case EdgeKind::Ww: return "royalblue";
    case EdgeKind::Rw: return "firebrick";
    case EdgeKind::Co:
    case EdgeKind::Vis:
    case EdgeKind::Ar: break;
  }
  return "darkorange";
}

std::string node_of(const SceneBox& box, std::size_t scene, std::size_t index) {
  std::string label = box.name;
  if (index == 0) label += "\ninitial state";
  for (const std::string& line : lines_of(box)) label += "\n" + line;
  const char* style = box.is_aborted ? ", style=\"rounded,dashed\""
                      : index == 0   ? ", style=\"rounded,filled\", fillcolor=gray95"
                      : box.is_faint ? ", color=gray60, fontcolor=gray40"
                                     : "";
  return fmt::format("      h{}t{} [label={}{}];\n", scene, index, dot_string(label), style);
}

std::string dot_scene(const Scene& scene, std::size_t number) {
  std::string title = scene.title + "\n" + scene.sentence;
  for (const std::string& note : scene.notes) title += "\n" + note;
  if (!scene.too_large.empty()) title += "\n" + scene.too_large;
  if (scene.left_out > 0)
    title += fmt::format("\n{} not drawn", plural(scene.left_out, "further transaction is",
                                                  "further transactions are"));
  std::string out = fmt::format("  subgraph cluster_{} {{\n    label={};\n    labelloc=t;\n",
                                number, dot_string(title));
  if (scene.too_large.empty()) {
    if (!scene.boxes.empty() && !scene.boxes[0].ops.empty())
      out += node_of(scene.boxes[0], number, 0);
    for (std::size_t lane = 0; lane < scene.lanes.size(); ++lane) {
      out += fmt::format(
          "    subgraph cluster_{}_{} {{\n      label={};\n      style=\"rounded,filled\";\n"
          "      color=gray90;\n      fillcolor=gray98;\n",
          number, lane + 1, dot_string("session " + scene.lanes[lane]));
      for (std::size_t i = 1; i < scene.boxes.size(); ++i) {
        if (scene.boxes[i].lane == lane) out += node_of(scene.boxes[i], number, i);
      }
      out += "    }\n";
    }
    for (const SceneEdge& edge : scene.edges) {
      const std::string_view colour = dot_colour(edge.kind);
      out += fmt::format("    h{0}t{1} -> h{0}t{2} [label={3}, color={4}, fontcolor={4}{5}{6}];\n",
                         number, edge.from, edge.to, dot_string(edge_label(edge)), colour,
                         edge.in_cycle ? ", penwidth=2.5" : "",
                         edge.why.empty() ? "" : fmt::format(", tooltip={}", dot_string(edge.why)));
    }
  }
  return out + "  }\n";
}

std::string dot_legend(const Page& page) {
  std::set<EdgeKind> kinds;
  for (const Scene& scene : page.scenes) {
    for (const SceneEdge& edge : scene.edges) kinds.insert(edge.kind);
  }
  std::string rows;
  for (const EdgeKind kind : kinds)
    rows += fmt::format("{}: {}\\l", name_of(kind), meaning_of(kind));
  return fmt::format(
      "  legend [shape=note, fontsize=10, color=gray60, style=\"\", label=\"{}thick: the edges "
      "that "
      "no order can satisfy\\lT0: the initial state; dashed box: aborted\\l\"];\n",
      rows);
}

std::string dot_lattice(const Lattice& lattice) {
  std::string out =
      "digraph levels {\n"
      "  label=\"An arrow leads to the next stronger level, which forbids what it names.\\n"
      "Solid arrows and = : proved for every history. Dashed arrows and ~ : no proof, only "
      "searched.\\n"
      "An open arrowhead: not known to differ.\";\n"
      "  rankdir=BT;\n  nodesep=0.9;\n  ranksep=0.6;\n"
      "  fontname=\"Helvetica\";\n  fontsize=12;\n"
      "  node [shape=box, style=\"rounded,filled\", fillcolor=aliceblue, color=steelblue,\n"
      "        fontname=\"Helvetica\"];\n"
      "  edge [color=gray40, fontcolor=firebrick, fontname=\"Helvetica\", fontsize=11];\n";
  for (std::size_t i = 0; i < lattice.nodes.size(); ++i)
    out += fmt::format("  c{} [label={}];\n", i, dot_string(lattice.nodes[i]));
  for (const Lattice::Arrow& arrow : lattice.arrows)
    // The blanks keep the name off the line.
    out +=
        fmt::format("  c{} -> c{} [label={}{}{}];\n", arrow.weaker, arrow.stronger,
                    dot_string("  " + arrow.label + "  "), arrow.is_proved ? "" : ", style=dashed",
                    arrow.is_known ? "" : ", arrowhead=empty");
  return out + "}\n";
}

}  // namespace

std::string page_dot(const Page& page) {
  if (page.lattice) return dot_lattice(*page.lattice);
  std::string out = fmt::format("digraph isoscope {{\n{}", kDotStyle);
  for (std::size_t i = 0; i < page.scenes.size(); ++i) out += dot_scene(page.scenes[i], i + 1);
  if (!page.scenes.empty()) out += dot_legend(page);
  return out + "}\n";
}

}  // namespace isoscope
