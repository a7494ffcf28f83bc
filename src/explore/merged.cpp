#include "explore/merged.h"

#include <algorithm>

#include "store/txn_set.h"

namespace isoscope::explore {
namespace {

std::uint64_t mixed_word(std::uint64_t word, std::uint64_t factor) {
  word ^= word >> 32;
  word *= factor;
  word ^= word >> 29;
  word *= 0xbf58476d1ce4e5b9;
  return word ^ (word >> 32);
}

}  // namespace

void StateHasher::add(std::uint64_t word) {
  first_ = mixed_word(first_ ^ word, 0x9e3779b97f4a7c15);
  second_ = mixed_word(second_ + word, 0xd6e8feb86659fd93);
}

StateSet::Hash StateHasher::result() const {
  const StateSet::Hash hash = {first_, second_};
  return hash == StateSet::Hash{} ? StateSet::Hash{1, 1} : hash;
}

void StateSet::grow() {
  std::vector<Hash> old = std::move(slots_);
  slots_.assign(std::max<std::size_t>(1024, 2 * old.size()), Hash{});
  size_ = 0;
  for (const Hash& hash : old) {
    if (hash != Hash{}) insert(hash);
  }
}

bool StateSet::insert(const Hash& hash) {
  if (2 * (size_ + 1) > slots_.size()) grow();
  std::size_t i = hash[0] & (slots_.size() - 1);
  for (; slots_[i] != Hash{}; i = (i + 1) & (slots_.size() - 1)) {
    if (slots_[i] == hash) return false;
  }
  if (is_full()) return true;
  slots_[i] = hash;
  ++size_;
  return true;
}

template <class Set>
Merged<Set>::Merged(const Executable& program, const Rules& exact, EndStates<Set>& end_states,
                    Control& control, std::size_t max_states)
    : program_(program),
      end_states_(end_states),
      control_(control),
      budget_(control.budget()),
      executor_(program.executor()),
      trail_(narrow(program.outline().calls.size())),
      past_(program.outline().calls.size()),
      own_(program.outline().calls.size()),
      block_of_(program.outline().calls.size(), kNotBegun),
      seen_(max_states) {
  constexpr std::array kWeak = {Kind::True, Kind::Rc, Kind::Ra, Kind::Cc};
  constexpr std::array kStrong = {Kind::Pc, Kind::Si, Kind::Ser};
  for (const CallId call : block_of_.ids()) {
    auto strong = exact.strong;
    if (!exact.mixed.empty()) strong = exact.mixed[call];
    kinds_.push_back(exact.sight ? Kind::Psi
                     : strong    ? kStrong[static_cast<std::size_t>(*strong)]
                                 : kWeak[static_cast<std::size_t>(exact.weak[call])]);
  }
  for (const Session& session : program.outline().sessions)
    sessions_.push_back({.next = session.first, .end = session.end()});
  note_mentioned();
  note_readable();
}

template <class Set>
void Merged<Set>::raise(Places& places, ProgramKey key, std::uint32_t place) {
  std::uint32_t& own = places.grown(key, 0);
  own = std::max(own, place);
}

template <class Set>
void Merged<Set>::raise(Places& places, const Places& by) {
  for (const ProgramKey key : by.ids()) {
    if (by[key] != 0) raise(places, key, by[key]);
  }
}

template <class Set>
bool Merged<Set>::is_over() {
  if (seen_.is_full()) control_.stop();
  return control_.is_over(budget_, path_);
}

template <class Set>
auto Merged<Set>::versions(ProgramKey x) -> std::vector<Version>& {
  while (!versions_.contains(x)) {
    const ProgramKey added = versions_.next_id();
    versions_.push_back({{kInitialWriter, program_.keys().initial(added)}});
    family_of_.push_back(program_.keys().family(added));
  }
  return versions_[x];
}

template <class Set>
void Merged<Set>::explore() {
  control_.calls.fetch_add(1, std::memory_order_relaxed);
  if (is_over()) return;
  StateSet::Hash state = {};
  // What has failed is told at the end of some run.
  if (num_failed_ == 0) {
    state = hash();
    if (!seen_.insert(state)) {
      ++num_again_;
      return;
    }
  }
  bool is_end = true;
  for (const ProgramSession session : sessions_.ids()) {
    const SessionState& at = sessions_[session];
    if (at.next == at.end) continue;
    is_end = false;
    path_.push_back(session.index);
    if (!at.is_under_way) {
      running_ = {.session = session, .call = at.next, .before = state};
      begin(session);
    } else if (is_free(session, at.block, false)) {
      install(session, at.block, Places(at.pending_past));
    }
    path_.pop_back();
    if (control_.is_stopped()) return;
  }
  if (is_end) end_states_.on_end_state({trail_, trail_.order, path_});
}

template <class Set>
void Merged<Set>::begin(ProgramSession session) {
  const SessionState& at = sessions_[session];
  running_.kind = kinds_[running_.call];
  running_.past = at.past;
  if (running_.kind == Kind::Ra) running_.oldest = at.own;
  if (is_causal(running_.kind)) running_.oldest = at.past;
  running_.is_left_out = program_.outline().calls[running_.call].attempt > 1 &&
                         trail_.blocks[block_of_[call_before(running_.call)]].is_committed;
  const typename Trail<Set>::Mark mark = trail_.mark();
  Block<Set>& block = running_.block;
  block.call = running_.call;
  block.reads_begin = narrow(trail_.reads.size());
  block.writes_begin = narrow(trail_.writes.size());
  for (CallId c = program_.outline().sessions[session].first; c < running_.call; ++c) {
    block.past.insert(c);
    block.past |= trail_.blocks[block_of_[c]].past;
  }
  executor_->start(running_.call);
  go_on();
  trail_.cut(mark);
}

// Runs the call to its end, in every way.
template <class Set>
void Merged<Set>::go_on() {
  for (;;) {
    if (is_over()) return;
    const Stop stop = running_.is_left_out ? Stop{.kind = StopKind::Commit} : executor_->run();
    switch (stop.kind) {
      case StopKind::Write:
        versions(stop.key);
        trail_.writes.push_back({stop.key, stop.value});
        break;
      case StopKind::Read: {
        if (const std::int64_t* own = own_write(stop.key)) {
          executor_->answer(*own);
          break;
        }
        const std::uint32_t last = narrow(versions(stop.key).size() - 1);
        const bool is_free = is_weak(running_.kind);
        const std::uint32_t first = is_free ? at(running_.oldest, stop.key) : last;
        if (first < last) return choose(stop.key, first, last);
        if (!read_version(stop.key, last)) return;
        break;
      }
      case StopKind::Commit:
      case StopKind::Abort: return end_call(stop.kind == StopKind::Commit);
      case StopKind::Fault: return report_fault();
    }
  }
}

// A weak call reads any of these versions.
template <class Set>
void Merged<Set>::choose(ProgramKey x, std::uint32_t first, std::uint32_t last) {
  if (num_failed_ == 0 && !is_new_inside()) {
    ++num_again_;
    return;
  }
  const auto state = executor_->state();
  const std::vector<std::int64_t> kept(state.begin(), state.end());
  const Running before = running_;
  const std::size_t num_reads = trail_.reads.size();
  const std::size_t num_writes = trail_.writes.size();
  for (std::uint32_t place = first; place <= last && !control_.is_stopped(); ++place) {
    executor_->restore(before.call, kept);
    running_ = before;
    trail_.reads.resize(num_reads);
    trail_.writes.resize(num_writes);
    path_.push_back(place);
    if (read_version(x, place)) go_on();
    path_.pop_back();
  }
}

// False if what the call then sees makes an earlier read of it too old.
template <class Set>
bool Merged<Set>::read_version(ProgramKey x, std::uint32_t place) {
  const Version version = versions_[x][place];
  Block<Set>& block = running_.block;
  ReadEvent<Set>& event = trail_.reads.emplace_back();
  event.key = x;
  event.writer = version.writer;
  event.writes_end = narrow(trail_.writes.size());
  running_.reads.push_back({x, place});
  executor_->answer(version.value);
  if (version.writer == kInitialWriter) return true;
  block.read_from.insert(version.writer);
  block.past.insert(version.writer);
  block.past |= trail_.blocks[block_of_[version.writer]].past;
  raise(running_.past, past_[version.writer]);
  switch (running_.kind) {
    case Kind::Rc: raise(running_.oldest, own_[version.writer]); return true;
    case Kind::Ra: raise(running_.oldest, own_[version.writer]); return are_reads_new_enough();
    case Kind::Cc:
    case Kind::Psi: raise(running_.oldest, past_[version.writer]); return are_reads_new_enough();
    case Kind::True:
    case Kind::Pc:
    case Kind::Si:
    case Kind::Ser: return true;
  }
  return true;
}

template <class Set>
bool Merged<Set>::are_reads_new_enough() const {
  return std::all_of(running_.reads.begin(), running_.reads.end(), [&](const ReadPlace& read) {
    return at(running_.oldest, read.key) <= read.place;
  });
}

template <class Set>
void Merged<Set>::end_call(bool is_committed) {
  Block<Set>& block = running_.block;
  block.is_committed = is_committed;
  block.reads_end = narrow(trail_.reads.size());
  block.writes_end = narrow(trail_.writes.size());
  const bool installs = is_committed && block.writes_end > block.writes_begin;
  if (running_.kind == Kind::Psi && installs) {
    for (const WriteEvent& write : trail_.writes_of(block)) {
      const CallId before = versions(write.key).back().writer;
      if (before != kInitialWriter) raise(running_.oldest, past_[before]);
    }
    raise(running_.past, running_.oldest);
    if (!are_reads_new_enough()) return;
  }
  const typename Trail<Set>::Mark mark = trail_.mark();
  block.locals_begin = narrow(trail_.numbers.size());
  const auto locals = executor_->state().first(executor_->num_locals());
  trail_.numbers.insert(trail_.numbers.end(), locals.begin(), locals.end());
  block.locals_end = narrow(trail_.numbers.size());
  block.failed_assertion = executor_->failed_assertion();
  const BlockId number = trail_.blocks.next_id();
  trail_.blocks.push_back(block);
  const Running ended = running_;
  const std::uint32_t failed = block.failed_assertion ? 1 : 0;
  num_failed_ += failed;
  block_of_[ended.call] = number;
  const bool is_split = installs && (ended.kind == Kind::Pc || ended.kind == Kind::Si);
  if (is_split && is_free(ended.session, number, true)) {
    const SessionState before = sessions_[ended.session];
    SessionState& session = sessions_[ended.session];
    session.is_under_way = true;
    session.block = number;
    session.pending_past = ended.past;
    explore();
    sessions_[ended.session] = before;
  } else if (!is_split && is_free(ended.session, number, false)) {
    install(ended.session, number, ended.past);
  }
  block_of_[ended.call] = kNotBegun;
  num_failed_ -= failed;
  running_ = ended;
  trail_.cut(mark);
}

// The transaction commits, or ends without a write; explores what follows.
template <class Set>
void Merged<Set>::install(ProgramSession number, BlockId block_number, const Places& past) {
  const Block<Set> block = trail_.blocks[block_number];
  const SessionState before = sessions_[number];
  SessionState& session = sessions_[number];
  session.is_under_way = false;
  ++session.next;
  raise(session.past, past);
  std::vector<ProgramKey> installed;
  if (block.is_committed) {
    own_[block.call].clear();
    const auto writes = trail_.writes_of(block);
    for (std::size_t i = 0; i < writes.size(); ++i) {
      const ProgramKey x = writes[i].key;
      if (at(own_[block.call], x) != 0) {
        versions_[x].back().value = writes[i].value;  // written again
        continue;
      }
      raise(own_[block.call], x, narrow(versions_[x].size()));
      versions_[x].push_back({block.call, writes[i].value});
      installed.push_back(x);
    }
    raise(session.own, own_[block.call]);
    raise(session.past, own_[block.call]);
  }
  past_[block.call] = session.past;
  trail_.order.push_back({block_number, 0});
  explore();
  trail_.order.pop_back();
  for (const ProgramKey key : installed) versions_[key].pop_back();
  sessions_[number] = before;
}

// Is no other under way at si that writes one of its keys? To begin concerns only those at si.
template <class Set>
bool Merged<Set>::is_free(ProgramSession session, BlockId number, bool begins) const {
  const Block<Set>& block = trail_.blocks[number];
  if (!block.is_committed || (begins && kinds_[block.call] != Kind::Si)) return true;
  for (const ProgramSession other : sessions_.ids()) {
    if (other == session || !sessions_[other].is_under_way) continue;
    const Block<Set>& under_way = trail_.blocks[sessions_[other].block];
    if (kinds_[under_way.call] != Kind::Si) continue;
    for (const WriteEvent& a : trail_.writes_of(block)) {
      for (const WriteEvent& b : trail_.writes_of(under_way)) {
        if (a.key == b.key) return false;
      }
    }
  }
  return true;
}

template <class Set>
const std::int64_t* Merged<Set>::own_write(ProgramKey x) const {
  for (std::size_t i = trail_.writes.size(); i-- > running_.block.writes_begin;) {
    if (trail_.writes[i].key == x) return &trail_.writes[i].value;
  }
  return nullptr;
}

template <class Set>
void Merged<Set>::report_fault() {
  std::vector<ReadValue> reads;
  const auto add = [&](CallId reader, std::span<const ReadEvent<Set>> events) {
    for (const ReadEvent<Set>& event : events) {
      std::int64_t value = program_.keys().initial(event.key);
      for (const Version& version : versions_[event.key]) {
        if (version.writer == event.writer) value = version.value;
      }
      reads.push_back({reader, event.key, event.writer, value});
    }
  };
  for (const Block<Set>& block : trail_.blocks) add(block.call, trail_.reads_of(block));
  add(running_.call,
      std::span<const ReadEvent<Set>>(trail_.reads).subspan(running_.block.reads_begin));
  control_.report(describe_fault(program_, *executor_, running_.call, reads), path_);
}

template class Merged<TxnSet<1>>;
template class Merged<TxnSet<4>>;

}  // namespace isoscope::explore
