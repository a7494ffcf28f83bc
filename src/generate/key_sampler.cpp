#include "generate/key_sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace isoscope::simulation {
namespace {

constexpr double kHotDraws = 0.8;
constexpr std::uint64_t kHotKeys = 5;  // one in so many

// (e^(a t) - 1) / a, also where a is so small that it is t.
double scaled_expm1(double a, double t) { return a == 0 ? t : std::expm1(a * t) / a; }
// log(1 + a y) / a, also where a is so small that it is y.
double scaled_log1p(double a, double y) { return a == 0 ? y : std::log1p(a * y) / a; }

}  // namespace

ZipfRanks::ZipfRanks(std::uint64_t n, double theta)
    : n_(static_cast<double>(n)), theta_(theta), low_(0), high_(0), close_(0) {
  // The bar of rank 1 has the area 1 and begins where the integral is that much before 3/2; to
  // its left the curve is cut off, since the bar alone is wanted there.
  low_ = integral(1.5) - 1;
  high_ = integral(n_ + 0.5);
  // The distance between k and the x at which the area up to k + 1/2 is that of its bar is
  // smallest for k = 2.
  close_ = 2 - inverse_integral(integral(2.5) - density(2));
}

// With a = 1 - theta, x^a = e^(a log x), so that theta = 1 is no special case.
double ZipfRanks::density(double x) const { return std::exp(-theta_ * std::log(x)); }
double ZipfRanks::integral(double x) const { return scaled_expm1(1 - theta_, std::log(x)); }
double ZipfRanks::inverse_integral(double y) const {
  const double a = 1 - theta_;
  // Rounding may push the end of the range below the domain of the logarithm.
  return std::exp(scaled_log1p(a, a == 0 ? y : std::max(a * y, -1.0) / a));
}

std::uint64_t ZipfRanks::draw(Rng& rng) const {
  for (;;) {
    const double area = high_ + rng.uniform() * (low_ - high_);
    const double x = inverse_integral(area);
    const double k = std::clamp(std::floor(x + 0.5), 1.0, n_);
    if (k - x <= close_ || area >= integral(k + 0.5) - density(k)) {
      return static_cast<std::uint64_t>(k);
    }
  }
}

KeySampler::KeySampler(const HistoryPlan& plan, Rng& rng)
    : distribution_(plan.distribution),
      n_(plan.keys),
      hot_(std::max<std::uint64_t>(1, n_ / kHotKeys)),
      zipf_(plan.keys, plan.theta) {
  if (n_ == 1) return;
  do {
    factor_ = 1 + rng.below(n_ - 1);
  } while (std::gcd(factor_, n_) != 1);
  shift_ = rng.below(n_);
}

std::uint32_t KeySampler::draw(Rng& rng) const {
  switch (distribution_) {
    case KeyDistribution::Uniform: return static_cast<std::uint32_t>(rng.below(n_));
    case KeyDistribution::Zipf: return scatter(zipf_.draw(rng) - 1);
    case KeyDistribution::Hot: break;
  }
  // The remaining draws spare the hot keys, so that these get exactly their share.
  if (hot_ == n_ || rng.chance(kHotDraws)) return scatter(rng.below(hot_));
  return scatter(hot_ + rng.below(n_ - hot_));
}

}  // namespace isoscope::simulation
