#pragma once
// What a transaction reads or writes of a row: a column, whether the row is there, or the entry of
// a UNIQUE constraint. Table, row and attribute are a location; that of an entry has its values
// for the row.
//
// Every column is an attribute. The way back is a question, so that presence and entries are never
// looked up among the columns of a table.
#include <compare>
#include <cstdint>

#include "sql/schema.h"
#include "support/assert.h"

namespace isoscope::audit {

class Attribute {
 public:
  constexpr Attribute() = default;
  explicit constexpr Attribute(sql::ColumnId column) : number_(column.index) {}
  static constexpr Attribute presence() { return {Kind::Presence, 0}; }
  static constexpr Attribute entry(sql::UniqueId unique) { return {Kind::Entry, unique.index}; }

  constexpr bool is_column() const { return kind_ == Kind::Column; }
  constexpr bool is_entry() const { return kind_ == Kind::Entry; }
  // Requires: is_column().
  sql::ColumnId column() const {
    ISO_ASSERT(is_column());
    return {number_};
  }
  // Requires: is_entry().
  sql::UniqueId unique() const {
    ISO_ASSERT(is_entry());
    return {number_};
  }
  // Columns come first, then presence, then entries.
  friend constexpr auto operator<=>(Attribute, Attribute) = default;

 private:
  enum class Kind : std::uint8_t { Column, Presence, Entry };
  constexpr Attribute(Kind kind, std::uint32_t number) : kind_(kind), number_(number) {}

  Kind kind_ = Kind::Column;
  std::uint32_t number_ = 0;
};

inline constexpr Attribute kPresence = Attribute::presence();

}  // namespace isoscope::audit
