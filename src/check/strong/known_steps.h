#pragma once
// All edges that are known, those included that the known graph leaves out: asked for one by one.
//
// A step leads from one place to another; a place is a transaction and how it is entered. Whatever
// can be left from a later place can be left from an earlier one, too:
//
//               earlier                       later
//     si, pc    at its start                  at its commit: no rw edge may follow
//     psi       without an rw edge so far     with one: no other may follow
//     ser, ua   (all are earlier)
#include <cstddef>
#include <cstdint>
#include <optional>

#include "check/strong/knowledge.h"

namespace isoscope::strong {

enum class Entry : std::uint8_t { Earlier = 0, Later = 1 };

struct Spot {
  TxnId txn;
  Entry entry = Entry::Earlier;
};

class KnownSteps {
 public:
  explicit KnownSteps(const Knowledge& known);

  const Facts& facts() const { return facts_; }
  StrongLevel level() const { return level_; }

  // How an edge of this kind enters the next transaction when it leaves from `from`; nothing if it
  // may not.
  std::optional<Entry> step(EdgeKind kind, Entry from) const;
  // The first version of the group that is known to come after v, by rank; the size of the group
  // if there is none. The versions that follow it come after v, too. Of an initial value: 0.
  std::uint32_t first_after(VersionId v, GroupId g) const;
  // An edge from a place that enters `to` so that it can be left as from there; a fact if there is
  // one.
  std::optional<KnownEdge> find(Spot from, Spot to) const;

 private:
  bool may_enter(EdgeKind kind, Spot from, Spot to) const {
    const auto entry = step(kind, from.entry);
    return entry && (*entry <= to.entry || level_ == StrongLevel::Psi);
  }

  const Facts& facts_;
  StrongLevel level_;
  VersionOrder order_;  // what comes before a version comes before those that follow on its chain
};

}  // namespace isoscope::strong
