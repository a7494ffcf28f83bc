// Serial runs made from choices: predict finds what an enumeration of the whole space finds, with
// as few changed reads.
#include "predict/comparison.h"
#include "support/choices.h"
#include "target.h"

namespace isoscope {

bool fuzz(FuzzInput input) {
  using namespace predict;
  struct Space {
    const char* level;
    Boundary boundary;
  };
  const Space spaces[] = {
      {"rc", Boundary::Relaxed},    {"rc", Boundary::Strict},     {"rc", Boundary::StrictPlus},
      {"ra", Boundary::Relaxed},    {"ra", Boundary::Strict},     {"cc", Boundary::Relaxed},
      {"cc", Boundary::Strict},     {"cc", Boundary::StrictPlus}, {"pc", Boundary::Relaxed},
      {"pc", Boundary::Strict},     {"si", Boundary::Relaxed},    {"si", Boundary::Strict},
      {"si", Boundary::StrictPlus}, {"psi", Boundary::Relaxed},   {"psi", Boundary::Strict}};
  Choices choices(input);
  const Space& space = spaces[choices.below(std::size(spaces))];
  const History h = serial_run(choices, 4);
  SCOPED_TRACE(std::string(space.level) + "\n" + text_of(h));
  bool is_predicted = false;
  compare_with_the_whole_space(h, **levels().find(space.level), space.boundary, is_predicted);
  return true;
}

}  // namespace isoscope
