#pragma once
// One execution of a transaction's body: its reads are answered from a list, and the body is left
// at the first read beyond it.
//
// Between two answered reads a body can only write, check and note, so what an execution adds to
// the one with one answer less is a Segment: the writes since the last answer, and how it stops.
// Digests sum up an execution, so that two of them can be compared without keeping them.
#include <isoscope/isoscope.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/executable.h"

namespace isoscope::api {

struct KeyWrite {
  ProgramKey key;
  std::int64_t value = 0;
};

struct Segment {
  std::vector<KeyWrite> writes;
  StopKind stop = StopKind::Commit;
  ProgramKey key;            // of a read
  std::string fault;         // why it cannot go on
  std::string failed_check;  // the first of the transaction; empty if there is none
  std::vector<Note> notes;   // so far, by name
  // Digests of what the body did: up to the last answered read, up to the read that it stops at,
  // and in all.
  std::uint64_t before = 0;
  std::uint64_t at_read = 0;
  std::uint64_t digest = 0;
};

class BodyRun {
 public:
  // Accesses of one transaction; a body with more is taken for one without end.
  static constexpr std::size_t kMaxAccesses = 100'000;

  // Runs `body` with these answers.
  static Segment execute(const Body& body, KeyTable& keys, std::span<const std::int64_t> answers);

 private:
  friend class Txn;

  // Ends the body. No std::exception, so that handlers of the body's own errors let it pass.
  struct Leave {};

  BodyRun(KeyTable& keys, std::span<const std::int64_t> answers) : keys_(keys), answers_(answers) {}

  Value read(std::string_view name);
  void write(std::string_view name, Value value);
  [[noreturn]] void abort();
  void check(bool condition, std::string_view text);
  void note(std::string_view name, Value value);

  ProgramKey begin_access(std::string_view name);
  void expect_running() const {
    if (is_over_) throw Leave{};
  }
  [[noreturn]] void leave(StopKind stop);
  void mix(std::uint64_t number);
  void mix(std::string_view text) { mix(std::hash<std::string_view>()(text)); }

  KeyTable& keys_;
  std::span<const std::int64_t> answers_;
  std::size_t num_answered_ = 0;
  std::size_t num_accesses_ = 0;
  std::map<ProgramKey, Value> own_;
  Segment segment_;
  // The body may catch our exception; what it does then no longer counts.
  bool is_over_ = false;
};

}  // namespace isoscope::api
