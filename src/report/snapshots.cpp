#include "report/snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/explain.h"
#include "report/shown.h"
#include "spec/statements.h"

namespace isoscope {

namespace {

// "second statement".
std::string statement_name(std::uint32_t statement) {
  constexpr std::array<std::string_view, 9> kWords = {
      "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"};
  if (statement < kWords.size()) return fmt::format("{} statement", kWords[statement]);
  return fmt::format("statement {}", statement + 1);
}

// "the row of x", or x where the key is its own row.
std::string row_name(const History& h, KeyId x) {
  if (x.is_none()) return "a row";
  return h.is_row(x) ? shown(h, x) : fmt::format("row {}", h.name(h.row(x)));
}

// How the snapshot came to have `e.from`.
std::string saw(const History& h, const Edge& e) {
  const std::string from = shown(h, e.from);
  switch (e.kind) {
    case EdgeKind::Wr:
      return fmt::format("{}'s {} already saw {}", shown(h, e.to), statement_name(e.to_statement),
                         from);
    case EdgeKind::So: return fmt::format("{} came before {} in its session", from, shown(h, e.to));
    case EdgeKind::Co:
      return fmt::format("{} waited for {} at {}", shown(h, e.to), from, row_name(h, e.key));
    case EdgeKind::Ww:
    case EdgeKind::Rw:
    case EdgeKind::Vis:
    case EdgeKind::Ar:
    case EdgeKind::Rt: break;
  }
  return fmt::format("{} writes or locks {}, which {} wrote before it", shown(h, e.to),
                     row_name(h, e.key), from);
}

}  // namespace

bool is_about_points(const Edge& e) {
  return e.from_statement != Edge::kCommit || e.to_statement != Edge::kCommit ||
         (e.kind == EdgeKind::Co && e.read.is_none());
}

bool is_about_points(const Violation& v) {
  return std::any_of(v.cycle.begin(), v.cycle.end(),
                     [](const Edge& e) { return is_about_points(e); });
}

std::string explain_points(const History& h, const Violation& v) {
  for (std::size_t i = 0; i < v.cycle.size(); ++i) {
    const Edge& misses = v.cycle[i];
    const Edge& enters = v.cycle[(i + v.cycle.size() - 1) % v.cycle.size()];
    if (misses.kind != EdgeKind::Rw || misses.from_statement == Edge::kCommit) continue;
    if (enters.to_statement == Edge::kCommit) continue;
    const bool same = enters.to_statement == misses.from_statement || enters.kind != EdgeKind::Wr;
    return fmt::format("{}, so {} must see {}{}, yet it reads {} from {}", saw(h, enters),
                       same ? fmt::format("its {}", statement_name(misses.from_statement))
                            : fmt::format("its {} too", statement_name(misses.from_statement)),
                       shown(h, misses.to),
                       misses.to == enters.from ? "" : ", which had to commit before",
                       shown(h, misses.key), shown(h, h.writer(misses.read)));
  }
  std::string names;
  for (const Edge& e : v.cycle) names += (names.empty() ? "" : ", ") + shown(h, e.from);
  return fmt::format("commits and snapshots of {} would each have to come before the next", names);
}

std::string why_points(const History& h, const Edge& e) {
  const std::string from = shown(h, e.from);
  const std::string to = shown(h, e.to);
  const std::string row = row_name(h, e.key);
  switch (e.kind) {
    case EdgeKind::So:
      return fmt::format("session {} runs {} before {}, whose snapshots have it",
                         shown(h, h.session(e.from)), from, to);
    case EdgeKind::Wr:
      // What a statement reads as it is may be newer than its own snapshot.
      return fmt::format("the {} of {} reads {} from {} ({}), so {} {}",
                         statement_name(e.to_statement), to, shown(h, e.key), from,
                         where(h, e.read),
                         StatementFacts(h).is_current(e.read) ? "the snapshots of later ones have"
                                                              : "its snapshot has",
                         from);
    case EdgeKind::Rw:
      return fmt::format(
          "the {} of {} reads {} from {} ({}), so its snapshot is older than {}, which overwrites "
          "it",
          statement_name(e.from_statement), from, shown(h, e.key), shown(h, h.writer(e.read)),
          where(h, e.read), to);
    case EdgeKind::Co:
      if (e.to_statement == Edge::kCommit)
        return fmt::format("both lock {}, and {} is first", row, from);
      return fmt::format("{} had to wait for {} at {}, so its snapshot has {} from its {} on", to,
                         from, row, from, statement_name(e.to_statement));
    case EdgeKind::Ww:
    case EdgeKind::Vis:
    case EdgeKind::Ar:
    case EdgeKind::Rt: break;
  }
  if (e.to_statement == Edge::kCommit) return fmt::format("both write {}, {} first", row, from);
  return fmt::format("{} writes or locks {} after {} wrote it, so its snapshot has {}", to, row,
                     from, from);
}

void for_each_snapshot(
    const History& h, const Witness& w,
    const std::function<void(TxnId t, std::uint32_t statement, TxnId last)>& visit) {
  for (TxnId t : h.txns()) {
    if (!h.is_present(t)) continue;
    std::optional<std::uint32_t> last;
    for (EventId e : h.events(t)) {
      if (!h.is_read(e) || last == h.statement(e)) continue;
      last = h.statement(e);
      visit(t, *last + 1, w.order[w.snap[e.index] - 1]);
    }
  }
}

}  // namespace isoscope
