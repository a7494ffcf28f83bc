#pragma once
// What people are told of a cycle of commits and snapshots.
#include <string>
#include <vector>

#include "check/points/constraints.h"
#include "check/points/layout.h"
#include "verdict/verdict.h"

namespace isoscope {

class CycleTeller {
 public:
  // They must outlive it.
  CycleTeller(const History& h, const Assignment& levels, const PointLayout& layout)
      : h_(h), levels_(levels), layout_(layout) {}

  // Between transactions.
  Edge edge(const PointEdge& e) const;
  // The rule that makes the cycle one, the strongest first; without any it is the framework's.
  std::string axiom(const std::vector<PointEdge>& steps) const;
  // A snapshot that has one thing and misses another, by what they have in common.
  Anomaly name(const std::vector<Edge>& cycle) const;

 private:
  const History& h_;
  const Assignment& levels_;
  const PointLayout& layout_;
};

}  // namespace isoscope
