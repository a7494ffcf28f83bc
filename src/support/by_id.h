#pragma once
// Tables and loops by id (id.h).
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "support/id.h"

namespace isoscope {

// The next id of the table.
template <class Tag>
constexpr Id<Tag>& operator++(Id<Tag>& id) {
  ++id.index;
  return id;
}

// A dense table with one entry per id. It is a vector that takes only ids of its own kind for
// positions, so that `writers[call]` does not compile where the table is by key.
template <class IdType, class T>
class ById {
 public:
  using Entries = std::vector<T>;

  ById() = default;
  explicit ById(std::size_t size, const T& entry = T()) : entries_(size, entry) {}
  ById(std::initializer_list<T> entries) : entries_(entries) {}
  explicit ById(Entries entries) : entries_(std::move(entries)) {}

  typename Entries::reference operator[](IdType id) { return entries_[id.index]; }
  typename Entries::const_reference operator[](IdType id) const { return entries_[id.index]; }
  bool contains(IdType id) const { return id.index < entries_.size(); }
  IdRange<IdType> ids() const { return {0, static_cast<std::uint32_t>(entries_.size())}; }
  // The id that the next entry gets.
  IdType next_id() const { return {static_cast<std::uint32_t>(entries_.size())}; }

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  decltype(auto) front() const { return entries_.front(); }
  decltype(auto) back() { return entries_.back(); }
  decltype(auto) back() const { return entries_.back(); }

  void push_back(T entry) { entries_.push_back(std::move(entry)); }
  template <class... Args>
  decltype(auto) emplace_back(Args&&... args) {
    return entries_.emplace_back(std::forward<Args>(args)...);
  }
  void resize(std::size_t size) { entries_.resize(size); }
  void resize(std::size_t size, const T& entry) { entries_.resize(size, entry); }
  void assign(std::size_t size, const T& entry) { entries_.assign(size, entry); }
  void reserve(std::size_t size) { entries_.reserve(size); }
  void clear() { entries_.clear(); }
  // Makes room for the entry, and for all before it.
  typename Entries::reference grown(IdType id, const T& entry = T()) {
    if (!contains(id)) entries_.resize(std::size_t{id.index} + 1, entry);
    return entries_[id.index];
  }

  // All entries by position, for code to which the ids do not matter.
  Entries& entries() { return entries_; }
  const Entries& entries() const { return entries_; }
  friend bool operator==(const ById&, const ById&) = default;

 private:
  Entries entries_;
};

}  // namespace isoscope
