#pragma once
// Strong ids: a position in a dense table, typed so that the compiler distinguishes a key from a
// transaction. `Id<struct KeyTag>` is the size of an integer and orders by position.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace isoscope {

template <class Tag>
struct Id {
  std::uint32_t index = 0;
  friend constexpr auto operator<=>(Id, Id) = default;

  static constexpr Id none() { return {std::numeric_limits<std::uint32_t>::max()}; }
  constexpr bool is_none() const { return *this == none(); }
};

// All ids from `first` up to, not including, `last`; for loops over dense tables.
template <class IdType>
class IdRange {
 public:
  class Iterator {
   public:
    using value_type = IdType;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(std::uint32_t index) : index_(index) {}
    IdType operator*() const { return IdType{index_}; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator old = *this;
      ++index_;
      return old;
    }
    friend bool operator==(Iterator, Iterator) = default;

   private:
    std::uint32_t index_ = 0;
  };

  IdRange(std::uint32_t first, std::uint32_t last) : first_(first), last_(last) {}
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(last_); }
  std::size_t size() const { return last_ - first_; }
  bool empty() const { return first_ == last_; }
  IdType front() const { return IdType{first_}; }
  IdType back() const { return IdType{last_ - 1}; }

 private:
  std::uint32_t first_;
  std::uint32_t last_;
};

}  // namespace isoscope

template <class Tag>
struct std::hash<isoscope::Id<Tag>> {
  std::size_t operator()(isoscope::Id<Tag> id) const noexcept { return id.index; }
};
