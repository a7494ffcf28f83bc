#pragma once
// Small programs of statements over two rows, in SQL and as .txn, and all histories of theirs that
// a level allows: what a server, and our machine of one, must give. Those in SQL may also insert
// and delete rows, one of which is absent at first; each row has at most one writer of nil, so that
// "no row" tells who deleted it.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
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
enum class Kind {
  Select,
  SelectTwo,
  Blind,
  Update,
  ForUpdate,
  ForShare,
  Insert,  // these have no form as .txn
  Upsert,
  UpsertBeside,  // one that also reads row 1, in its snapshot
  Delete
};
constexpr int kAbsent = 3;  // a row that is not there at first

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
    case Kind::Select: return "SELECT v " + from;
    case Kind::SelectTwo: return "SELECT v FROM t ORDER BY id";
    case Kind::Blind:
      return fmt::format("UPDATE t SET v = {} WHERE id = {} RETURNING v", s.number, s.row);
    case Kind::Update:  // the new value ends in its number and tells the old one before it
      return fmt::format("UPDATE t SET v = v * 100 + {} WHERE id = {} RETURNING v", s.number,
                         s.row);
    case Kind::ForUpdate: return "SELECT v " + from + " FOR UPDATE";
    case Kind::ForShare: return "SELECT v " + from + " FOR SHARE";
    case Kind::Insert:
      return fmt::format("INSERT INTO t VALUES ({}, {}) RETURNING v", s.row, s.number);
    case Kind::Upsert:  // tells also whether there was a row
      return fmt::format(
          "INSERT INTO t VALUES ({0}, {1}) ON CONFLICT (id) DO UPDATE SET v = t.v * 100 + {1} "
          "RETURNING v, (xmax <> 0)::int",
          s.row, s.number);
    case Kind::UpsertBeside:
      return sql_of({Kind::Upsert, s.row, s.number}) + ", (SELECT v FROM t WHERE id = 1)";
    case Kind::Delete: return fmt::format("DELETE FROM t WHERE id = {} RETURNING v", s.row);
  }
  return {};
}

inline bool reads(const Statement& s) { return s.kind != Kind::Blind; }

// Does the statement write its row, if that is there or is not?
inline bool writes(const Statement& s, bool is_there) {
  switch (s.kind) {
    case Kind::Select:
    case Kind::SelectTwo:
    case Kind::ForUpdate:
    case Kind::ForShare: return false;
    case Kind::Blind:
    case Kind::Upsert:
    case Kind::UpsertBeside: return true;
    case Kind::Update:
    case Kind::Delete: return is_there;
    case Kind::Insert: return !is_there;
  }
  return false;
}

// Is there a row after the write with this number, or at first?
inline bool leaves_row(const SmallProgram& program, int row, int number) {
  for (const Transaction& txn : program) {
    for (const Statement& s : txn) {
      if (s.number == number) return s.kind != Kind::Delete;
    }
  }
  return row != kAbsent;
}

// The number of the one who left no row; -1 if nobody does.
inline int remover(const SmallProgram& program, int row) {
  for (const Transaction& txn : program) {
    for (const Statement& s : txn) {
      if (s.kind == Kind::Delete && s.row == row) return s.number;
    }
  }
  return row == kAbsent ? 0 : -1;
}

// The same statement of a .txn program; what it reads goes to a and b.
inline std::string txn_of(const Statement& s) {
  switch (s.kind) {
    case Kind::Select: return fmt::format("a := read(x{})", s.row);
    case Kind::SelectTwo: return "stmt { a := read(x1); b := read(x2) }";
    case Kind::Blind: return fmt::format("write(x{}, {})", s.row, s.number);
    case Kind::Update:
      return fmt::format("stmt {{ a := read(x{0}); write(x{0}, a * 100 + {1}) }}", s.row, s.number);
    case Kind::ForUpdate: return fmt::format("stmt {{ lock(x{0}); a := read(x{0}) }}", s.row);
    case Kind::ForShare: return fmt::format("stmt {{ a := read(x{0}); lock_shared(x{0}) }}", s.row);
    case Kind::Insert:
    case Kind::Upsert:
    case Kind::UpsertBeside:
    case Kind::Delete: break;
  }
  ISO_ASSERT(false);
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

// What a statement of one row did that saw the write with number `seen`.
inline std::string text_of(const SmallProgram& program, const Statement& s, int seen) {
  const bool is_there = leaves_row(program, s.row, seen);
  std::string ops;
  if (is_there && s.kind == Kind::ForUpdate) ops += fmt::format("l(x{}) ", s.row);
  if (is_there && s.kind == Kind::ForShare) ops += fmt::format("ls(x{}) ", s.row);
  if (reads(s))
    ops += is_there ? fmt::format("r(x{},{}) ", s.row, seen) : fmt::format("r(x{},nil) ", s.row);
  if (!writes(s, is_there)) return ops;
  if (s.kind == Kind::Delete) return ops + fmt::format("d(x{}) ", s.row);
  return ops + fmt::format("{}(x{},{}) ", is_there ? "w" : "i", s.row, s.number);
}

inline std::string text_of(const SmallProgram& program, const std::vector<Outcome>& outcomes) {
  std::string out = "init x3=nil\n";
  for (std::size_t t = 0; t < program.size(); ++t) {
    std::string ops;
    for (std::size_t i = 0; i < outcomes[t].seen.size(); ++i) {
      const Statement& s = program[t][i];
      const auto& seen = outcomes[t].seen[i];
      ops += s.kind == Kind::SelectTwo ? fmt::format("r(x1,{}) r(x2,{}) ", seen[0], seen[1])
                                       : text_of(program, s, reads(s) ? seen[0] : 0);
      if (s.kind == Kind::UpsertBeside) ops += fmt::format("r(x1,{}) ", seen[1]);
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
      // An INSERT of a row that is there fails.
      if (program_[t][i].kind == Kind::Insert && leaves_row(program_, row, number)) continue;
      seen[part] = number;
      choose(t, i, part + 1);
    }
  }

  // The own last write, or else any write of anybody who may write the row: the history has a fault
  // if it was not the last.
  std::vector<int> visible(std::size_t t, std::size_t i, int row) const {
    int own = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const Statement& s = program_[t][j];
      const bool was_there = !reads(s) || leaves_row(program_, row, outcomes_[t].seen[j][0]);
      if (s.row == row && writes(s, was_there)) own = s.number;
    }
    if (own != 0) return {own};
    std::vector<int> all = {0};
    for (std::size_t u = 0; u < program_.size(); ++u) {
      for (const Statement& s : program_[u]) {
        const bool may_write = writes(s, true) || writes(s, false);
        if (u != t && may_write && s.row == row) all.push_back(s.number);
      }
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

// One with INSERT, upsert and DELETE. Nobody comes back to a row that it inserted: where the key
// was freed after the snapshot, REPEATABLE READ shows two rows. Nobody deletes and inserts a row:
// who waited for it finds the old one gone, and no history says so.
inline SmallProgram random_row_program(Rng& rng) {
  constexpr Kind kKinds[] = {Kind::Select, Kind::Update, Kind::ForUpdate, Kind::ForShare,
                             Kind::Insert, Kind::Upsert, Kind::Delete};
  SmallProgram program(2);
  for (std::size_t t = 0; t < program.size(); ++t) {
    const std::size_t size = 2 + (t == 0 && rng.chance(0.4) ? 1 : 0);
    for (std::size_t i = 0; i < size;) {
      const Kind kind = kKinds[rng.below(std::size(kKinds))];
      const int row = rng.chance(0.4) ? kAbsent : 1 + static_cast<int>(rng.below(2));
      const auto same_row = [&](const Statement& s, std::initializer_list<Kind> kinds) {
        return s.row == row && std::find(kinds.begin(), kinds.end(), s.kind) != kinds.end();
      };
      const bool inserts = kind == Kind::Insert || kind == Kind::Upsert;
      bool fits = kind != Kind::Delete || remover(program, row) == -1;
      for (const Statement& s : program[t])
        fits = fits && !same_row(s, {Kind::Insert, Kind::Upsert}) &&
               !(inserts && same_row(s, {Kind::Delete}));
      // Of the rows that are there only one that somebody frees can be inserted.
      if (kind == Kind::Insert && row != kAbsent && remover(program, row) == -1)
        fits = fits && rng.chance(0.1);
      if (!fits) continue;
      program[t].push_back({kind, row, static_cast<int>(10 * (t + 1) + i + 1)});
      ++i;
    }
  }
  return program;
}

// What the statements of a finished run have read, as text_of() has it.
inline std::vector<Outcome> outcomes_of(const sql::server::State& state) {
  std::vector<Outcome> outcomes;
  for (const sql::server::TxnNo t : state.of_calls()) {
    const sql::server::TxnState& txn = state.txns[t];
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
    const std::vector<Outcome> outcomes = outcomes_of(state);
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
