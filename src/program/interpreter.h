#pragma once
// Executes code up to its next access to the database.
#include <span>

#include "program/code.h"
#include "program/executable.h"

namespace isoscope {

// Loop rounds of one transaction beyond which we take a loop for endless. A round of many
// instructions counts as several, one for each kStepsPerRound, so that every transaction ends soon.
inline constexpr std::int64_t kMaxRounds = 100'000;
inline constexpr std::int64_t kStepsPerRound = 1'000;

// Finds the numbers of computed keys. Those with one or two small indices stand in tables, of the
// others the last ones are remembered: the table of all keys, which threads share, is asked seldom.
class KeyFinder {
 public:
  explicit KeyFinder(KeyTable& keys) : keys_(keys), entries_(kNumEntries) {}
  KeyFinder(const KeyFinder&) = delete;
  KeyFinder& operator=(const KeyFinder&) = delete;
  ~KeyFinder() { drop_but({}); }
  ProgramKey find(const KeyTerm& term, const std::int64_t* registers);

  // From now on the keys that it finds are held (KeyTable::hold), until they are dropped.
  void hold() { holds_ = true; }
  std::size_t num_held() const { return held_.size(); }
  void drop_but(std::span<const ProgramKey> used);

 private:
  static constexpr std::size_t kNumEntries = 2048;
  static constexpr std::int64_t kSmall = 1024;     // the index of t[i]
  static constexpr std::int64_t kSmallOfTwo = 32;  // those of t[i, j]
  struct Entry {
    FamilyId family = FamilyId::none();
    std::vector<std::int64_t> indices;
    ProgramKey key;
  };

  // By family and small index, or both: one more than the key's number, 0 if it is not known yet.
  struct Small {
    std::vector<std::uint32_t> one;
    std::vector<std::uint32_t> two;
  };
  ProgramKey find_small(std::vector<std::uint32_t>& known, std::size_t at, const KeyTerm& term,
                        const std::int64_t* registers);

  ProgramKey name(FamilyId family);  // with indices_

  KeyTable& keys_;
  bool holds_ = false;
  std::vector<ProgramKey> held_;
  std::vector<bool> is_held_;  // by key
  std::vector<Small> small_;
  std::vector<Entry> entries_;
  std::vector<std::int64_t> indices_;
};

// What a server sees of a transaction: locks, and where statements begin and end.
enum class StepKind : std::uint8_t {
  Read,
  Write,
  Lock,
  LockShared,
  BeginStatement,
  EndStatement,
  Commit,
  Abort,
  Fault,
};
struct Step {
  StepKind kind = StepKind::Commit;
  ProgramKey key = {};
  std::int64_t value = 0;
  std::uint32_t instruction = 0;
};

// Goes on from the instruction that the registers name (kStateWords behind the locals). At a read
// it stays at the read; at an end or a fault it stays there too. Code without computed keys needs
// no finder.
Stop interpret(const Code& code, std::int64_t* registers, KeyFinder* finder);
// The same, and stops behind locks and at the borders of statements, too.
Step interpret_step(const Code& code, std::int64_t* registers, KeyFinder* finder);

// Why it stopped with a Fault.
Error explain_fault(const Code& code, const std::int64_t* registers);

}  // namespace isoscope
