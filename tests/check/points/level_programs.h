#pragma once
// Small programs of statements over two rows, in SQL and as .txn, and all histories of theirs that
// a level allows: what a server, and our machine of one, must give.
#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "spec/brute_force.h"
#include "spec/levels.h"
#include "sql/server/recorded.h"
#include "sql/server/schedules.h"
#include "support/history_of.h"
#include "support/rng.h"

namespace isoscope::level_programs {

// What a statement does to a row, or reads of two.
enum class Kind { Select, SelectTwo, Blind, Update, ForUpdate, ForShare };

struct Statement {
  Kind kind = Kind::Select;
  int row = 1;
  int number = 0;  // what it writes: unique, and tells its transaction
};
using Transaction = std::vector<Statement>;
using SmallProgram = std::vector<Transaction>;

inline std::string sql_of(const Statement& s) {
  const std::string from = fmt::format("FROM t WHERE id = {}", s.row);
  switch (s.kind) {
    case Kind::Select:
      return "SELECT v " + from;
    case Kind::SelectTwo:
      return "SELECT v FROM t ORDER BY id";
    case Kind::Blind:
      return fmt::format("UPDATE t SET v = {} WHERE id = {} RETURNING v", s.number, s.row);
    case Kind::Update:  // the new value ends in its number and tells the old one before it
      return fmt::format("UPDATE t SET v = v * 100 + {} WHERE id = {} RETURNING v", s.number,
                         s.row);
    case Kind::ForUpdate:
      return "SELECT v " + from + " FOR UPDATE";
    case Kind::ForShare:
      return "SELECT v " + from + " FOR SHARE";
  }
  return {};
}

inline bool reads(const Statement& s) { return s.kind != Kind::Blind; }
inline bool writes(const Statement& s) { return s.kind == Kind::Blind || s.kind == Kind::Update; }

// The same statement of a .txn program; what it reads goes to a and b.
inline std::string txn_of(const Statement& s) {
  switch (s.kind) {
    case Kind::Select:
      return fmt::format("a := read(x{})", s.row);
    case Kind::SelectTwo:
      return "stmt { a := read(x1); b := read(x2) }";
    case Kind::Blind:
      return fmt::format("write(x{}, {})", s.row, s.number);
    case Kind::Update:
      return fmt::format("stmt {{ a := read(x{0}); write(x{0}, a * 100 + {1}) }}", s.row, s.number);
    case Kind::ForUpdate:
      return fmt::format("stmt {{ lock(x{0}); a := read(x{0}) }}", s.row);
    case Kind::ForShare:
      return fmt::format("stmt {{ a := read(x{0}); lock_shared(x{0}) }}", s.row);
  }
  return {};
}

inline std::string txn_of(const SmallProgram& program) {
  std::string text;
  for (std::size_t t = 0; t < program.size(); ++t) {
    text += fmt::format("session s{} {{ {{\n", t + 1);
    for (const Statement& s : program[t]) text += "  " + txn_of(s) + "\n";
    text += "} }\n";
  }
  return text;
}

// A transaction as far as it came, and what its reads saw: numbers of writes, 0 for the initial
// one.
struct Outcome {
  bool committed = false;
  std::vector<std::vector<int>> seen;  // by statement that was answered
};

inline std::string text_of(const SmallProgram& program, const std::vector<Outcome>& outcomes) {
  std::string out;
  for (std::size_t t = 0; t < program.size(); ++t) {
    std::string ops;
    for (std::size_t i = 0; i < outcomes[t].seen.size(); ++i) {
      const Statement& s = program[t][i];
      const auto& seen = outcomes[t].seen[i];
      if (s.kind == Kind::ForUpdate) ops += fmt::format("l(x{}) ", s.row);
      if (s.kind == Kind::ForShare) ops += fmt::format("ls(x{}) ", s.row);
      if (s.kind == Kind::SelectTwo) {
        ops += fmt::format("r(x1,{}) r(x2,{}) ", seen[0], seen[1]);
      } else if (reads(s)) {
        ops += fmt::format("r(x{},{}) ", s.row, seen[0]);
      }
      if (writes(s)) ops += fmt::format("w(x{},{}) ", s.row, s.number);
      ops += "| ";
    }
    out += fmt::format("s{}: [{}]{}\n", t + 1, ops, outcomes[t].committed ? "" : "!");
  }
  return out;
}

// All histories of the program in which everything commits and the level allows what is read.
class Allowed {
 public:
  Allowed(const SmallProgram& program, const Level& level) : program_(program), level_(level) {
    for (const Transaction& txn : program) {
      outcomes_.push_back({.committed = true, .seen = {}});
      for (const Statement& s : txn)
        outcomes_.back().seen.emplace_back(s.kind == Kind::SelectTwo ? 2U : reads(s) ? 1U : 0U);
    }
    choose(0, 0, 0);
  }
  const std::set<std::string>& texts() const { return texts_; }

 private:
  void choose(std::size_t t, std::size_t i, std::size_t part) {
    if (t == program_.size()) {
      const std::string text = text_of(program_, outcomes_);
      const History h = history_of(text);
      if (h.faults().empty() && BruteForce(h).decide(level_)) texts_.insert(text);
      return;
    }
    if (i == program_[t].size()) return choose(t + 1, 0, 0);
    std::vector<int>& seen = outcomes_[t].seen[i];
    if (part == seen.size()) return choose(t, i + 1, 0);
    const int row =
        program_[t][i].kind == Kind::SelectTwo ? static_cast<int>(part) + 1 : program_[t][i].row;
    for (const int number : visible(t, i, row)) {
      seen[part] = number;
      choose(t, i, part + 1);
    }
  }

  // The own last write, or else the last write of anybody who writes the row.
  std::vector<int> visible(std::size_t t, std::size_t i, int row) const {
    int own = 0;
    for (std::size_t j = 0; j < i; ++j) {
      if (writes(program_[t][j]) && program_[t][j].row == row) own = program_[t][j].number;
    }
    if (own != 0) return {own};
    std::vector<int> all = {0};
    for (std::size_t u = 0; u < program_.size(); ++u) {
      int last = 0;
      for (const Statement& s : program_[u]) {
        if (u != t && writes(s) && s.row == row) last = s.number;
      }
      if (last != 0) all.push_back(last);
    }
    return all;
  }

  const SmallProgram& program_;
  const Level& level_;
  std::vector<Outcome> outcomes_;
  std::set<std::string> texts_;
};

inline SmallProgram random_program(Rng& rng, std::size_t num_txns = 2) {
  SmallProgram program(num_txns);
  for (std::size_t t = 0; t < program.size(); ++t) {
    const std::size_t size = 1 + rng.below(2) + (t == 0 && rng.chance(0.5) ? 1 : 0);
    for (std::size_t i = 0; i < size; ++i)
      program[t].push_back({static_cast<Kind>(rng.below(6)), 1 + static_cast<int>(rng.below(2)),
                            static_cast<int>(10 * (t + 1) + i + 1)});
  }
  return program;
}

// What the statements of a finished run have read, as text_of() has it.
inline std::vector<Outcome> outcomes_of(const SmallProgram& program,
                                        const sql::server::State& state) {
  std::vector<Outcome> outcomes;
  for (std::size_t t = 0; t < program.size(); ++t) {
    const sql::server::TxnState& txn = state.txns[t + 1];
    Outcome& outcome = outcomes.emplace_back();
    outcome.committed = txn.status == sql::server::TxnStatus::Committed;
    for (const auto& result : txn.log) {
      auto& seen = outcome.seen.emplace_back();
      for (const sql::Value& value : result->rows.front())
        seen.push_back(static_cast<int>(std::get<std::int64_t>(value.data) % 100));
    }
  }
  return outcomes;
}

// All histories of our machine.
struct OnMachine {
  std::set<std::string> committed;  // in which everything commits
  std::set<std::string> all;        // the same, and those with 40001 or 40P01
  std::vector<History> histories;
};

inline OnMachine on_machine(const SmallProgram& program, sql::server::PgLevel level) {
  const auto parsed = parse_program(txn_of(program));
  ISO_ASSERT(parsed.ok());
  const sql::server::Machine machine(*parsed,
                                     std::vector<sql::server::PgLevel>(program.size(), level));
  OnMachine found;
  sql::server::ScheduleOptions options;
  options.on_history = [&](const sql::server::State& state, const auto&, bool) {
    const std::vector<Outcome> outcomes = outcomes_of(program, state);
    bool commits = true;
    for (const Outcome& outcome : outcomes) commits = commits && outcome.committed;
    const std::string text = text_of(program, outcomes);
    found.all.insert(text);
    if (commits) found.committed.insert(text);
    auto h = to_history(machine, state);
    ISO_ASSERT(h.ok());
    found.histories.push_back(std::move(*h));
    return true;
  };
  explore(machine, {}, options);
  return found;
}

}  // namespace isoscope::level_programs
