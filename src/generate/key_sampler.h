#pragma once
// Draws keys 0 … n-1 by popularity, in constant time and constant memory, also for 10^9 keys.
//
// Zipf is drawn by rejection from the integral of 1/x^theta, which can be inverted in closed form:
// a uniform point under the curve gives a real x, its nearest integer k is the proposal, and the
// few proposals that fall between the curve and the histogram's bars are drawn again.
//
//     1/x^theta  |\ .
//                |_\|          the bar of k reaches from k-1/2 to k+1/2; since the curve is
//                |  \__        convex, its area there is at least that of the bar
//                |   | \|___
//                +---k---k+1---> x
//
// Popular keys are scattered over the range, so that popularity is no function of the number.
//
// Paper  [HormannDerflinger-TOMACS'96], rejection-inversion. Expects fewer than 1.2 rounds.
#include <cstdint>

#include "generate/generate.h"
#include "support/rng.h"

namespace isoscope::simulation {

// Ranks 1 … n with probability proportional to 1 / rank^theta.
class ZipfRanks {
 public:
  // Requires: n > 0 and theta >= 0.
  ZipfRanks(std::uint64_t n, double theta);
  std::uint64_t draw(Rng& rng) const;

 private:
  double density(double x) const;           // 1 / x^theta
  double integral(double x) const;          // of the density, from 1 to x
  double inverse_integral(double y) const;  // the x up to which the integral is y

  double n_;
  double theta_;
  double low_;    // the points under the curve, by integral: of the first bar …
  double high_;   // … and of the last
  double close_;  // how near k lies x so that the proposal is under its bar for sure
};

class KeySampler {
 public:
  // Requires: a valid plan. Draws the scattering from `rng`.
  KeySampler(const HistoryPlan& plan, Rng& rng);
  std::uint32_t draw(Rng& rng) const;

 private:
  // A permutation of the keys: rank * factor + shift mod n, with factor and n coprime.
  std::uint32_t scatter(std::uint64_t rank) const {
    return static_cast<std::uint32_t>((rank * factor_ + shift_) % n_);
  }

  KeyDistribution distribution_;
  std::uint64_t n_;
  std::uint64_t hot_;  // how many keys are hot
  std::uint64_t factor_ = 1;
  std::uint64_t shift_ = 0;
  ZipfRanks zipf_;
};

}  // namespace isoscope::simulation
