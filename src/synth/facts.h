#pragma once
// A history that is not known yet: the facts ⟨T, so, wr⟩ of a scope as signals of a circuit.
//
//     W(t, x)       t writes x                    an input; T0 writes every key
//     wr(s, x, t)   t reads x from s              an input; one s at most for each t and x
//     so(s, t)      s is before t in a session    an input; T0 is before all
//     aborted(t)    t aborted, and writes nothing an input where an axiom can tell; else false
//
//     rt(s, t)      s ended before t began        an input where an axiom can tell; else false
//
// There are no values: a value is its writer. Where a level asks for the order of reads, each
// transaction has a row of read slots instead, of which a prefix is used, and wr(s, x, t) is the
// disjunction over its slots.
//
// Where a level can tell statements and locks apart, the slots of a transaction are its operations,
// in order: at most one of
//
//     wr(s, x, slot)   it reads x from s           own(slot, x)     it reads its own write of x
//     update(slot, x)  it writes x                 insert(slot, x)  it writes x by INSERT
//     lock(slot, x)    FOR UPDATE                  share(slot, x)   FOR SHARE
//
// and joined(slot): it belongs to the statement of the slot before. Claims (writes and locks) come
// after the external reads of their statement and before its reads of own writes, one for each key
// at most, in the order of keys: other orders say the same. A key is written once, because of two
// writes the first is but a lock. Each key is a row of its own; KEY SHARE and deletes are left out.
//
// Two Facts of the same frame have the same inputs in the same order, whatever circuit they are
// in, so that a model of one is an assumption for the other (`Candidate`).
#include <cstdint>
#include <functional>
#include <vector>

#include "sat/circuit.h"
#include "synth/synth.h"

namespace isoscope::synthesis {

// Signals for all pairs of a carrier.
class Matrix {
 public:
  Matrix() = default;
  explicit Matrix(int size, Signal fill = kFalse)
      : size_(size),
        cells_(static_cast<std::size_t>(size) * static_cast<std::size_t>(size), fill) {}

  int size() const { return size_; }
  Signal operator()(int a, int b) const { return cells_[at(a, b)]; }
  Signal& operator()(int a, int b) { return cells_[at(a, b)]; }

 private:
  std::size_t at(int a, int b) const {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(size_) +
           static_cast<std::size_t>(b);
  }
  int size_ = 0;
  std::vector<Signal> cells_;
};

// What fixes the number and the meaning of the inputs.
struct Frame {
  Scope scope;
  bool so_forward = true;       // so leads from lower to higher numbers
  bool wr_forward = true;       // wr does
  int slots = 0;                // read slots of a transaction; 0: reads have no order
  bool repeated_reads = false;  // without slots: a transaction may read a key from several writers
  bool aborted_txns = false;    // a transaction may abort
  bool statements = false;      // slots are operations of all kinds, grouped to statements …
  bool joins = false;           // … of several operations
  bool locks = false;           // some of which are locks
  bool inserts = false;         // or inserts
  bool real_time = false;       // transactions have times
};

using Candidate = std::vector<bool>;  // the values of the inputs, in order

// What an input says: of transactions Aborted, Read (from s, key x, to t or a slot), So, RealTime
// and Write; the others of slots.
enum class FactKind : std::uint8_t {
  Aborted,
  Insert,
  Joined,
  Lock,
  Share,
  OwnRead,
  Read,
  So,
  RealTime,
  Update,
  Write
};

class Facts {
 public:
  // Fresh inputs, without any constraint.
  Facts(Circuit& circuit, const Frame& frame);
  // The constants of a candidate.
  Facts(Circuit& circuit, const Frame& frame, const Candidate& candidate);

  const Frame& frame() const { return frame_; }
  int txns() const { return frame_.scope.txns + 1; }  // with T0
  int keys() const { return frame_.scope.keys; }
  int carrier() const { return txns() + frame_.scope.txns * frame_.slots; }  // then the slots
  int txn_of(int slot) const { return 1 + (slot - txns()) / frame_.slots; }

  Signal writes(int t, int x) const { return writes_[index(t, x)]; }
  Signal reads(int t, int x) const { return reads_[index(t, x)]; }
  Signal is_used(int x) const { return used_[static_cast<std::size_t>(x)]; }  // the key
  Signal is_filled(int slot) const { return filled_[static_cast<std::size_t>(slot - txns())]; }
  // Does the slot hold a read? With `own`, reads of own writes are reads, too.
  Signal is_read(int slot, bool own) const;
  Signal aborted(int t) const { return aborted_[static_cast<std::size_t>(t)]; }
  const Matrix& so() const { return so_; }
  const Matrix& rt() const { return rt_; }
  // Over the carrier: wr[x] to transactions, and to slots.
  const Matrix& wr(int x) const { return wr_[static_cast<std::size_t>(x)]; }
  const Matrix& wr() const { return any_wr_; }
  // For some key, t3 reads it from t1, and t2, another transaction, writes it. Of a slot: the read
  // in it does.
  Signal overtakes(int t1, int t2, int t3) const;

  // Statements and locks, as spec/statements.h defines them.
  enum class Operation : std::uint8_t { Update, Insert, Lock, Share, OwnRead };
  Signal does(Operation operation, int slot, int x) const;
  Signal is_joined(int slot) const;
  Signal same_statement(int slot, int other) const;
  Signal is_current(int slot) const;
  Signal locks(int t, int x) const;
  Signal waited(int t, int slot) const;

  const std::vector<Signal>& inputs() const { return inputs_; }
  // By input: the kind of fact, and what it relates; to rename and to count.
  struct Meaning {
    FactKind kind;
    int s;
    int x;
    int t;
  };
  const std::vector<Meaning>& meanings() const { return meanings_; }

  // Requires what the scope says. Keys are interchangeable; so the columns of writes and reads
  // are required to be in lexicographic order, unless `all_names`.
  void require_scope(bool all_names) const;
  // All operations, and all pairs of so, for counting.
  std::vector<Signal> operations() const;
  std::vector<Signal> session_edges() const;
  // What makes a history with statements and times harder to read: operations in one statement,
  // locks, inserts, and pairs of real time.
  std::vector<Signal> decorations() const;

  Circuit& circuit() const { return circuit_; }

 private:
  void build(const std::function<Signal()>& next);
  void derive();
  Signal add(const std::function<Signal()>& next, Meaning meaning);
  void require_sessions() const;
  void require_reads() const;
  void require_key_order() const;
  void require_times() const;
  // synth/statements.cpp
  void add_operations(const std::function<Signal()>& next);
  void require_statements() const;
  Signal claims(int slot, int x, bool inserts) const;
  Signal any_of_kind(int slot, bool claims) const;
  // The reads of x by t as operations: how many there are, if each is one.
  void add_read_operations(int t, int x, std::vector<Signal>& operations) const;
  std::size_t index(int t, int x) const {
    return static_cast<std::size_t>(t) * static_cast<std::size_t>(keys()) +
           static_cast<std::size_t>(x);
  }

  Circuit& circuit_;
  Frame frame_;
  std::vector<Signal> inputs_;
  std::vector<Meaning> meanings_;
  std::vector<Signal> writes_;
  std::vector<Signal> reads_;
  std::vector<Signal> used_;
  std::vector<Signal> aborted_;
  std::vector<Signal> filled_;
  std::vector<Matrix> wr_;
  Matrix any_wr_;
  Matrix so_;
  Matrix rt_;
  std::vector<std::vector<Signal>> operations_;  // by kind: by slot and key
  std::vector<Signal> joined_;                   // by slot
};

// Of m signals: the i-th of the result says that at least i+1 of them are true.
std::vector<Signal> sorted_count(Circuit& circuit, const std::vector<Signal>& signals);

}  // namespace isoscope::synthesis
