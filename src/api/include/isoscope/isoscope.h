#pragma once
// Explores what C++ transactions can do to each other under a weak isolation level.
//
// A program is a few sessions, each a row of transactions, and a transaction is a callable that
// reads and writes keys through its context. explore() finds every history that the level allows,
// each exactly once, and reports in which of them a check fails:
//
//     using namespace isoscope::api;
//     const auto withdraw = [](Txn& txn) {
//       const auto balance = txn.read("acct");
//       if (balance < 60) txn.abort();
//       txn.write("acct", balance - 60);
//     };
//     Program program;
//     program.init("acct", 100);
//     program.session("alice").transaction("withdraw(60)", withdraw);
//     program.session("bob").transaction("withdraw(60)", withdraw);
//     program.check_at_end("only one is covered", [](const Run& run) {
//       return !(run.txn("alice", 1).committed && run.txn("bob", 1).committed);
//     });
//     const Exploration all = program.explore({.level = "cc"});
//     // all.outcome == Outcome::Violated; all.violations[0].text says how
//
// A body is run again and again with the values that it has read so far, and left (by an exception
// of a private type) at the first read that is not answered yet. So it must
//
//   - be a function of what it reads: no clock, no random numbers, no state that it changes. Each
//     new piece of a body runs twice, and explore() fails if the two differ;
//   - let exceptions pass that are not its own, so it is not noexcept (a `catch (...)` that ends
//     the body is harmless, one that tries again for ever is not);
//   - be callable from several threads at once, if Options::threads is not 1.
//
// Levels, algorithm and guarantees are those of `isoscope explore`: docs/explore.md.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace isoscope::api {

using Value = std::int64_t;

// What a transaction's body works with. Valid only while the body runs.
class Txn {
 public:
  // The value of a key: the transaction's own last write, or one that the level allows it to see.
  Value read(std::string_view key);
  void write(std::string_view key, Value value);
  // Aborts the transaction: no other one sees its writes. Does not return.
  [[noreturn]] void abort();
  // Claims that a condition holds. The transaction goes on if it does not; the history is reported.
  void check(bool condition, std::string_view text);
  // Remembers a value under a name for check_at_end() and for reports; the last one counts.
  void note(std::string_view name, Value value);

  Txn(const Txn&) = delete;
  Txn& operator=(const Txn&) = delete;

 private:
  friend class BodyRun;
  explicit Txn(class BodyRun& run) : run_(run) {}
  class BodyRun& run_;
};

using Body = std::function<void(Txn&)>;

// A read of another transaction's write, or a write.
struct Access {
  bool is_read = false;
  std::string key;
  Value value = 0;
  std::string writer;  // of a read: "alice[1]", or "T0" for the initial value
};

struct Note {
  std::string name;
  Value value = 0;
};

// A transaction as it ran in one history.
struct TxnRun {
  std::string name;   // "alice[1]"
  std::string label;  // as it was given to Session::transaction()
  bool committed = false;
  std::vector<Value> reads;  // all values read from others, in order
  std::vector<Note> notes;
  std::vector<Access> accesses;  // in program order; filled in violations, not in checks at the end

  // The value noted under this name, or `otherwise`.
  Value noted(std::string_view note_name, Value otherwise = 0) const;
};

// All transactions as they ran in one history.
class Run {
 public:
  explicit Run(std::vector<TxnRun> txns) : txns_(std::move(txns)) {}

  const std::vector<TxnRun>& txns() const { return txns_; }
  // The transaction of a session by its number, from 1. Throws std::out_of_range if there is none.
  const TxnRun& txn(std::string_view session, unsigned number) const;

 private:
  std::vector<TxnRun> txns_;
};

struct Options {
  std::string level = "ser";           // for transactions without a level of their own
  std::string level_definitions = {};  // further levels, in the language of docs/levels.md
  bool stop_at_violation = false;
  unsigned threads = 1;            // 0: one a core
  double seconds = 0;              // 0: without limit
  std::size_t max_violations = 3;  // kept as examples; all are counted
};

enum class Outcome {
  Complete,  // every history was seen, and no check fails
  Violated,  // a check fails
  Unknown,   // the time was over before one of the two was known
  Failed,    // there is no answer: Exploration::failure says why
};

struct Violation {
  std::vector<std::string> failed;  // the texts of the checks
  Run run;
  std::string text;  // the history for people: who read what from whom, and what is wrong with it
};

struct Exploration {
  Outcome outcome = Outcome::Unknown;
  // A level that does not exist, a body that throws or does not repeat itself, …
  std::string failure;
  std::uint64_t histories = 0;   // distinct, consistent with the level
  std::uint64_t violating = 0;   // those in which a check fails
  std::uint64_t end_states = 0;  // histories before the level's filter, where there is one
  std::uint64_t blocked = 0;     // branches without a continuation
  bool is_out_of_time = false;
  std::vector<Violation> violations;
};

class Session;

class Program {
 public:
  Program();
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  // What a key holds at the beginning; 0 if nothing is said.
  Program& init(std::string_view key, Value value);
  // The session of that name, a new one if there is none.
  Session session(std::string_view name);
  // A claim about the finished run. The predicate may be called from several threads at once.
  Program& check_at_end(std::string_view text, std::function<bool(const Run&)> holds);

  // Never throws what a body or a check throws: that is Outcome::Failed.
  Exploration explore(const Options& options) const;

 private:
  friend class Session;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// A session of a program, to add transactions to. Valid as long as the program stays in place.
class Session {
 public:
  // `level` is the transaction's own; empty: the one of Options.
  Session& transaction(std::string_view label, Body body, std::string_view level = {});

 private:
  friend class Program;
  Session(Program::Parts& parts, std::size_t number) : parts_(&parts), number_(number) {}
  Program::Parts* parts_;
  std::size_t number_;
};

}  // namespace isoscope::api
