#pragma once
// What a complete history says about commit orders: whom weak levels put before whom, and what a
// linearizer has to know.
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "explore/engine.h"
#include "explore/walk.h"
#include "history/builder.h"
#include "store/forced_order.h"
#include "store/linearizer.h"
#include "support/assert.h"

namespace isoscope::explore {

template <class Set>
std::map<ProgramKey, Set> writers_in(const EndState<Set>& end) {
  std::map<ProgramKey, Set> writers;
  for (const Entry& entry : end.order) {
    const Block<Set>& block = end.trail.blocks[entry.block];
    if (!block.is_committed) continue;
    for (const WriteEvent& write : end.trail.writes_of(block))
      writers[write.key].insert(block.call);
  }
  return writers;
}

// Whom so, wr and the weak levels of all calls put before each call; nothing if that is a cycle.
// Every order that contains it is a commit order of the levels.
template <class Set>
std::optional<ById<CallId, Set>> forced_rows(const Executable& program, const EndState<Set>& end,
                                             const ById<CallId, WeakLevel>& levels) {
  const std::map<ProgramKey, Set> writers = writers_in(end);
  const auto writers_of = [&](ProgramKey x) {
    const auto found = writers.find(x);
    return found == writers.end() ? Set{} : found->second;
  };
  ById<CallId, Set> rows(end.order.size());
  ById<CallId, Set> past(end.order.size());
  ForcedOrder<Set> forced(rows);
  const auto past_of = [&](CallId t) -> const Set& { return past[t]; };
  std::vector<ForcedEdges<Set>> edges;
  const auto add_edge = [&](const Set& from, CallId to) { edges.push_back({from, to}); };
  for (const Entry& entry : end.order) {
    const Block<Set>& block = end.trail.blocks[entry.block];
    past[block.call] = block.past;
    forced.append(block.call, block.past);
    const Call& call = program.outline().calls[block.call];
    Reader<Set> reader{
        .level = levels[block.call],
        .session = Set::between(program.outline().sessions[call.session].first, block.call)};
    // What it has seen before each of its reads; not every engine keeps that.
    reader.past = reader.session;
    reader.session.for_each([&](CallId before) { reader.past |= past[before]; });
    const auto reads = end.trail.reads_of(block);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      reader.reads = reads.first(i);
      const CallId w = reads[i].writer;
      if (!collect_forced(reader, reads[i].key, w, past_of, writers_of, add_edge))
        return std::nullopt;
      if (w == kInitialWriter) continue;
      reader.past |= past[w];
      reader.past.insert(w);
      reader.read_from.insert(w);
    }
  }
  const bool is_possible =
      std::all_of(edges.begin(), edges.end(),
                  [&](const ForcedEdges<Set>& edge) { return forced.add(edge.from, edge.to); });
  if (!is_possible) return std::nullopt;
  return rows;
}

// Of those that read from a snapshot; what others read has to be said by add_before().
template <class Set, class HasSnapshot>
LinearFacts<Set> linear_facts(const Executable& program, const EndState<Set>& end,
                              const HasSnapshot& has_snapshot) {
  LinearFacts<Set> facts(static_cast<std::uint32_t>(end.order.size()));
  const std::map<ProgramKey, Set> writers = writers_in(end);
  for (const Entry& entry : end.order) {
    const Block<Set>& block = end.trail.blocks[entry.block];
    facts.add_txn(block.call, program.outline().calls[block.call].session, block.read_from);
  }
  for (const Entry& entry : end.order) {
    const Block<Set>& block = end.trail.blocks[entry.block];
    for (const ReadEvent<Set>& read : end.trail.reads_of(block)) {
      if (!has_snapshot(block.call)) break;
      if (const auto found = writers.find(read.key); found != writers.end())
        facts.add_read(block.call, read.writer == kInitialWriter ? nullptr : &read.writer,
                       found->second);
    }
    if (!block.is_committed) continue;
    for (const WriteEvent& write : end.trail.writes_of(block)) {
      Set others = writers.at(write.key);
      others.erase(block.call);
      facts.add_conflict(block.call, others);
    }
  }
  return facts;
}

// The history with numbers for names, in which each call writes its own number: what a level says
// of it is what it says of the history with names.
template <class Set>
History numbered_history(const Executable& program, const EndState<Set>& end) {
  HistoryBuilder builder(InitialValues::Zero);
  ById<CallId, bool> is_committed(program.outline().calls.size(), false);
  const auto value_of = [](CallId call) { return Value::of(std::int64_t{call.index} + 1); };
  for (const Entry& entry : end.order) {
    const Block<Set>& block = end.trail.blocks[entry.block];
    const Call& call = program.outline().calls[block.call];
    const auto writes = end.trail.writes_of(block);
    is_committed[block.call] = block.is_committed;
    if (call.attempt > 1 && is_committed[call_before(block.call)]) continue;  // left out
    const TxnId t =
        builder.begin(builder.session(call.session.index),
                      block.is_committed ? TxnStatus::Committed : TxnStatus::Aborted, {});
    if (!call.level.empty()) builder.set_level(t, call.level);
    end.trail.for_each_read(block, [&](ProgramKey x, CallId writer, std::uint32_t) {
      builder.read(t, builder.key(x.index),
                   writer == kInitialWriter ? Value::of(0) : value_of(writer), {});
    });
    for (std::size_t i = 0; i < writes.size(); ++i) {
      const auto later = writes.subspan(i + 1);
      const bool is_last = std::none_of(later.begin(), later.end(), [&](const WriteEvent& other) {
        return other.key == writes[i].key;
      });
      if (is_last) builder.write(t, builder.key(writes[i].key.index), value_of(block.call), {});
    }
  }
  Result<History> history = std::move(builder).build();
  ISO_ASSERT(history.ok());  // values are unique
  return *std::move(history);
}

}  // namespace isoscope::explore
