#include "generate/injector.h"

#include <map>
#include <utility>
#include <vector>

#include "formats/hist.h"

namespace isoscope::simulation {

Result<void> inject(const Injection& injection, Workload& workload, Recorder& recorder) {
  const Result<History> script = read_hist(injection.script);
  if (!script) return script.error();
  const std::uint32_t first_session = workload.next_session();
  std::map<std::pair<KeyId, Value>, std::int64_t> values;  // of the script, and what stands for it
  std::vector<PlainOp> ops;
  for (const TxnId t : script->txns()) {
    if (t == kInitialTxn) continue;
    ops.clear();
    for (const EventId e : script->events(t)) {
      const KeyId x = script->key(e);
      std::int64_t& value = values[{x, script->value(e)}];
      const bool is_initial = script->value(e) == script->initial_value(x);
      if (value == 0 && !is_initial) value = workload.fresh_value();
      ops.push_back({script->is_write(e), workload.plan().keys + x.index, value});
    }
    const std::uint32_t session =
        (first_session + script->session(t).index) % workload.plan().sessions;
    recorder.inject(session, script->status(t), ops);
  }
  return {};
}

}  // namespace isoscope::simulation
