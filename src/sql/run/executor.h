#pragma once
// Runs calls of an SqlProgram stop by stop, by running them again with one more answer.
//
// Between two answered reads a call can only write, so what an execution adds to the one with one
// answer less is a Segment: the writes since the last answer, and how it stops.
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sql/run/program.h"

namespace isoscope::sql {

struct Segment {
  struct Write {
    ProgramKey key;
    std::int64_t value = 0;
  };
  std::vector<Write> writes;
  StopKind stop = StopKind::Commit;
  ProgramKey key = {};               // of a read
  std::string fault = {};            // why it cannot go on
  std::vector<std::int64_t> locals;  // at the end; before it, they are not known
};

// The database of one execution: reads are answered from a list, and the call is left at the first
// read beyond it.
class CallDatabase final : public Database {
 public:
  // Thrown to leave the call.
  struct Leave {};

  CallDatabase(const SqlProgram& program, CallId call, std::span<const std::int64_t> answers)
      : program_(program), call_(call), answers_(answers) {}

  std::vector<RowKey> rows(TableId table) override;
  bool is_present(TableId table, const RowKey& key) override;
  Value read(TableId table, const RowKey& key, ColumnId column) override;
  void set_present(TableId table, const RowKey& key, bool present) override;
  void write(TableId table, const RowKey& key, ColumnId column, Value value) override;
  void lock(TableId, const RowKey&, Lock) override {}
  Value fresh(TableId table, ColumnId column) override;
  std::int64_t draw(SequenceId) override;
  bool may_meet_rows(SequenceId sequence) const override {
    return program_.app().sequences[sequence.index].may_meet_rows;
  }

  // The last segment.
  Segment take() { return std::move(segment_); }

 private:
  std::int64_t next_fresh();
  std::int64_t read(ProgramKey key);
  void write(ProgramKey key, std::int64_t value);

  const SqlProgram& program_;
  CallId call_;
  std::span<const std::int64_t> answers_;
  std::size_t num_answered_ = 0;
  std::int64_t num_fresh_ = 0;
  std::unordered_map<ProgramKey, std::int64_t> own_;
  std::map<TableId, std::set<RowKey>> own_rows_;
  Segment segment_;
};

class SqlExecutor final : public Executor {
 public:
  explicit SqlExecutor(const SqlProgram& program) : program_(program), budget_(program.budget()) {}

  void start(CallId call) override;
  Stop run() override;
  void answer(std::int64_t value) override;
  Error fault() const override;
  // The locals, how many writes of the segment were reported, the answers.
  std::span<const std::int64_t> state() const override;
  void restore(CallId call, std::span<const std::int64_t> state) override;
  std::size_t num_locals() const override { return program_.local_names(call_).size(); }
  std::optional<AssertionId> failed_assertion() const override { return std::nullopt; }

 private:
  // Segments that an executor keeps; beyond that it forgets all and starts anew.
  static constexpr std::size_t kMaxKept = 20'000;
  static constexpr std::size_t kMaxSteps = 100'000;

  struct Hash {
    std::size_t operator()(const std::vector<std::int64_t>& numbers) const noexcept;
  };

  // Makes segment_ the one after answers_.
  void enter();
  Segment execute();

  const SqlProgram& program_;
  Budget budget_;
  CallId call_;
  std::vector<std::int64_t> answers_;
  std::size_t num_told_ = 0;
  const Segment* segment_ = nullptr;
  std::unordered_map<std::vector<std::int64_t>, Segment, Hash> kept_;
  std::vector<std::int64_t> path_;
  mutable std::vector<std::int64_t> state_;
};

}  // namespace isoscope::sql
