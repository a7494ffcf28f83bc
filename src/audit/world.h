#pragma once
// Instances side by side: their visibility, arbitration and dependencies.
//
// Instances come from a pool and keep their names (vis, ar, the conditions of dependencies), so
// that asking about another set of them builds only what is new. (A closed world is better made
// anew for each set: what its members see follows from all that was ever asked.) What holds of a
// set of instances (a "cast") is the union of what holds of its members, pairs and triples:
//
//     ar is a total order, vis ⊆ ar;                                            (phi_basic)
//     a dependency has a reason: two accesses to one location of one row;       (phi_R->)
//     t1 -rw-> t2 only if no writer that t1 sees comes after t2 in ar;          (phi_dep)
//     who locks a row sees every earlier writer of it (with KEY SHARE, who deleted it); who deletes
//     a row sees every earlier transaction that inserted a row with a foreign key to it.
//
// With a snapshot for each statement, vis is a relation between calls and moments of calls: sees(a,
// b, m). Snapshots are beginnings of ar, later ones contain earlier ones, and after b has locked a
// row, its snapshots contain whoever locked it before in a mode that excludes b's. What b writes or
// locks it sees as it is: every call before it in ar. Then vis(a, b) says no more than ar.
//
// What a server adds is in WorldRules. A level that asks about two writers of a key then does not
// mean an INSERT of a key that may have been freed in between: it waits, and takes it. SERIALIZABLE
// rules out cycles of transactions that all run at it, and nothing else.
//
// An Open world leaves room for other instances: what a member sees may come from outside. That a
// cast is impossible there is a proof for every execution that contains it. A Closed world has
// nothing else in it: what a member sees is what the last visible member wrote, or the initial
// state. That a cast is possible there is (nearly) a run; replay.h runs it.
//
// Dependencies. t1 -ww-> t2: both write, ar. t1 -wr-> t2: t1 writes what t2 reads, vis; not only
// from the last writer, as the others reach t2 through it anyway. t1 -rw-> t2: t2 overwrites what
// t1 read. An anti-dependency to a write that leaves what was read as it was (deleting a row that
// the reader found absent) is none: if every version between the two has the value that was read,
// the reader may as well come last, and if one has another value, the reader has an edge to that.
// In the same way a scan does not depend on a row that is inserted but does not match, as long as
// no call can change what decides it: to the scan it is as good as absent.
//
// Paper    [NagarJagannathan-CONCUR'18], sections 4.2, 4.3 and Appendix A.
#include <array>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "audit/access_evaluator.h"
#include "support/by_id.h"

namespace isoscope::audit {

enum class Conflicts : std::uint8_t { Columns, Rows };
enum class Scope : std::uint8_t { Open, Closed };
enum class EdgeKind : std::uint8_t { Wr, Ww, Rw };
inline constexpr std::array kEdgeKinds = {EdgeKind::Wr, EdgeKind::Ww, EdgeKind::Rw};

using Member = Id<struct MemberTag>;  // of the pool
using Cast = std::span<const Member>;

struct WorldRules {
  Conflicts conflicts = Conflicts::Columns;
  std::vector<std::pair<sql::FunctionId, sql::FunctionId>> serial = {};
  // INSERT takes a key that is free at that moment, whatever its view says.
  bool keys_are_current = false;
  // No cycle of dependencies has only calls of such functions.
  ById<sql::FunctionId, bool> is_protected = {};
  // Calls of the function take a snapshot for each statement (READ COMMITTED).
  ById<sql::FunctionId, bool> per_statement = {};

  bool takes_many_snapshots(sql::FunctionId f) const {
    return per_statement.contains(f) && per_statement[f];
  }
  bool protects(sql::FunctionId f) const { return is_protected.contains(f) && is_protected[f]; }
};

class World {
 public:
  World(Symbols& symbols, Scope scope, WorldRules rules);

  Symbols& symbols() const { return symbols_; }
  Scope scope() const { return scope_; }
  const WorldRules& rules() const { return rules_; }
  // The n-th instance of a function, n from 0; made when it is first asked for.
  Member member(sql::FunctionId function, std::size_t n);
  Instance& instance(Member a) const { return *pool_[a]; }
  // For the terms of its accesses.
  AccessEvaluator terms(Member a) const { return {symbols_, *pool_[a]}; }
  sql::FunctionId function(Member a) const { return pool_[a]->function(); }

  SmtTerm vis(Member a, Member b);
  SmtTerm ar(Member a, Member b);
  // In the view of b at a moment, or kCurrent; without snapshots per statement, vis.
  SmtTerm sees(Member a, Member b, MomentId at);
  // At all its moments.
  SmtTerm always_sees(Member a, Member b);
  bool has_moments(Member a) const { return rules_.takes_many_snapshots(function(a)); }
  SmtTerm depends(Member a, Member b, EdgeKind kind);
  SmtTerm depends(Member a, Member b);
  // A dependency that is there whatever happens outside: for paths without chords.
  SmtTerm surely_depends(Member a, Member b);
  // Both write one location (one row, with Conflicts::Rows).
  SmtTerm conflict(Member a, Member b);
  SmtTerm writes_anything(Member a);
  SmtTerm reads_anything(Member a);
  // The member writes the location.
  SmtTerm wrote(Member a, sql::TableId table, Attribute attribute, const Row& row);
  // What its last write leaves there. Requires: it wrote it.
  SymValue written(Member a, sql::TableId table, Attribute attribute, const Row& row);

  // What holds of the cast, apart from its levels.
  std::vector<SmtTerm> constraints(Cast cast);
  // In a closed world: what the members see. With `empty`, one formula for each table with
  // INSERTs: that it is empty at the start.
  std::vector<SmtTerm> closing(Cast cast, std::map<sql::TableId, SmtTerm>* empty);
  void close_use(Cast cast, Member reader, const Instance::Use& use,
                 std::map<sql::TableId, SmtTerm>* empty, std::vector<SmtTerm>& out);
  // The rows of a table that the cast names.
  std::vector<Row> rows(Cast cast, sql::TableId table) const;

 private:
  struct Option {  // of a dependency: a location where it may be
    sql::TableId table;
    Attribute attribute;
    Row row;
    SmtTerm name;  // a constant
    SmtTerm condition;
    MomentId at = {};  // the view of the read
  };
  struct Pair {
    std::array<std::vector<Option>, 3> options;
    std::vector<SmtTerm> constraints;
    SmtTerm surely;
    // Rows that only conditions name: where two scans meet.
    std::vector<std::pair<sql::TableId, Row>> rows;
  };
  using PairKey = std::pair<Member, Member>;

  Pair& pair(Member a, Member b);
  void add_options(Pair& pair, Member a, Member b, EdgeKind kind);
  SmtTerm changes_what_is_read(Member reader, Member writer, const Option& option);
  SmtTerm matters(const Access& x, const Access& y, EdgeKind kind, Member a, Member b,
                  const Row& row);
  SmtTerm would_match(Member reader, const Access& scan, Member writer, const Row& row);
  void add_locks(Pair& pair, Member a, Member b);
  void add_references(Pair& pair, Member a, Member b);
  void add_moments(Pair& pair, Member a, Member b);
  void add_lasting_rows(Pair& pair, Member a, Member b);
  void add_only_inserter(Pair& pair, Member a, Member b);
  // The rows where two accesses may meet.
  std::vector<Row> meeting_rows(const Access& x, const Access& y, Member a, Member b);
  Row common_row(const Access& x, const Access& y, Pair& pair);
  bool is_serial(sql::FunctionId f, sql::FunctionId g) const;
  // A write of it may come after one that the writer does not see, by way of a free key.
  bool may_be_freed(const Access& x, const Access& y) const;
  bool is_protected(Member a) const { return rules_.protects(function(a)); }
  void add_member_facts(Member a, std::vector<SmtTerm>& out);
  void add_pair_facts(Member a, Member b, std::vector<SmtTerm>& out);
  void add_triple_facts(Member a, Member b, Member c, std::vector<SmtTerm>& out);
  void add_row_facts(Cast cast, std::vector<SmtTerm>& out);
  void add_unique_rows(Cast cast, std::vector<SmtTerm>& out);
  void add_initial_entries(Cast cast, std::vector<SmtTerm>& out);
  void add_initial_checks(Cast cast, std::vector<SmtTerm>& out);
  void add_references(Cast cast, const std::map<sql::TableId, SmtTerm>* empty, bool is_static,
                      std::vector<SmtTerm>& out);
  // Of a row that is there: the one that it refers to is, too.
  SmtTerm has_target(const sql::ForeignKey& key, sql::TableId table, const Row& row,
                     bool is_static);
  void add_taken_keys(Cast cast, std::vector<SmtTerm>& out);

  Symbols& symbols_;
  Scope scope_;
  WorldRules rules_;
  ById<Member, std::unique_ptr<Instance>> pool_;
  std::map<std::pair<sql::FunctionId, std::size_t>, Member> members_;
  std::map<PairKey, SmtTerm> vis_;
  std::map<PairKey, SmtTerm> ar_;
  std::map<std::tuple<Member, Member, MomentId>, SmtTerm> sees_;
  std::map<PairKey, Pair> pairs_;
  std::map<PairKey, SmtTerm> conflict_;
  std::map<std::tuple<Member, Member, Member>, std::vector<SmtTerm>> triples_;
};

}  // namespace isoscope::audit
