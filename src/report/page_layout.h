#pragma once
// Where the parts of a picture stand, in pixels.
//
// A column holds the transactions that nothing orders; a box stands to the right of those that
// precede it in its session and of those it reads from, or in the scene's own order where that is
// known. T0 is a column of its own, as high as all lanes. An edge joins the lines of its two
// operations; its label takes the first place on the way that no other label or box has.
//
// Of a schedule, a box stands to the right of the boxes of its lane, and begins to the right of
// where the step before began: lanes overlap in time, so that the picture stays narrow. Its edges
// lead from lane to lane.
#include <string>
#include <vector>

#include "report/page.h"

namespace isoscope {

struct Rectangle {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  bool meets(const Rectangle& other) const {
    return x < other.right() && other.x < right() && y < other.bottom() && other.y < bottom();
  }
};

struct Point {
  double x = 0;
  double y = 0;
};

// A cubic Bezier curve with its label.
struct EdgeShape {
  Point points[4] = {};
  Rectangle label = {};
};

struct SceneLayout {
  static constexpr double kLetter = 7.25;  // of the 12 px monospace that operations are in
  static constexpr double kRow = 18;
  static constexpr double kTitle = 22;  // height of a box's name
  static constexpr std::size_t kMostLetters = 44;

  double width = 0;
  double height = 0;
  double top = 0;  // of the first lane
  double lane_x = 0;
  std::vector<Rectangle> lanes;
  std::vector<Rectangle> boxes;
  std::vector<Rectangle> spans;  // of a schedule
  std::vector<EdgeShape> edges;
};

// `top`: how much room is left above the lanes.
SceneLayout layout_of(const Scene& scene, double top);

std::size_t count_letters(std::string_view text);
// At most so many letters, with an ellipsis.
std::string fitted(std::string_view text, std::size_t letters = SceneLayout::kMostLetters);
// Lines of at most so many letters, broken at blanks.
std::vector<std::string> wrapped(std::string_view text, std::size_t letters);
std::string edge_label(const SceneEdge& edge);  // "rw x"
std::string op_label(const SceneOp& op);
// The lines of a box under its name: title, statement, operations, how many are left out, remark.
std::vector<std::string> lines_of(const SceneBox& box);

}  // namespace isoscope
