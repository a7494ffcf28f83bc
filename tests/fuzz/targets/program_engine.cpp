// Programs made from choices: the compiled code runs as the syntax tree does.
#include "program/comparison.h"
#include "program/random_program.h"
#include "target.h"

namespace isoscope {

bool fuzz(FuzzInput input) {
  const std::string text = RandomProgram(Choices(input)).text();
  const auto program = parse_program(text);
  if (!program) {
    // The only thing that can be wrong: an argument that overflows.
    EXPECT_EQ(program.error().what, "this constant overflows") << render(program.error());
    return false;
  }
  SerialRun run;
  compare_with_syntax_tree(text, *program, run);
  return true;
}

}  // namespace isoscope
