#include "explore/run.h"

#include <fmt/format.h>

#include "history/builder.h"
#include "store/txn_set.h"
#include "support/assert.h"

namespace isoscope::explore {
namespace {

std::int64_t value_of(const ProgramRun& run, const KeyTable& keys, std::uint32_t writer,
                      ProgramKey x) {
  if (writer == kInitial) return keys.initial(x);
  const std::vector<RunEvent>& events = run.txns[writer].events;
  for (std::size_t i = events.size(); i-- > 0;) {
    if (!events[i].is_read && events[i].key == x) return events[i].value;
  }
  ISO_ASSERT(false);
  return 0;
}

}  // namespace

template <class Set>
ProgramRun make_run(const Executable& program, const EndState<Set>& end) {
  ProgramRun run;
  run.txns.resize(program.outline().calls.size());
  for (const Entry& entry : end.order) {
    const Block<Set>& block = end.trail.blocks[entry.block];
    run.order.push_back(block.call);
    RunTxn& txn = run.txns[block.call];
    txn.is_committed = block.is_committed;
    const auto locals = end.trail.locals_of(block);
    txn.locals.assign(locals.begin(), locals.end());
    std::uint32_t next_write = block.writes_begin;
    const auto add_writes = [&](std::uint32_t up_to) {
      for (; next_write < up_to; ++next_write) {
        const WriteEvent& write = end.trail.writes[next_write];
        txn.events.push_back({.key = write.key, .value = write.value});
      }
    };
    for (const ReadEvent<Set>& read : end.trail.reads_of(block)) {
      add_writes(read.writes_end);
      txn.events.push_back({.is_read = true,
                            .key = read.key,
                            .value = value_of(run, program.keys(), read.writer, read.key),
                            .writer = read.writer});
    }
    add_writes(block.writes_end);
    if (block.failed_assertion) run.failed_assertions.push_back(*block.failed_assertion);
  }
  return run;
}

std::string name_of(const Executable& program, std::uint32_t call) {
  const Call& c = program.outline().calls[call];
  return fmt::format("{}[{}]", program.outline().sessions[c.session].name, c.number);
}

History to_history(const Executable& program, const ProgramRun& run) {
  HistoryBuilder builder(InitialValues::None);
  for (const Session& session : program.outline().sessions) builder.session(session.name);
  for (const std::uint32_t call : run.order) {
    const Call& c = program.outline().calls[call];
    const RunTxn& txn = run.txns[call];
    const TxnId t =
        builder.begin(builder.session(program.outline().sessions[c.session].name),
                      txn.is_committed ? TxnStatus::Committed : TxnStatus::Aborted, c.place);
    builder.set_name(t, name_of(program, call));
    if (!c.level.empty()) builder.set_level(t, c.level);
    for (const RunEvent& event : txn.events) {
      const KeyId x = builder.key(program.keys().name(event.key));
      builder.set_initial(x, Value::of(program.keys().initial(event.key)), {});
      if (event.is_read) {
        builder.read_from(t, x, event.writer == kInitial ? "T0" : name_of(program, event.writer),
                          c.place);
      } else {
        builder.write(t, x, Value::of(event.value), c.place);
      }
    }
  }
  Result<History> history = std::move(builder).build();
  ISO_ASSERT(history.ok());  // writers exist and wrote the keys
  return std::move(*history);
}

std::vector<std::uint32_t> read_from_map(const ProgramRun& run) {
  std::vector<std::uint32_t> map;
  for (const RunTxn& txn : run.txns) {
    for (const RunEvent& event : txn.events) {
      if (event.is_read) map.push_back(event.writer);
    }
    map.push_back(kInitial - 1);
  }
  return map;
}

template ProgramRun make_run(const Executable& program, const EndState<TxnSet<1>>& end);
template ProgramRun make_run(const Executable& program, const EndState<TxnSet<4>>& end);

}  // namespace isoscope::explore
