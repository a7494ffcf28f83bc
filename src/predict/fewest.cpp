#include "predict/fewest.h"

namespace isoscope::predict {

std::span<const Lit> Fewest::at_most(std::optional<std::size_t> count) {
  assumed_.clear();
  if (!count || counted_.size() <= *count) return assumed_;
  widen(*count + 1);
  if (columns_.size() <= *count) return assumed_;
  assumed_.push_back(~columns_[*count].back());
  return assumed_;
}

void Fewest::widen(std::size_t count) {
  while (columns_.size() < count && !budget_.expired_now()) {
    std::vector<Lit> column;
    for (std::size_t i = 0; i < counted_.size(); ++i) {
      const Lit lit = solver_.new_var();
      if (i > 0) solver_.add_clause({~column.back(), lit});
      if (columns_.empty()) {
        solver_.add_clause({~counted_[i], lit});
      } else if (i > 0) {
        solver_.add_clause({~counted_[i], ~columns_.back()[i - 1], lit});
      }
      column.push_back(lit);
    }
    columns_.push_back(std::move(column));
  }
}

}  // namespace isoscope::predict
