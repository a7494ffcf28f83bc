#pragma once
// The answer of `compare`: how levels relate, with proofs and separating histories.
#include <string>
#include <vector>

#include "report/header.h"
#include "report/page.h"
#include "report/paint.h"
#include "synth/compare.h"

namespace isoscope {

struct CompareNames {
  std::string a;  // as the user named them
  std::string b;
};

// Good if the relation is known, else unknown.
Header header_of(const CompareAnswer& answer);
Header header_of(const CompareMatrix& matrix);

Result<std::string> compare_text(const CompareNames& names, const CompareAnswer& answer,
                                 const Paint& paint);
Result<std::string> compare_json(const CompareNames& names, const CompareAnswer& answer);

// A table of all pairs, then the edges of the lattice with what separates them.
Result<std::string> matrix_text(const CompareMatrix& matrix, const Paint& paint);
Result<std::string> matrix_json(const CompareMatrix& matrix);

// For pictures and pages: the separating histories; of a matrix the lattice, too.
Page compare_page(const CompareNames& names, const Level& a, const Level& b,
                  const CompareAnswer& answer);
Page matrix_page(const CompareMatrix& matrix);

// "a and b are equivalent".
std::string relation_text(const CompareNames& names, LevelRelation relation);
// "a implies b: proved for every history (the same order)", on one line, without the history.
std::string implication_text(const std::string& a, const std::string& b, const Implication& i);
// The levels of a class: "a = b" where that is proved, "a ~ b" where only searched.
std::string class_name(const CompareMatrix& matrix, std::size_t c);

}  // namespace isoscope
