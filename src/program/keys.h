#pragma once
// The keys of a program: x, or stock[w, i] with numbers computed while it runs.
//
// A family is the name before the brackets; a key is a family with its indices, known by a dense
// number from the moment it is first named. `T` and `T[1]` are different keys of one family. The
// initial transaction writes every key: what `init` says, else 0.
//
// Keys that intern() names stay for ever: those of the text, of runs that are kept. Whoever goes
// through many runs, each with keys of its own, holds computed keys and lets them go again; a
// number that no call holds is given to another key of the same family. So an exploration needs as
// many numbers as there are keys on its path, whatever it has seen before. A key that is held like
// this has no `init`: it starts at 0.
//
// Several threads may use one table: numbers, names and initial values never change once given.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "support/id.h"

namespace isoscope {

using FamilyId = Id<struct FamilyTag>;
using ProgramKey = Id<struct ProgramKeyTag>;  // in order of first use; a History numbers its own

inline std::size_t hash_of_key(FamilyId family, std::span<const std::int64_t> indices) noexcept {
  std::uint64_t hash = (family.index + 1) * std::uint64_t{0x9e3779b97f4a7c15};
  for (const std::int64_t index : indices)
    hash = (hash ^ (hash >> 29) ^ static_cast<std::uint64_t>(index)) * 0xbf58476d1ce4e5b9;
  return static_cast<std::size_t>(hash ^ (hash >> 32));
}

// Keys that something may touch at most: these, and all of these families. Both are sorted.
struct Footprint {
  std::span<const ProgramKey> keys = {};
  std::span<const FamilyId> families = {};
};

class KeyTable {
 public:
  FamilyId family(std::string_view name);  // known, or new
  std::string_view name(FamilyId family) const;
  std::size_t num_families() const;

  // The number of a key, a new one for a key that is named for the first time.
  ProgramKey intern(FamilyId family, std::span<const std::int64_t> indices);
  // The same for as long as it is held: each call needs a release().
  ProgramKey hold(FamilyId family, std::span<const std::int64_t> indices);
  void release(ProgramKey key);
  // From now on it stays. Requires: it is held, or stays already.
  void keep(ProgramKey key);
  std::size_t size() const;      // numbers, in use or not
  std::size_t num_made() const;  // keys that ever got one
  FamilyId family(ProgramKey key) const;
  std::vector<std::int64_t> indices(ProgramKey key) const;
  std::string name(ProgramKey key) const;  // x, stock[1, 2]
  // An index that stands for something else is shown by this name: student[bob].
  void name_index(std::int64_t index, std::string_view name);

  // May both touch one key?
  bool may_meet(const Footprint& a, const Footprint& b) const;

  void set_initial(ProgramKey key, std::int64_t value);
  std::int64_t initial(ProgramKey key) const;

 private:
  static constexpr std::uint32_t kForEver = 0xffffffff;
  struct Entry {
    FamilyId family;
    std::vector<std::int64_t> indices;
    std::int64_t initial = 0;
    std::uint32_t holders = kForEver;
  };
  // What identifies a key; the indices are those of its entry, so a look-up copies nothing.
  struct View {
    FamilyId family;
    std::span<const std::int64_t> indices;
    friend bool operator==(const View& a, const View& b) {
      return a.family == b.family && std::ranges::equal(a.indices, b.indices);
    }
  };
  struct Hash {
    std::size_t operator()(const View& view) const noexcept {
      return hash_of_key(view.family, view.indices);
    }
  };
  // Require: the lock is held.
  const Entry& entry(ProgramKey key) const;
  ProgramKey add(FamilyId family, std::span<const std::int64_t> indices, std::uint32_t holders);

  mutable std::shared_mutex mutex_;
  std::deque<std::string> families_;
  std::unordered_map<std::string_view, FamilyId> family_numbers_;
  std::deque<Entry> entries_;  // a deque, so that entries stay where they are
  std::unordered_map<View, ProgramKey, Hash> numbers_;
  std::vector<std::vector<ProgramKey>> free_;  // by family: numbers that no call holds
  std::size_t num_made_ = 0;
  std::unordered_map<std::int64_t, std::string> index_names_;
};

}  // namespace isoscope
