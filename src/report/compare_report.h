#pragma once
// The answer of `compare`: how levels relate, with proofs and separating histories.
#include <string>
#include <vector>

#include "report/paint.h"
#include "synth/compare.h"

namespace isoscope {

struct CompareNames {
  std::string a;  // as the user named them
  std::string b;
};

Result<std::string> compare_text(const CompareNames& names, const CompareAnswer& answer,
                                 const Paint& paint);
Result<std::string> compare_json(const CompareNames& names, const CompareAnswer& answer);

// A table of all pairs, then the edges of the lattice with what separates them.
Result<std::string> matrix_text(const CompareMatrix& matrix, const Paint& paint);
Result<std::string> matrix_json(const CompareMatrix& matrix);
// The lattice for Graphviz, the strongest level on top.
std::string matrix_dot(const CompareMatrix& matrix);

}  // namespace isoscope
