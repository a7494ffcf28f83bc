// The progress line: what the program does, how far it is, and for how long already.
//
//     exploring: 350000 histories so far, 2 violate an assertion, 29,000 per second  (12 s)
//     running the program [########............] 40 %, about 18 s left  (12 s)
//
// A fraction becomes a bar and, after a while, the time that is left at the speed of this phase; a
// number "so far" becomes a rate. A phase is known by its words without numbers.
//
// Engines tell when they enter a phase and, some of them, how far they are; many are silent for
// minutes in between. A thread of its own therefore draws the line, so that the seconds go on. It
// begins after a second: what is faster needs no line.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/command.h"
#include "support/printable.h"
#include "support/watch.h"

namespace isoscope {

namespace {

constexpr double kSilentSeconds = 1;
constexpr auto kRedraw = std::chrono::milliseconds(200);
constexpr std::string_view kEraseLine = "\r\x1b[K";

std::size_t terminal_width() {
  winsize size = {};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

std::string elapsed_text(double seconds) {
  const auto whole = static_cast<long>(seconds);
  return whole < 60 ? fmt::format("{} s", whole)
                    : fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

constexpr int kBarLetters = 20;
constexpr double kLeastShare = 0.02;  // of a phase, before it says how long the rest takes

// "[#####...............] 25 %"
std::string bar_text(double fraction) {
  const double share = std::clamp(fraction, 0.0, 1.0);
  const auto done = static_cast<std::size_t>(share * kBarLetters);
  return fmt::format(" [{}{}] {:.0f} %", std::string(done, '#'),
                     std::string(kBarLetters - done, '.'), share * 100);
}

std::string without_numbers(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c < '0' || c > '9') out += c;
  }
  return out;
}

// The first number of "exploring: 350000 histories so far"; nothing of other texts.
std::optional<double> count_so_far(std::string_view text) {
  if (text.find("so far") == std::string_view::npos) return std::nullopt;
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos) return std::nullopt;
  double count = 0;
  for (std::size_t i = begin; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
    count = count * 10 + (text[i] - '0');
  return count;
}

std::string grouped(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

class ProgressLine {
 public:
  static ProgressLine& instance() {
    static ProgressLine line;
    return line;
  }

  void tell(std::string_view phase, double fraction) {
    const std::scoped_lock lock(mutex_);
    const std::string words = without_numbers(phase);
    if (words != words_) {
      words_ = words;
      since_ = seconds_running();
      first_fraction_ = fraction;
      first_count_ = count_so_far(phase).value_or(0);
    }
    phase_ = phase;
    fraction_ = fraction;
    if (!thread_.joinable()) thread_ = std::thread([this] { draw_on(); });
  }

  void clear() {
    const std::scoped_lock lock(mutex_);
    if (is_shown_) std::fputs(std::string(kEraseLine).c_str(), stderr);
    is_shown_ = false;
    phase_.clear();
  }

 private:
  ProgressLine() = default;
  ~ProgressLine() {
    {
      const std::scoped_lock lock(mutex_);
      is_over_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  void draw_on() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kRedraw, [this] { return is_over_; })) {
      if (!phase_.empty() && seconds_running() >= kSilentSeconds) draw();
    }
  }

  void draw() {
    const std::string share = share_text();
    const std::string time = fmt::format("  ({})", elapsed_text(seconds_running()));
    // A line that is wider than the terminal could not be erased.
    const std::size_t width = terminal_width() - 1;
    const std::size_t room = width - std::min(width, share.size() + time.size());
    const std::string line = printable(std::string_view(phase_).substr(0, room)) + share + time;
    std::fprintf(stderr, "%s%s", std::string(kEraseLine).c_str(), line.c_str());
    std::fflush(stderr);
    is_shown_ = true;
  }

  // The bar with the time that is left, or the rate.
  std::string share_text() const {
    const double spent = seconds_running() - since_;
    if (fraction_ >= 0) {
      const double done = fraction_ - first_fraction_;
      const double left = done > 0 ? spent * (1 - std::min(fraction_, 1.0)) / done : 0;
      const bool is_told = spent > kSilentSeconds && done >= kLeastShare;
      return bar_text(fraction_) +
             (is_told ? fmt::format(", about {} left", elapsed_text(left + 0.5)) : "");
    }
    const auto count = count_so_far(phase_);
    if (!count || spent < kSilentSeconds || *count <= first_count_) return "";
    const double rate = (*count - first_count_) / spent;
    return rate < 1 ? "" : fmt::format(", {} per second", grouped(rate));
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::string phase_;
  std::string words_;          // of the phase, without numbers
  double since_ = 0;           // when it began
  double first_fraction_ = 0;  // then
  double first_count_ = 0;     //
  double fraction_ = -1;
  bool is_shown_ = false;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace

bool understands_escapes() {
  const char* terminal = std::getenv("TERM");
  return terminal == nullptr || std::string_view(terminal) != "dumb";
}

Progress progress_line(const CommonOptions& options) {
  if (options.json || options.quiet || ::isatty(STDERR_FILENO) == 0 || !understands_escapes())
    return [](std::string_view phase, double) { enter_phase(phase); };
  return [](std::string_view phase, double fraction) {
    enter_phase(phase);
    ProgressLine::instance().tell(phase, fraction);
  };
}

void clear_progress_line() { ProgressLine::instance().clear(); }

}  // namespace isoscope
