// The progress line: what the program does, and for how long already.
//
//     exploring: 350000 histories so far  (12 s)
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

class ProgressLine {
 public:
  static ProgressLine& instance() {
    static ProgressLine line;
    return line;
  }

  void tell(std::string_view phase, double fraction) {
    const std::scoped_lock lock(mutex_);
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
    const std::string share =
        fraction_ < 0 ? "" : fmt::format(" {:.0f} %", std::min(fraction_, 1.0) * 100);
    const std::string time = fmt::format("  ({})", elapsed_text(seconds_running()));
    // A line that is wider than the terminal could not be erased.
    const std::size_t width = terminal_width() - 1;
    const std::size_t room = width - std::min(width, share.size() + time.size());
    const std::string line = printable(std::string_view(phase_).substr(0, room)) + share + time;
    std::fprintf(stderr, "%s%s", std::string(kEraseLine).c_str(), line.c_str());
    std::fflush(stderr);
    is_shown_ = true;
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::string phase_;
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
