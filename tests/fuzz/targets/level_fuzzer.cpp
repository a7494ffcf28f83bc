// Any bytes as the text of levels: an Error with a place inside the text, or levels that print,
// read back, and can be evaluated.
#include "history/builder.h"
#include "spec/evaluate.h"
#include "spec/levels.h"
#include "spec/print.h"
#include "support/assert.h"
#include "target.h"

namespace isoscope {
namespace {

// Two transactions that share a key: enough for every relation to have a pair.
const History& small_history() {
  static const History h = [] {
    HistoryBuilder b(InitialValues::Zero);
    const KeyId x = b.key("x");
    const TxnId t1 = b.begin(b.session("s1"), TxnStatus::Committed, {1, 1});
    b.write(t1, x, Value::of(1), {1, 2});
    const TxnId t2 = b.begin(b.session("s2"), TxnStatus::Committed, {2, 1});
    b.read(t2, x, Value::of(1), {2, 2});
    b.write(t2, x, Value::of(2), {2, 3});
    auto built = std::move(b).build();
    ISO_ASSERT(built.ok());
    return std::move(*built);
  }();
  return h;
}

// Loops over many variables take long, but not wrong.
bool is_quick(const Level& level) {
  for (const Axiom& axiom : level.axioms) {
    if (axiom.slots > 6 || axiom.text.size() > 500) return false;
  }
  return true;
}

void use(const Level& level) {
  LevelSet levels;
  const auto read_back = levels.add(print(level), "printed");
  ISO_ASSERT(read_back.ok());
  ISO_ASSERT(levels.all().size() == 1);
  ISO_ASSERT(print(*levels.all()[0]) == print(level));
  ISO_ASSERT(!describe(level).empty());
  if (!is_quick(level)) return;
  Evaluator evaluator(small_history(), {&level, {}});
  const Witness witness{level.framework, {TxnId{0}, TxnId{1}, TxnId{2}}, std::nullopt};
  if (const auto failure = evaluator.evaluate(witness))
    ISO_ASSERT(!describe(*failure, small_history()).empty());
}

}  // namespace

bool fuzz(FuzzInput input) {
  LevelSet levels = LevelSet::built_in();
  const std::size_t known = levels.all().size();
  if (const auto added = levels.add(as_text(input), "fuzz"); !added) {
    ISO_ASSERT(added.error().where.line > 0);
    ISO_ASSERT(!render(added.error()).empty());
    return false;
  }
  for (std::size_t i = known; i < levels.all().size(); ++i) use(*levels.all()[i]);
  return levels.all().size() > known;
}

}  // namespace isoscope
