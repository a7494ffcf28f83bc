#include "program/keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <mutex>

#include "support/assert.h"

namespace isoscope {

FamilyId KeyTable::family(std::string_view name) {
  const std::unique_lock lock(mutex_);
  if (const auto known = family_numbers_.find(name); known != family_numbers_.end())
    return known->second;
  const FamilyId family{static_cast<std::uint32_t>(families_.size())};
  families_.emplace_back(name);
  family_numbers_.emplace(families_.back(), family);
  return family;
}

std::string_view KeyTable::name(FamilyId family) const {
  const std::shared_lock lock(mutex_);
  ISO_ASSERT(family.index < families_.size());
  return families_[family.index];
}

std::size_t KeyTable::num_families() const {
  const std::shared_lock lock(mutex_);
  return families_.size();
}

ProgramKey KeyTable::intern(FamilyId family, std::span<const std::int64_t> indices) {
  const View view{family, indices};
  {
    const std::shared_lock lock(mutex_);
    const auto known = numbers_.find(view);
    if (known != numbers_.end() && entries_[known->second.index].holders == kForEver)
      return known->second;
  }
  const std::unique_lock lock(mutex_);
  if (const auto known = numbers_.find(view); known != numbers_.end()) {
    entries_[known->second.index].holders = kForEver;
    return known->second;
  }
  return add(family, indices, kForEver);
}

ProgramKey KeyTable::add(FamilyId family, std::span<const std::int64_t> indices,
                         std::uint32_t holders) {
  ++num_made_;
  if (family.index >= free_.size()) free_.resize(family.index + 1);
  std::vector<ProgramKey>& free = free_[family.index];
  ProgramKey key{static_cast<std::uint32_t>(entries_.size())};
  if (free.empty()) {
    entries_.emplace_back();
  } else {
    key = free.back();
    free.pop_back();
  }
  Entry& entry = entries_[key.index];
  entry.family = family;
  entry.indices.assign(indices.begin(), indices.end());
  entry.holders = holders;
  numbers_.emplace(View{family, entry.indices}, key);
  return key;
}

ProgramKey KeyTable::hold(FamilyId family, std::span<const std::int64_t> indices) {
  const std::unique_lock lock(mutex_);
  const auto known = numbers_.find(View{family, indices});
  if (known == numbers_.end()) return add(family, indices, 1);
  Entry& entry = entries_[known->second.index];
  if (entry.holders != kForEver) ++entry.holders;
  return known->second;
}

void KeyTable::release(ProgramKey key) {
  const std::unique_lock lock(mutex_);
  ISO_ASSERT(key.index < entries_.size());
  Entry& entry = entries_[key.index];
  if (entry.holders == kForEver) return;
  ISO_ASSERT(entry.holders > 0);
  if (--entry.holders > 0) return;
  numbers_.erase(View{entry.family, entry.indices});
  free_[entry.family.index].push_back(key);
}

void KeyTable::keep(ProgramKey key) {
  const std::unique_lock lock(mutex_);
  ISO_ASSERT(key.index < entries_.size() && entries_[key.index].holders > 0);
  entries_[key.index].holders = kForEver;
}

std::size_t KeyTable::num_made() const {
  const std::shared_lock lock(mutex_);
  return num_made_;
}

std::size_t KeyTable::size() const {
  const std::shared_lock lock(mutex_);
  return entries_.size();
}

const KeyTable::Entry& KeyTable::entry(ProgramKey key) const {
  ISO_ASSERT(key.index < entries_.size());
  return entries_[key.index];
}

FamilyId KeyTable::family(ProgramKey key) const {
  const std::shared_lock lock(mutex_);
  return entry(key).family;
}

std::vector<std::int64_t> KeyTable::indices(ProgramKey key) const {
  const std::shared_lock lock(mutex_);
  return entry(key).indices;
}

std::string KeyTable::name(ProgramKey key) const {
  const std::shared_lock lock(mutex_);
  const Entry& named = entry(key);
  const std::string& family = families_[named.family.index];
  if (named.indices.empty()) return family;
  if (index_names_.empty()) return fmt::format("{}[{}]", family, fmt::join(named.indices, ", "));
  std::string list;
  for (const std::int64_t index : named.indices) {
    if (!list.empty()) list += ", ";
    const auto name = index_names_.find(index);
    list += name == index_names_.end() ? fmt::format("{}", index) : name->second;
  }
  return fmt::format("{}[{}]", family, list);
}

void KeyTable::name_index(std::int64_t index, std::string_view name) {
  const std::unique_lock lock(mutex_);
  index_names_.try_emplace(index, name);
}

bool KeyTable::may_meet(const Footprint& a, const Footprint& b) const {
  const auto is_of = [&](ProgramKey key, std::span<const FamilyId> families) {
    return std::ranges::binary_search(families, family(key));
  };
  return std::ranges::any_of(
             a.families, [&](FamilyId x) { return std::ranges::binary_search(b.families, x); }) ||
         std::ranges::any_of(a.keys,
                             [&](ProgramKey x) {
                               return std::ranges::binary_search(b.keys, x) || is_of(x, b.families);
                             }) ||
         std::ranges::any_of(b.keys, [&](ProgramKey x) { return is_of(x, a.families); });
}

void KeyTable::set_initial(ProgramKey key, std::int64_t value) {
  const std::unique_lock lock(mutex_);
  ISO_ASSERT(key.index < entries_.size());
  entries_[key.index].initial = value;
}

std::int64_t KeyTable::initial(ProgramKey key) const {
  const std::shared_lock lock(mutex_);
  return entry(key).initial;
}

}  // namespace isoscope
