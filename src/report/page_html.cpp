#include <fmt/format.h>

#include <algorithm>

#include "report/json.h"
#include "report/markup.h"
#include "report/page_layout.h"
#include "report/page_steps.h"
#include "report/page_template.h"
#include "report/page_writers.h"
#include "support/version.h"

namespace isoscope {

namespace {

std::string css_variables() {
  std::string light;
  std::string dark;
  for (const Colour& colour : palette()) {
    light += fmt::format(" --{}: {};", colour.name, colour.light);
    dark += fmt::format(" --{}: {};", colour.name, colour.dark);
  }
  return fmt::format(
      ":root {{{0} }}\n@media (prefers-color-scheme: dark) {{ :root {{{1} }} }}\n"
      ":root[data-theme=\"light\"] {{ color-scheme: light;{0} }}\n"
      ":root[data-theme=\"dark\"] {{ color-scheme: dark;{1} }}\n",
      light, dark);
}

// JSON inside a script element: no letter of it can end the element.
std::string script_json(const Json& json) {
  std::string out;
  for (const char c : dump(json)) {
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

Json scene_run_json(const SceneRun& run) {
  const auto rows = [](const std::vector<KeyState>& states) {
    Json json = Json::array();
    for (const KeyState& state : states)
      json.push_back(Json::array({state.key, state.value, state.writer}));
    return json;
  };
  Json steps = Json::array();
  for (const SceneStep& step : run.steps) {
    steps.push_back({{"box", step.box},
                     {"op", step.op == kNoIndex ? Json() : Json(step.op)},
                     {"text", step.text},
                     {"note", step.note},
                     {"changed", rows(step.changed)}});
  }
  return {{"start", rows(run.start)}, {"steps", std::move(steps)}};
}

std::string player_html(const Scene& scene, std::size_t number) {
  const SceneRun run = steps_of(scene);
  if (run.steps.empty()) return "";
  std::string out = fmt::format(
      "<h3>Step by step</h3>\n<p class=\"faint\">{} Arrow keys, Home and End step through "
      "it.</p>\n<div class=\"player\" hidden></div>\n"
      "<div class=\"sides\">\n<div><table class=\"state\" hidden><thead><tr><th>{}</th>"
      "<th>before the step</th><th>after it</th></tr></thead><tbody></tbody></table></div>\n"
      "<ol class=\"steps\">\n",
      scene.is_schedule ? "The statements in the order of the schedule."
                        : "One way in which it can have happened.",
      scene.is_schedule ? "row" : "key");
  for (const SceneStep& step : run.steps)
    out += fmt::format(
        "<li>{}{}</li>\n", markup(step.text),
        step.note.empty() ? "" : fmt::format(" <span class=\"note\">{}</span>", markup(step.note)));
  out += "</ol></div>\n";
  if (run.is_cut) out += "<p class=\"faint\">The steps after these are left out.</p>\n";
  return out + fmt::format("<script type=\"application/json\" id=\"run-{}\">{}</script>\n", number,
                           script_json(scene_run_json(run)));
}

// The edges of the cycle, each followed by one that begins where it ends, if there is one: the
// statements of a schedule are boxes of their own, and its edges need not join.
std::vector<std::size_t> cycle_in_order(const Scene& scene) {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < scene.edges.size(); ++i) {
    if (scene.edges[i].in_cycle) left.push_back(i);
  }
  std::vector<std::size_t> ordered;
  while (!left.empty()) {
    auto next = left.begin();
    if (!ordered.empty()) {
      const std::size_t at = scene.edges[ordered.back()].to;
      const auto joined =
          std::ranges::find(left, at, [&](std::size_t i) { return scene.edges[i].from; });
      if (joined != left.end()) next = joined;
    }
    ordered.push_back(*next);
    left.erase(next);
  }
  return ordered;
}

std::string reasons_html(const Scene& scene, std::size_t number) {
  std::string rows;
  for (const std::size_t i : cycle_in_order(scene)) {
    const SceneEdge& edge = scene.edges[i];
    rows += fmt::format("<li data-edge=\"s{}e{}\">{} <b>—{}→</b> {}: {}</li>\n", number, i,
                        markup(scene.boxes[edge.from].name), markup(edge_label(edge)),
                        markup(scene.boxes[edge.to].name), markup(edge.why));
  }
  return rows.empty()
             ? ""
             : "<h3>The cycle, edge by edge</h3>\n<ol class=\"reasons\">\n" + rows + "</ol>\n";
}

std::string cells_html(const PageTable& table) {
  std::string out;
  for (const std::string& column : table.columns) out += fmt::format("<th>{}</th>", markup(column));
  out += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (const PageCell& cell : row) {
      if (cell.scene == kNoIndex) {
        out += fmt::format("<td>{}</td>", markup(cell.text));
      } else {
        out +=
            fmt::format("<td><a href=\"#scene-{}\">{}</a></td>", cell.scene + 1, markup(cell.text));
      }
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

std::string serial_html(const Scene& scene) {
  if (!scene.serial.rows.empty())
    return fmt::format(
        "<h3>What a serial run gives</h3>\n<p>{}</p>\n<table class=\"serial\"><thead><tr>{}",
        markup(scene.serial.title), cells_html(scene.serial));
  const SerialComparison serial = compare_with_serial(scene);
  if (serial.order.size() < 2) return "";
  std::string order;
  for (const std::string& name : serial.order) order += (order.empty() ? "" : ", ") + name;
  std::string out = fmt::format("<h3>What a serial run gives</h3>\n<p>One after the other, as {}: ",
                                markup(order));
  if (serial.differences.empty()) return out + "every read would see the same.</p>\n";
  out +=
      "</p>\n<table class=\"serial\"><thead><tr><th>transaction</th><th>reads</th><th>in this "
      "run</th><th>in the serial run</th></tr></thead><tbody>\n";
  for (const SerialDifference& row : serial.differences)
    out += fmt::format(
        "<tr><td>{}</td><td class=\"value\">{}</td><td class=\"value\">{}</td><td "
        "class=\"value\">{}</td></tr>\n",
        markup(row.txn), markup(row.key), markup(row.seen), markup(row.serial));
  return out + "</tbody></table>\n";
}

std::string sql_html(const Scene& scene) {
  std::string out;
  if (scene.is_schedule) return out;  // the steps have it
  for (const SceneBox& box : scene.boxes) {
    if (!box.sql.empty())
      out += fmt::format("<h3>{}</h3>\n<pre>{}</pre>\n", markup(box.name), markup(box.sql));
  }
  return out;
}

std::string notes_html(const std::vector<std::string>& notes) {
  std::string out;
  for (const std::string& note : notes) out += fmt::format("<p>{}</p>\n", markup(note));
  return out;
}

std::string copy_html(std::string_view id, std::string_view text) {
  return fmt::format(
      "<pre id=\"{0}\">{1}</pre>\n<button type=\"button\" class=\"copy\" data-from=\"{0}\" "
      "hidden>copy</button>\n",
      id, markup(text));
}

std::string scene_html(const Scene& scene, std::size_t number) {
  std::string out = fmt::format(
      "<section class=\"scene\" id=\"scene-{0}\" data-number=\"{0}\">\n<h2 "
      "tabindex=\"-1\">{1}</h2>\n"
      "<p>{2}</p>\n",
      number, markup(scene.title), markup(scene.sentence));
  out += notes_html(scene.notes);
  if (!scene.too_large.empty()) {
    out += fmt::format("<p class=\"too-large\">{}</p>\n", markup(scene.too_large));
  } else if (scene.boxes.size() > 1) {
    out += fmt::format(
        "<figure>\n{}</figure>\n<p class=\"info\" aria-live=\"polite\" hidden>Point at a "
        "box or an edge, or reach it by Tab, for its reason and its place.</p>\n",
        scene_svg(scene, number, SvgUse::InPage));
    out += reasons_html(scene, number) + player_html(scene, number) + serial_html(scene) +
           sql_html(scene);
  }
  if (!scene.history.empty())
    out += "<details><summary>The history as text</summary>\n" +
           copy_html(fmt::format("history-{}", number), scene.history) + "</details>\n";
  return out + "</section>\n";
}

std::string table_html(const PageTable& table) {
  return fmt::format("<h2>{}</h2>\n<table><thead><tr>{}", markup(table.title), cells_html(table));
}

bool leads_to_scenes(const PageTable& table) {
  for (const auto& row : table.rows) {
    for (const PageCell& cell : row) {
      if (cell.scene != kNoIndex) return true;
    }
  }
  return false;
}

std::string repairs_html(const std::vector<PageRepair>& repairs) {
  std::string out = "<h2>Repairs, each enough alone</h2>\n";
  for (const PageRepair& repair : repairs) {
    out += fmt::format("<p>{} <span class=\"faint\">{}</span></p>\n<pre class=\"diff\">",
                       markup(repair.where), markup(repair.remark));
    if (!repair.context.empty())
      out += fmt::format("<span class=\"minus\">- {}</span>\n", markup(repair.context));
    out += fmt::format("<span class=\"plus\">+ {}</span></pre>\n", markup(repair.change));
  }
  return out;
}

// Each arrow with its proof and the history that separates the two levels.
std::string arrows_html(const Lattice& lattice) {
  std::string out = "<ol>\n";
  for (const Lattice::Arrow& arrow : lattice.arrows) {
    out += fmt::format("<li>{}", markup(arrow.why));
    if (arrow.scene != kNoIndex)
      out += fmt::format("; the converse does not hold: <a href=\"#scene-{}\">{}</a>",
                         arrow.scene + 1, arrow.label.empty() ? "a history" : markup(arrow.label));
    out += "</li>\n";
  }
  return out + "</ol>\n";
}

void replace_mark(std::string& text, std::string_view mark, std::string_view by) {
  const std::size_t at = text.find(mark);
  if (at != std::string::npos) text.replace(at, mark.size(), by);
}

}  // namespace

std::string page_html(const Page& page) {
  std::string body;
  // A table that leads to the scenes stands before them, any other one after.
  std::string further;
  for (const PageTable& table : page.tables)
    (leads_to_scenes(table) ? body : further) += table_html(table);
  if (page.lattice) {
    body += fmt::format(
        "<section>\n<h2>The lattice</h2>\n<figure>\n{}</figure>\n<p class=\"info\" "
        "aria-live=\"polite\" hidden>Click an arrow, or press Enter on it, for the history that "
        "separates the two levels.</p>\n{}</section>\n",
        lattice_svg(*page.lattice, SvgUse::InPage), arrows_html(*page.lattice));
  }
  for (std::size_t i = 0; i < page.scenes.size(); ++i) body += scene_html(page.scenes[i], i + 1);
  body += further;
  if (!page.repairs.empty()) body += repairs_html(page.repairs);
  const std::string header =
      fmt::format("<h1>{}</h1>\n<p><span class=\"verdict {}\">{}</span>{}{}</p>\n{}",
                  markup(page.sentence), page.is_good ? "good" : "bad", markup(page.verdict),
                  page.source.empty() ? "" : " · ", markup(page.source), notes_html(page.notes));
  const std::string footer = fmt::format(
      "<h2>The command that made this page</h2>\n{}<p class=\"faint\">isoscope {}</p>\n",
      copy_html("command", page.command_line), kVersion);
  std::string out(page_template());
  // From the end to the beginning, so that no text can hold a mark that is still to be replaced.
  replace_mark(out, "@FOOTER@", footer);
  replace_mark(out, "@BODY@", body);
  replace_mark(out, "@HEADER@", header);
  replace_mark(out, "@PICTURE_CSS@", picture_css());
  replace_mark(out, "@PALETTE@", css_variables());
  replace_mark(out, "@TITLE@",
               markup(fmt::format("{}: {}", page.command, fitted(page.sentence, 80))));
  return out;
}

}  // namespace isoscope
