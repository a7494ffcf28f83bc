#pragma once
// How a format would put a history into words, or why it cannot. The first half of every writer.
//
// Formats differ in what they have words for (a Dialect). A history fits if, read back, every
// read would see the same writer and nothing else had changed. Most reads can be told by their
// value; a read whose value two transactions wrote needs the writer's name, and a key whose
// initial value is not the format's own needs a statement. A Wording holds these decisions.
//
// Initial values that a file implies are a convention of its format, not facts: the initial state
// that Elle calls nil is called 0 in plume. Those that a file states are facts, and are kept.
//
// Cost  Two passes over the events and one hash table of all writes, 16 bytes a slot.
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/formats.h"
#include "history/builder.h"

namespace isoscope {

// Which transactions of an outcome a format can express.
enum class Extent : std::uint8_t { None, OneWrite, WritesOnly, All };
// What a format has for keys and values.
enum class Alphabet : std::uint8_t {
  Numbers,     // unsigned, 64 bits
  Texts,       // and integers, which cannot be distinguished from texts that look like one
  Unicode,     // and integers, apart; texts are UTF-8
  TraceWords,  // texts that can stand in the brackets of a trace
};
// Which times of transactions a format can express.
enum class Times : std::uint8_t {
  None,
  OfOperations,  // those of invocations and completions: all or none, in the order of the sessions
  Any,
};
// What a format calls sessions and transactions.
enum class Names : std::uint8_t { Numbers, Words, Any };

struct Dialect {
  Format format = Format::Hist;
  InitialValues initial = InitialValues::Zero;
  Alphabet keys = Alphabet::Numbers;
  Alphabet values = Alphabet::Numbers;
  Names names = Names::Numbers;
  Extent aborted = Extent::None;
  Extent unknown = Extent::None;
  bool nil = false;             // can nil be read and written?
  bool lists = false;           // are there lists?
  bool levels = false;          // can transactions have levels of their own?
  bool notes = false;           // can they have notes, numbers of commits, and the file a header?
  bool statements = false;      // can events be grouped, rows be locked, inserts be marked?
  Times times = Times::None;    // can they have times?
  bool empty_txns = false;      // can they be without events?
  bool names_writers = false;   // can a read name its writer?
  bool names_initial = false;   // can a read at least name the initial transaction?
  bool states_initial = false;  // can the file state initial values?
  bool has_values = true;       // or only writers?
};

// Requires: can_write(format).
const Dialect& dialect_of(Format format);

class Wording {
 public:
  // Says what stands in the way, and where; leaves it to the caller to know other formats.
  static Result<Wording> of(const History& h, const Dialect& dialect);

  // Must this read name its writer?
  bool names_writer(EventId e) const { return !by_name_.empty() && by_name_[e.index]; }
  // The initial value that the file must state for x.
  std::optional<Value> stated_initial(KeyId x) const {
    if (stated_.empty() || !stated_[x.index]) return {};
    return h_->initial_value(x);
  }
  // The value that the file gives to the event: what the history says, except that reads of an
  // initial value which is implied follow the format's convention.
  Value value(EventId e) const;
  // Is it an external read from T0?
  bool reads_initial(EventId e) const {
    return h_->is_external_read(e) && h_->writer(e) == kInitialTxn;
  }

 private:
  friend class WordingFinder;
  Wording(const History& h, const Dialect& dialect) : h_(&h), dialect_(&dialect) {}

  const History* h_;
  const Dialect* dialect_;
  std::vector<bool> by_name_;  // by event; empty if no read needs it
  std::vector<bool> stated_;   // by key; empty if no key needs it
};

}  // namespace isoscope
