// Histories of a few hundred transactions, generated at every level and with every anomaly, written
// down in every format and read back: the same facts, and the same verdict at every level as in our
// own format. Binary formats that isoscope does not write are encoded by the tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "formats/encoders.h"
#include "formats/formats.h"
#include "formats/likeness.h"
#include "generate/generate.h"
#include "generate/injection.h"
#include "history/builder.h"
#include "support/judged.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;
using enum Logic;

constexpr Logic kWeakestFirst[] = {Rc, Ra, Cc, Pc, Psi, Si, Ser};

// The levels that accept the history, weakest first: "rc ra cc".
std::string accepted_by(const History& h) {
  std::string levels;
  for (Logic level : kWeakestFirst) {
    const std::string verdict = judged(h, std::string(name_of(level)));
    if (verdict == "violated") continue;
    levels += levels.empty() ? "" : " ";
    levels += name_of(level);
    if (verdict != "consistent") levels += "(" + verdict + ")";
  }
  return levels;
}

std::string levels_without(const Injection& injection) {
  std::string levels;
  for (Logic level : kWeakestFirst) {
    if (implies(level, injection.weakest_broken)) continue;
    levels += levels.empty() ? "" : " ";
    levels += name_of(level);
  }
  return levels;
}

History generated(const HistoryPlan& plan) {
  auto h = generate_history(plan);
  if (!h) ADD_FAILURE() << render(h.error());
  return *std::move(h);
}

// The same history with a first session that writes the initial values, for formats that know no
// initial state. That session is not ordered before the others, so fewer levels may object.
History with_loader(const History& h) {
  HistoryBuilder b(InitialValues::None);
  const TxnId loader = b.begin(b.session("loader"), TxnStatus::Committed, {});
  for (KeyId x : h.keys()) b.write(loader, b.key(h.key_name(x).bits), Value::of(0), {});
  for (SessionId s : h.sessions()) {
    const SessionId session = b.session(h.name(s));
    for (TxnId t : h.session_txns(s)) {
      const TxnId copy = b.begin(session, h.status(t), {});
      for (EventId e : h.events(t)) {
        const KeyId x = b.key(h.key_name(h.key(e)).bits);
        if (h.is_read(e)) {
          b.read(copy, x, h.value(e), {});
        } else {
          b.write(copy, x, h.value(e), {});
        }
      }
    }
  }
  auto loaded = std::move(b).build();
  if (!loaded) ADD_FAILURE() << render(loaded.error());
  return *std::move(loaded);
}

// A directory of logs that goes away with the test.
class LogFolder {
 public:
  explicit LogFolder(const std::vector<CobraLog>& logs)
      : path_(fs::path(::testing::TempDir()) / ("isoscope-logs-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
    for (const CobraLog& log : logs) std::ofstream(path_ / log.name, std::ios::binary) << log.bytes;
  }
  ~LogFolder() { fs::remove_all(path_); }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

bool cobra_can_hold(const History& h) {
  for (TxnId t : h.txns()) {
    if (h.status(t) != TxnStatus::Committed) return false;
  }
  for (EventId e : h.all_events()) {
    if (h.is_read(e) && h.writer(e).is_none()) return false;
  }
  return true;
}

// The history written in a format and read back; nothing if the format cannot hold it.
std::optional<Result<History>> through(Format format, const History& h) {
  if (format == Format::Cobra) {
    if (!cobra_can_hold(h)) return std::nullopt;
    const LogFolder folder(encode_cobra(h));
    return read_history(folder.path());
  }
  std::string bytes;
  if (format == Format::DbcopBincode) {
    bytes = encode_bincode(h);
  } else if (!write_history(h, format, [&](std::string_view piece) { bytes += piece; })) {
    return std::nullopt;
  }
  EXPECT_EQ(recognise(std::string_view(bytes).substr(0, kRecognisedBytes)), format);
  return parse_history(bytes, format);
}

// The first line in which two texts differ; empty if they are the same.
std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream left(a);
  std::istringstream right(b);
  std::string x;
  std::string y;
  for (int line = 1;; ++line) {
    const bool has_x = static_cast<bool>(std::getline(left, x));
    const bool has_y = static_cast<bool>(std::getline(right, y));
    if (!has_x && !has_y) return {};
    if (has_x != has_y || x != y)
      return fmt::format("line {}: {} | {}", line, has_x ? x : "end", has_y ? y : "end");
  }
}

// How many histories each format held.
using Held = std::map<std::string, int>;

void expect_survives(const History& h, Held& held) {
  const History loaded = with_loader(h);
  for (Format format : all_formats()) {
    SCOPED_TRACE(std::string(name_of(format)));
    const History& told = format == Format::AwditTest ? loaded : h;
    const auto again = through(format, told);
    if (!again) continue;
    ASSERT_TRUE(again->ok()) << render(again->error());
    ++held[std::string(name_of(format))];
    EXPECT_EQ(first_difference(portrait(**again, kept_by(format)), portrait(told, kept_by(format))),
              "");
    const auto ours = through(Format::Jsonl, told);
    ASSERT_TRUE(ours && ours->ok());
    EXPECT_EQ(accepted_by(**again), accepted_by(**ours));
  }
}

// Three sessions of thirty transactions on few keys: short runs of a contended store.
HistoryPlan contended(Logic level) {
  return {.level = level, .sessions = 3, .txns = 90, .ops = 20, .keys = 180, .replicas = 3};
}

TEST(EncodedHistories, KeepTheirVerdictsInEveryFormat) {
  const std::map<Logic, std::string> accepted = {{Rc, "rc"},
                                                 {Ra, "rc ra"},
                                                 {Cc, "rc ra cc"},
                                                 {Pc, "rc ra cc pc"},
                                                 {Psi, "rc ra cc psi"},
                                                 {Si, "rc ra cc pc psi si"},
                                                 {Ser, "rc ra cc pc psi si ser"}};
  Held held;
  for (Logic level : kStoreLevels) {
    SCOPED_TRACE(std::string(name_of(level)));
    const History h = generated(contended(level));
    EXPECT_EQ(accepted_by(h), accepted.at(level));
    expect_survives(h, held);
  }
  const int all = static_cast<int>(kStoreLevels.size());
  EXPECT_EQ(held, (Held{{"hist", all},
                        {"jsonl", all},
                        {"plume", all},
                        {"awdit-test", all},
                        {"dbcop", all},
                        {"dbcop-bincode", all},
                        {"elle", all},
                        {"cobra", all},
                        {"isopredict", all}}));
}

// Many keys and little contention, with one anomaly hidden in a serial run.
TEST(EncodedHistories, ShowAnInjectedAnomalyInEveryFormat) {
  Held held;
  for (const Injection& injection : injections()) {
    SCOPED_TRACE(std::string(injection.name));
    const History h = generated({.sessions = 20,
                                 .txns = 200,
                                 .ops = 15,
                                 .keys = 10'000,
                                 .inject = std::string(injection.name)});
    EXPECT_EQ(accepted_by(h), levels_without(injection));
    expect_survives(h, held);
  }
  EXPECT_EQ(injections().size(), 15U);
  // AWDIT's tests and Cobra's logs know no aborted transaction, and a log names the writer of what
  // it read. IsoPredict's traces name committed writers, in the order of their commits.
  EXPECT_EQ(held, (Held{{"hist", 15},
                        {"jsonl", 15},
                        {"plume", 15},
                        {"awdit-test", 14},
                        {"dbcop", 15},
                        {"dbcop-bincode", 15},
                        {"elle", 15},
                        {"cobra", 13},
                        {"isopredict", 9}}));
}

}  // namespace
}  // namespace isoscope
