#pragma once
// A value or the Error that prevented it. Callers write
//
//     auto level = parse_level(text);
//     if (!level) return level.error();
//     use(*level);
#include <optional>
#include <utility>
#include <variant>

#include "support/assert.h"
#include "support/error.h"

namespace isoscope {

template <class T>
class [[nodiscard]] Result {
 public:
  // Implicit on purpose: `return value;` and `return Error{...};` both read well.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  bool ok() const { return state_.index() == 0; }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Requires: holds a value.
  T& value() {
    ISO_ASSERT(ok());
    return std::get<0>(state_);
  }
  const T& value() const {
    ISO_ASSERT(ok());
    return std::get<0>(state_);
  }
  // Requires: holds an error.
  const Error& error() const {
    ISO_ASSERT(!ok());
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

// The outcome of something that has no value to return.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  explicit operator bool() const { return !error_; }
  bool ok() const { return !error_; }
  const Error& error() const {
    ISO_ASSERT(error_.has_value());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace isoscope
