#include "api/callables.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <unordered_map>

#include "support/assert.h"

namespace isoscope::api {
namespace {

// The state, and at the end the locals: how many reads, the reads, a digest of what the body did
// up to the last of them, how many writes of the segment have been told; then pairs of a note's
// number and its value.
class BodyExecutor final : public Executor {
 public:
  explicit BodyExecutor(const Callables& program) : program_(program) {}

  void start(CallId call) override {
    call_ = call;
    reads_.clear();
    digest_ = 0;
    enter();
  }

  Stop run() override {
    if (num_told_ < segment_->writes.size()) {
      const KeyWrite& write = segment_->writes[num_told_++];
      return {StopKind::Write, write.key, write.value};
    }
    return {segment_->stop, segment_->key, 0};
  }

  void answer(std::int64_t value) override {
    ISO_ASSERT(segment_->stop == StopKind::Read);
    // What the body did up to here, and must do again when it is run with one more answer.
    digest_ = segment_->at_read;
    reads_.push_back(value);
    enter();
  }

  Error fault() const override {
    return {.what = fmt::format("{} ({}) {}", program_.name(call_),
                                program_.outline().calls[call_].name, segment_->fault)};
  }

  std::span<const std::int64_t> state() const override {
    state_.clear();
    state_.push_back(static_cast<std::int64_t>(reads_.size()));
    state_.insert(state_.end(), reads_.begin(), reads_.end());
    state_.push_back(static_cast<std::int64_t>(digest_));
    state_.push_back(static_cast<std::int64_t>(num_told_));
    for (const auto& [name, value] : segment_->numbered_notes) {
      state_.push_back(name);
      state_.push_back(value);
    }
    return state_;
  }

  void restore(CallId call, std::span<const std::int64_t> state) override {
    call_ = call;
    const auto num_reads = static_cast<std::size_t>(state[0]);
    reads_.assign(state.begin() + 1, state.begin() + 1 + static_cast<std::ptrdiff_t>(num_reads));
    digest_ = static_cast<std::uint64_t>(state[num_reads + 1]);
    const auto num_told = static_cast<std::size_t>(state[num_reads + 2]);
    enter();
    num_told_ = num_told;
  }

  std::size_t num_locals() const override { return state().size(); }

  std::optional<AssertionId> failed_assertion() const override { return segment_->failed; }

 private:
  // Segments that an executor keeps; beyond that it forgets all and starts anew.
  static constexpr std::size_t kMaxKept = 20'000;

  struct Kept : Segment {
    std::optional<AssertionId> failed;
    std::vector<std::pair<std::uint32_t, Value>> numbered_notes;
  };
  struct Hash {
    std::size_t operator()(const std::vector<std::int64_t>& numbers) const noexcept {
      std::uint64_t hash = 0;
      for (const std::int64_t number : numbers) {
        hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 29;
      }
      return hash;
    }
  };

  // Makes segment_ the one after reads_.
  void enter() {
    num_told_ = 0;
    path_.assign(1, call_.index);
    path_.insert(path_.end(), reads_.begin(), reads_.end());
    if (const auto found = kept_.find(path_); found != kept_.end()) {
      segment_ = &found->second;
      return;
    }
    if (kept_.size() >= kMaxKept) kept_.clear();
    segment_ = &kept_.emplace(path_, execute()).first->second;
  }

  Kept execute() const {
    const Body& body = program_.body(call_);
    Kept kept{BodyRun::execute(body, program_.keys(), reads_), {}, {}};
    const Segment again = BodyRun::execute(body, program_.keys(), reads_);
    const bool repeats = kept.digest == again.digest && kept.before == again.before &&
                         (reads_.empty() || kept.before == digest_);
    if (!repeats) {
      kept.writes.clear();
      kept.stop = StopKind::Fault;
      kept.fault = fmt::format(
          "does not repeat itself: after the same {} it did two different things; a body must "
          "depend on nothing but its reads",
          reads_.empty()       ? "beginning"
          : reads_.size() == 1 ? "read"
                               : "reads");
    }
    if (!kept.failed_check.empty())
      kept.failed = AssertionId{program_.number_of(kept.failed_check)};
    for (const Note& note : kept.notes)
      kept.numbered_notes.emplace_back(program_.number_of(note.name), note.value);
    return kept;
  }

  const Callables& program_;
  CallId call_;
  std::vector<std::int64_t> reads_;
  std::uint64_t digest_ = 0;
  std::size_t num_told_ = 0;
  const Kept* segment_ = nullptr;
  std::unordered_map<std::vector<std::int64_t>, Kept, Hash> kept_;
  std::vector<std::int64_t> path_;
  mutable std::vector<std::int64_t> state_;
};

}  // namespace

Callables::Callables(Outline outline, std::vector<Body> bodies, std::vector<FinalCheck> checks)
    : outline_(std::move(outline)), bodies_(std::move(bodies)), checks_(std::move(checks)) {
  for (const FinalCheck& check : checks_) texts_.push_back(check.text);
}

std::unique_ptr<Executor> Callables::executor() const {
  return std::make_unique<BodyExecutor>(*this);
}

std::string Callables::name(CallId call) const {
  const Call& c = outline_.calls[call];
  return fmt::format("{}[{}]", outline_.sessions[c.session].name, c.number);
}

std::uint32_t Callables::number_of(std::string_view text) const {
  const std::scoped_lock lock(mutex_);
  const auto first = texts_.begin() + static_cast<std::ptrdiff_t>(checks_.size());
  const auto found = std::find(first, texts_.end(), text);
  const auto number = static_cast<std::uint32_t>(found - texts_.begin());
  if (found == texts_.end()) texts_.emplace_back(text);
  return number;
}

FailedAssertion Callables::assertion(AssertionId number) const {
  const std::scoped_lock lock(mutex_);
  return {.text = texts_[number.index]};
}

TxnRun Callables::txn_run(CallId call, bool committed, std::span<const std::int64_t> locals) const {
  TxnRun run{.name = name(call),
             .label = outline_.calls[call].name,
             .committed = committed,
             .reads = {},
             .notes = {},
             .accesses = {}};
  const auto num_reads = static_cast<std::size_t>(locals[0]);
  const auto reads = locals.subspan(1, num_reads);
  run.reads.assign(reads.begin(), reads.end());
  for (std::size_t i = num_reads + 3; i + 1 < locals.size(); i += 2) {
    const AssertionId note{static_cast<std::uint32_t>(locals[i])};
    run.notes.push_back({assertion(note).text, locals[i + 1]});
  }
  return run;
}

std::optional<AssertionId> Callables::failed_at_end(std::span<const Ending> endings,
                                                    std::span<const std::int64_t>) const {
  if (checks_.empty()) return std::nullopt;
  std::vector<TxnRun> txns;
  for (std::uint32_t call = 0; call < endings.size(); ++call)
    txns.push_back(txn_run(CallId{call}, endings[call].committed, endings[call].locals));
  const Run run(std::move(txns));
  for (std::uint32_t i = 0; i < checks_.size(); ++i) {
    const auto fail = [&](const std::string& why) {
      const std::scoped_lock lock(mutex_);
      if (failure_at_end_.empty())
        failure_at_end_ = fmt::format("the check '{}' threw an exception{}", checks_[i].text, why);
    };
    try {
      if (!checks_[i].holds(run)) return AssertionId{i};
    } catch (const std::exception& error) {
      fail(fmt::format(": {}", error.what()));
      return AssertionId{i};
    } catch (...) {
      fail(" that is no std::exception");
      return AssertionId{i};
    }
  }
  return std::nullopt;
}

std::string Callables::failure_at_end() const {
  const std::scoped_lock lock(mutex_);
  return failure_at_end_;
}

}  // namespace isoscope::api
