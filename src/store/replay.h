#pragma once
// Runs a program along a given history: each read takes the given writer, and whatever the
// program does otherwise is a divergence.
//
// A Script names the calls to run, in order, and for each what its reads shall see. Where the
// program asks for something else, or the wanted version is not there or not legal, the store
// notes it, answers with the latest legal version and goes on, so that one difference does not hide
// the next.
//
//     auto script = script_of(program, history);           // or by hand, as predict does
//     auto replayed = replay(program, *script, &plan, budget);
//     replayed->divergences.empty()                         // the program did just that
//
// A prediction is replayed with its changed reads: calls before the boundary exactly, a call at a
// strict boundary up to it (Direction::Prefix), whatever is not foreseen freely. Calls that are in
// no script do not run: a session stops after its last scripted call.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "history/history.h"
#include "program/executable.h"
#include "store/level_plan.h"
#include "store/recording.h"
#include "support/budget.h"
#include "support/result.h"

namespace isoscope::store {

// The n-th external read of a call.
struct WantedRead {
  std::string key = {};  // as the program or a history calls it; blanks do not matter
  // The call to read from, or kInitialWriter. Nothing if the history names none that counts.
  std::optional<CallId> writer = {};
};

enum class Direction : std::uint8_t {
  Exact,   // these are all its reads
  Prefix,  // these come first; further reads see the latest legal versions
  Free,    // it runs in full, undirected
};

struct ScriptedCall {
  CallId call = {};
  Direction direction = Direction::Exact;
  std::vector<WantedRead> reads = {};
  // The keys that it shall write: these and no others if Exact, these among others if Prefix.
  // Nothing if that does not matter.
  std::optional<std::vector<std::string>> writes = {};
  std::optional<bool> is_committed = {};  // how it shall end, if that matters
  TxnId txn = TxnId::none();              // of the history that the script was made from
  // Prefix: further reads see any legal versions, by this seed, instead of the latest.
  std::optional<std::uint64_t> seed = {};
};

// Calls of a session in session order, none left out, each at most once.
struct Script {
  std::vector<ScriptedCall> calls;
};

enum class DivergenceKind : std::uint8_t {
  Key,        // it reads another key
  Writer,     // the wanted writer has not written the key, not yet, or aborted
  Level,      // the level forbids to read from the wanted writer
  ReadsMore,  // a read that the script does not know
  ReadsLess,  // it ends before this read
  Writes,     // it writes other keys
  Outcome,    // it commits where it should abort, or the reverse
  Commit,     // the level forbids it to commit; it has run again with other values
};
std::string_view name_of(DivergenceKind kind);

struct Divergence {
  DivergenceKind kind = DivergenceKind::Key;
  CallId call = {};
  std::optional<std::uint32_t> read = {};  // from 1, among its external reads
  std::string expected = {};               // "x from alice[1]"
  std::string actual = {};
};

// "bob[2], read 3: expected x from alice[1], but read y from T0".
std::string describe(const Executable& program, const Divergence& divergence);

struct Replay {
  Recording recording;
  std::vector<Divergence> divergences;  // in the order of the run
  bool is_complete = false;             // has every call of the program run?
  bool is_expired = false;              // did the time run out?
};

// Without a plan every committed version is legal. An error if the script does not fit the program,
// or a transaction cannot go on.
Result<Replay> replay(const Executable& program, const Script& script, const LevelPlan* plan,
                      const Budget& budget);

// The script that a history is, in an order that contains its so and wr, and in which those of
// `last` come as late as that allows. Its transactions are calls by their names (alice[2] or
// alice_2, or t1_2 for the second call of the first session), else by their places in their
// sessions. Where a format knows only numbers, session 1 is the first of the program, whatever the
// program calls it. A history without aborted transactions may leave out calls that
// abort: which ones is found out by running. An error if it has a session, or more transactions in
// one, than the program. A limit_error if the budget expires.
Result<Script> script_of(const Executable& program, const History& h, const Budget& budget = {},
                         std::span<const TxnId> last = {});

}  // namespace isoscope::store
