#pragma once
// What people look at, whatever made it: the one model behind --dot, --svg and --html.
//
//     lanes   one for each session, from top to bottom
//     boxes   transactions with their operations; boxes[0] is T0, the initial state
//     edges   so, wr, ww, rw, co, vis, ar between boxes, each with its reason
//     time    from left to right
//
// Of a schedule (report/schedule_scene.h) the boxes are the statements and the ends of transactions
// in the order in which a server answered them, and a span is a transaction over its boxes.
//
// An engine's answer becomes a Page once (check_page() and its siblings in *_report.h), and every
// writer (report/page_writers.h) draws any Page. A new command joins by filling one.
//
// All texts are as people should see them (report/shown.h); writers escape them for their format.
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "verdict/verdict.h"

namespace isoscope {

inline constexpr std::size_t kNoIndex = std::numeric_limits<std::size_t>::max();

// A read or a write, on one line of its box.
struct SceneOp {
  bool is_read = false;
  std::string key = {};
  std::string value = {};
  std::string text = {};          // "r(x,0)"
  std::string where = {};         // "line 4:7"; may be empty
  std::size_t writer = kNoIndex;  // of a read: the box it reads from, if that is drawn
  std::string writer_name = {};   // of a read: "T3", drawn or not; empty if no event wrote it
  std::string remark = {};        // "instead of T0"
  bool is_inexcusable = false;    // a read that no level excuses
};

struct SceneBox {
  std::string name = {};               // "T1"
  std::string title = {};              // "withdraw(1, 60)"; may be empty
  std::string remark = {};             // "aborted", "does not see T1; returns 40"
  std::string sql = {};                // statements as they were sent; may be empty
  std::vector<std::string> code = {};  // of a schedule: the statement, in lines that fit
  std::string where = {};              // "line 4"
  std::size_t lane = 0;
  bool is_aborted = false;
  bool is_faint = false;           // prepares the rest, and has no part in what went wrong
  bool is_waiting = false;         // of a schedule: the statement waits for a lock
  std::size_t goes_on = kNoIndex;  // the box in which it goes on
  std::vector<SceneOp> ops = {};
  std::size_t left_out = 0;  // further operations
};

struct SceneEdge {
  std::size_t from = 0;  // boxes
  std::size_t to = 0;
  EdgeKind kind = EdgeKind::So;
  std::string key = {};  // empty for so
  std::string why = {};
  bool in_cycle = false;
  std::size_t from_op = kNoIndex;  // the operations that it connects, where they are drawn
  std::size_t to_op = kNoIndex;
};

// A transaction of a schedule, over its boxes.
struct SceneSpan {
  std::string title = {};  // "transfer(1, 2, 60)"; may be empty
  std::size_t first = 0;   // boxes of one lane
  std::size_t last = 0;
  bool is_aborted = false;
};

// The value of a key, and who wrote it.
struct KeyState {
  std::string key;
  std::string value;
  std::string writer;
  friend bool operator==(const KeyState&, const KeyState&) = default;
};

struct SceneStep {
  std::size_t box = 0;
  std::size_t op = kNoIndex;      // none: the transaction ends
  std::string text;               // "T2 reads x = 0 from T0"
  std::string note;               // "x is 1 since T1 committed"; mostly empty
  std::vector<KeyState> changed;  // by this step: keys with their values from now on
};

// What the player plays.
struct SceneRun {
  std::vector<KeyState> start;  // all keys, in order of appearance
  std::vector<SceneStep> steps;
  bool is_cut = false;  // there are more steps than a page can hold
};

struct PageCell {
  std::string text = {};
  std::size_t scene = kNoIndex;  // that shows it
};
struct PageTable {
  std::string title = {};
  std::vector<std::string> columns = {};
  std::vector<std::vector<PageCell>> rows = {};
};

// One history, or the part of it that matters.
struct Scene {
  std::string title = {};     // "lost update at si"
  std::string sentence = {};  // what happened, in words
  std::vector<std::string> lanes = {};
  std::vector<SceneBox> boxes = {};  // T0 first; empty if there is nothing to draw
  std::vector<SceneEdge> edges = {};
  std::vector<std::size_t> order = {};  // boxes without T0, as they ran; empty if not known
  std::string time = {};                // what left to right means
  std::string too_large = {};           // why nothing is drawn, and what to do instead
  std::size_t left_out = 0;             // transactions that are not drawn
  std::vector<std::string> notes = {};
  std::string history = {};  // as text to copy; may be empty
  // Of a schedule; a history has none of it, and its player and its serial run are made of its
  // boxes.
  bool is_schedule = false;
  std::vector<SceneSpan> spans = {};
  SceneRun run = {};
  PageTable serial = {};  // what serial runs give; its title is a sentence
};

// Levels, the strongest on top.
struct Lattice {
  struct Arrow {
    std::size_t weaker = 0;  // nodes
    std::size_t stronger = 0;
    std::string label = {};  // what the stronger forbids: "lost update"
    std::string why = {};    // "si implies psi: proved for every history"
    bool is_proved = false;
    bool is_known = true;          // are the two known to differ?
    std::size_t scene = kNoIndex;  // the history that separates them
  };
  std::vector<std::string> nodes = {};
  std::vector<Arrow> arrows = {};
};

struct PageRepair {
  std::string where = {};    // "bank.sql:12:3"
  std::string context = {};  // the line there; empty for a change of the schema
  std::string change = {};   // what to write instead, or besides
  std::string remark = {};   // "then proved serializable"
};

struct Page {
  std::string command = {};       // "check"
  std::string verdict = {};       // "violated"
  bool is_good = true;            // is that the good answer?
  std::string sentence = {};      // on top
  std::string source = {};        // the input
  std::string command_line = {};  // that made the page; filled by the writer's caller
  std::vector<PageTable> tables = {};
  std::optional<Lattice> lattice = {};
  std::vector<Scene> scenes = {};  // the one that a single picture shows comes first
  std::vector<PageRepair> repairs = {};
  std::vector<std::string> notes = {};
};

}  // namespace isoscope
