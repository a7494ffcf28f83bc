// Any bytes as the text of a program: an Error with a place, or a program that runs serially, each
// read answered by the latest write, up to a bounded number of accesses; and whose transactions,
// put back to a read, do the same again.
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "program/program.h"
#include "support/assert.h"
#include "target.h"

namespace isoscope {
namespace {

constexpr int kMaxAccesses = 200;  // of one transaction

void use(const Program& program) {
  std::unordered_map<ProgramKey, std::int64_t> store;
  std::vector<std::vector<std::int64_t>> locals;
  std::vector<bool> committed;
  const auto executor = program.executor();
  for (std::uint32_t i = 0; i < program.outline().calls.size() && i < 20; ++i) {
    const CallId call{i};
    executor->start(call);
    Stop stop = executor->run();
    for (int n = 0; n < kMaxAccesses; ++n) {
      if (stop.kind == StopKind::Write) {
        store[stop.key] = stop.value;
        stop = executor->run();
      } else if (stop.kind == StopKind::Read) {
        ISO_ASSERT(!program.keys().name(stop.key).empty());
        const std::vector<std::int64_t> state(executor->state().begin(), executor->state().end());
        const auto known = store.find(stop.key);
        const std::int64_t value =
            known == store.end() ? program.keys().initial(stop.key) : known->second;
        executor->answer(value);
        stop = executor->run();
        executor->restore(call, state);
        executor->answer(value);
        const Stop again = executor->run();
        ISO_ASSERT(again.kind == stop.kind && again.key == stop.key && again.value == stop.value);
      } else {
        break;
      }
    }
    if (stop.kind == StopKind::Fault) ISO_ASSERT(!render(executor->fault()).empty());
    if (const auto failed = executor->failed_assertion())
      ISO_ASSERT(!program.assertion(*failed).text.empty());
    ISO_ASSERT(program.local_names(call).size() == executor->num_locals());
    const auto end = executor->state().first(executor->num_locals());
    locals.emplace_back(end.begin(), end.end());
    committed.push_back(stop.kind == StopKind::Commit);
  }
  if (locals.size() < program.outline().calls.size()) return;
  std::vector<Ending> endings;
  for (std::size_t i = 0; i < locals.size(); ++i) endings.push_back({committed[i], locals[i]});
  if (const auto failed = program.failed_at_end(endings, {}))
    ISO_ASSERT(!program.assertion(*failed).text.empty());
}

}  // namespace

bool fuzz(FuzzInput input) {
  const auto program = parse_program(as_text(input));
  if (!program) {
    ISO_ASSERT(program.error().where.line > 0);
    ISO_ASSERT(!render(program.error()).empty());
    return false;
  }
  use(*program);
  return !program->outline().calls.empty();
}

}  // namespace isoscope
