// The versions of one row.
#include <algorithm>
#include <iterator>

#include "record/versions.h"

namespace isoscope::record {

std::vector<std::size_t> RowChain::finals() const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (i + 1 == versions.size() || versions[i + 1].xid != versions[i].xid) result.push_back(i);
  }
  return result;
}

std::pair<std::size_t, std::size_t> RowChain::versions_of(std::size_t place) const {
  const auto begin = std::ranges::lower_bound(versions, place, {}, &Version::place);
  const auto end = std::ranges::upper_bound(versions, place, {}, &Version::place);
  return {static_cast<std::size_t>(begin - versions.begin()),
          static_cast<std::size_t>(end - versions.begin())};
}

bool RowChain::is_assigned(const Version& last, std::size_t column) const {
  for (const Version* version = &last;; --version) {
    if (version->assigned != nullptr && version->assigned->contains(column)) return true;
    if (version == versions.data() || (version - 1)->xid != last.xid) return false;
  }
}

std::vector<std::uint64_t> writers_of(
    const RowChain& chain, const std::function<bool(const Version*, const Version*)>& same,
    const std::uint64_t* base) {
  std::vector<std::uint64_t> writers(chain.versions.size(), kInitialXid);
  const Version* before = nullptr;
  std::uint64_t writer = kInitialXid;
  std::size_t from = 0;
  for (const std::size_t i : chain.finals()) {
    const Version& current = chain.versions[i];
    if (i == 0 && base != nullptr) {
      writer = *base;
    } else if (!same(before, &current)) {
      writer = current.xid;
    }
    for (; from <= i; ++from) writers[from] = writer;
    before = &current;
  }
  return writers;
}

std::vector<std::uint64_t> RowChain::all_writers(std::size_t column) const {
  const std::uint64_t* base =
      base_.empty() ? nullptr : &base_[column == kPresence ? 0 : column + 1];
  return writers_of(
      *this,
      [this, column](const Version* a, const Version* b) {
        if (column == kPresence) return exists(a) == exists(b);
        return exists(a) && exists(b) && a->values[column] == b->values[column] &&
               !is_assigned(*b, column);
      },
      base);
}

std::uint64_t RowChain::writer(std::size_t i, std::size_t column) const {
  if (versions.size() <= kShort) return all_writers(column)[i];
  std::vector<std::uint64_t>& writers = writers_[column];
  if (writers.empty()) writers = all_writers(column);
  return writers[i];
}

void RowChain::append(Version version) {
  versions.push_back(std::move(version));
  writers_.clear();
  ++edition_;
}

void RowChain::assign(std::size_t i, const std::set<std::size_t>* columns) {
  versions[i].assigned = columns;
  writers_.clear();
  ++edition_;
}

void RowChain::prune(std::size_t i, std::size_t columns) {
  std::vector<std::uint64_t> base = {writer(i, kPresence)};
  for (std::size_t column = 0; column < columns; ++column)
    base.push_back(versions[i].exists ? writer(i, column) : kInitialXid);
  base_ = std::move(base);
  std::vector<Version>(std::make_move_iterator(versions.begin() + static_cast<std::ptrdiff_t>(i)),
                       std::make_move_iterator(versions.end()))
      .swap(versions);
  writers_.clear();
  ++edition_;
}

}  // namespace isoscope::record
