#pragma once
// Cells of relations that have been made: truth values by relation and pair.
//
// Over few elements each relation has a square table, over many a hash table of the cells that
// were asked for.
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "relational/relation_table.h"

namespace isoscope {

template <class Truth>
class CellMemo {
 public:
  // Elements are below `elements`; 0 if there are many.
  explicit CellMemo(std::size_t elements) : elements_(elements <= kFew ? elements : 0) {}

  const Truth* find(RelationId id, std::uint32_t a, std::uint32_t b) const {
    if (id >= tables_.size()) return nullptr;
    const Table& table = tables_[id];
    if (elements_ > 0) {
      const std::size_t place = a * elements_ + b;
      return table.is_made.empty() || table.is_made[place] == 0 ? nullptr : &table.cells[place];
    }
    const auto found = table.sparse.find(pair_of(a, b));
    return found == table.sparse.end() ? nullptr : &found->second;
  }

  void insert(RelationId id, std::uint32_t a, std::uint32_t b, Truth cell) {
    if (id >= tables_.size()) tables_.resize(id + 1);
    Table& table = tables_[id];
    if (elements_ == 0) {
      table.sparse.emplace(pair_of(a, b), cell);
      return;
    }
    if (table.is_made.empty()) {
      table.is_made.assign(elements_ * elements_, 0);
      table.cells.resize(elements_ * elements_);
    }
    table.is_made[a * elements_ + b] = 1;
    table.cells[a * elements_ + b] = cell;
  }

  // Forgets the relations for which test(id).
  template <class Test>
  void erase_if(const Test& test) {
    for (std::size_t id = 0; id < tables_.size(); ++id) {
      if (!test(static_cast<RelationId>(id))) continue;
      tables_[id].is_made.clear();
      tables_[id].sparse.clear();
    }
  }

 private:
  static constexpr std::size_t kFew = 64;

  struct Table {
    std::vector<Truth> cells;
    std::vector<std::uint8_t> is_made;
    std::unordered_map<std::uint64_t, Truth> sparse;
  };
  static std::uint64_t pair_of(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint64_t>(a) << 32U | b;
  }

  std::size_t elements_;
  std::vector<Table> tables_;  // by relation
};

}  // namespace isoscope
