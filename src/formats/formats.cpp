#include "formats/formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "formats/awdit_test.h"
#include "formats/cobra.h"
#include "formats/dbcop.h"
#include "formats/elle.h"
#include "formats/hist.h"
#include "formats/isopredict.h"
#include "formats/jsonl.h"
#include "formats/line_scanner.h"
#include "formats/plume.h"
#include "formats/scan.h"
#include "formats/text_kind.h"
#include "formats/wording.h"
#include "support/input.h"
#include "support/spelling.h"

namespace isoscope {

namespace {

struct FormatInfo {
  std::string_view name;
  std::string_view summary;
  // One of the two reads the format.
  Result<History> (*read_lines)(LineReader&, RunNotes*) = nullptr;
  Result<History> (*read_text)(std::string_view, const Budget&) = nullptr;
  bool is_binary = false;  // errors then quote no line
  // Null if it can only be read.
  Result<void> (*write)(const History&, const Sink&, const Budget&) = nullptr;
  void (*append)(const PlainTxn&, std::string&) = nullptr;  // if it can be streamed
  std::string_view stream_header = {};
};

// Of a format in which nothing is noted besides the history.
template <Result<History> (*read)(LineReader&)>
Result<History> without_notes(LineReader& in, RunNotes* /*notes*/) {
  return read(in);
}

Result<History> read_cobra_log(std::string_view bytes, const Budget& budget) {
  const CobraLog log{.name = "T1.log", .bytes = std::string(bytes)};
  return read_cobra_logs({&log, 1}, budget);
}

// The table of formats: a switch, so that the compiler asks for the row of each.
constexpr FormatInfo row_of(Format format) {
  switch (format) {
    case Format::Hist:
      return {.name = "hist",
              .summary = "isoscope's readable text",
              .read_text = read_hist,
              .write = write_hist,
              .append = append_hist};
    case Format::Jsonl:
      return {.name = "jsonl",
              .summary = "isoscope's JSON lines, for machines",
              .read_lines = read_jsonl,
              .write = write_jsonl,
              .append = append_jsonl,
              .stream_header = kJsonlHeader};
    case Format::Plume:
      return {.name = "plume",
              .summary = "the text of Plume, PolySI and AWDIT",
              .read_lines = without_notes<read_plume>,
              .write = write_plume,
              .append = append_plume};
    case Format::AwditTest:
      return {.name = "awdit-test",
              .summary = "the text of AWDIT's tests",
              .read_lines = without_notes<read_awdit_test>,
              .write = write_awdit_test};
    case Format::Dbcop:
      return {.name = "dbcop",
              .summary = "dbcop's JSON",
              .read_text = read_dbcop,
              .write = write_dbcop};
    case Format::DbcopBincode:
      return {.name = "dbcop-bincode",
              .summary = "dbcop's old binary form",
              .read_text = read_dbcop_bincode,
              .is_binary = true};
    case Format::Elle:
      return {.name = "elle",
              .summary = "Jepsen's and Elle's EDN, and elle-cli's JSON",
              .read_lines = without_notes<read_elle>,
              .write = write_elle};
    case Format::Cobra:
      return {.name = "cobra",
              .summary = "a directory of Cobra's logs",
              .read_text = read_cobra_log,
              .is_binary = true};
    case Format::IsoPredict:
      return {.name = "isopredict",
              .summary = "IsoPredict's traces",
              .read_lines = without_notes<read_isopredict>,
              .write = write_isopredict};
  }
  return {};
}

// Numbers beyond the last enumerator have no row.
constexpr std::size_t kNumFormats = [] {
  std::size_t count = 0;
  while (!row_of(static_cast<Format>(count)).name.empty()) ++count;
  return count;
}();

constexpr auto kAllFormats = [] {
  std::array<Format, kNumFormats> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Format>(i);
  return all;
}();

constexpr auto kFormats = [] {
  std::array<FormatInfo, kNumFormats> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = row_of(kAllFormats[i]);
  return rows;
}();

// With sanitizers, the address of a function is no constant to g++ 12.
#ifndef __SANITIZE_ADDRESS__
static_assert(std::ranges::all_of(kFormats, [](const FormatInfo& row) {
  return (row.read_lines != nullptr) != (row.read_text != nullptr);
}));
#endif

constexpr auto kNames = [] {
  std::array<std::string_view, kNumFormats> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kFormats[i].name;
  return names;
}();

const FormatInfo& info_of(Format format) { return kFormats[static_cast<std::size_t>(format)]; }

Error empty_input() {
  return Error{.what = "there is nothing to read: the input is empty",
               .hint = "a history has at least one line"};
}

// A line format has read on when a value turns out to have two writers: fetches the line again,
// unless the file is a pipe, which gives nothing twice.
Error quoting_file(const Error& error, const std::string& path) {
  std::error_code failure;
  if (error.where.line == 0 || !error.line.empty() || path == "-" ||
      !std::filesystem::is_regular_file(path, failure))
    return error;
  auto in = LineReader::open(path);
  if (!in) return error;
  Error quoted = error;
  std::string_view line;
  while (in->line_number() < error.where.line && in->next(line)) {
  }
  if (in->line_number() == error.where.line) quoted.line = line;
  return quoted;
}

Result<History> read_as(LineReader& in, Format format, const Budget& budget, RunNotes* notes) {
  const FormatInfo& info = info_of(format);
  if (info.read_lines != nullptr) return info.read_lines(in, notes);
  const std::string text = in.take_rest();
  if (auto done = check_input(in); !done) return done.error();
  auto history = info.read_text(text, budget);
  if (history || info.is_binary) return history;
  return history.error().quoting(text);
}

Result<History> read_file(const std::string& path, std::optional<Format> format,
                          const Progress& progress, Budget budget, RunNotes* notes) {
  auto in = LineReader::open(path, budget);
  if (!in) return in.error();
  in->report_to(progress);
  const std::string_view head = in->peek(kRecognisedBytes);
  if (auto done = check_input(*in); !done) return done.error();
  if (trimmed(head).empty() && head.size() < kRecognisedBytes) return empty_input();
  if (format) return read_as(*in, *format, budget, notes);
  const std::string beginning(head);  // the reader reads on, over the head
  format = recognise(head);
  if (!format) {
    const Error unknown{
        .what = "this is no format of histories that isoscope recognises",
        .hint = fmt::format("name the format with --format; known: {}", fmt::join(kNames, ", "))};
    return explain_kind(unknown, TextKind::History, beginning);
  }
  auto history = read_as(*in, *format, budget, notes);
  if (history) return history;
  return explain_kind(history.error(), TextKind::History, beginning);
}

}  // namespace

std::span<const Format> all_formats() { return kAllFormats; }
std::string_view name_of(Format format) { return info_of(format).name; }
std::string_view summary_of(Format format) { return info_of(format).summary; }
bool can_write(Format format) { return info_of(format).write != nullptr; }

Result<Format> find_format(std::string_view name) {
  for (Format format : kAllFormats) {
    if (name_of(format) == name) return format;
  }
  return Error{.what = fmt::format("unknown format '{}'", name), .hint = suggest(name, kNames)};
}

namespace {

// Only those who ask get histories with choices.
Result<History> settled(Result<History> history, Ambiguity ambiguity) {
  if (!history || ambiguity == Ambiguity::Keep || history->choices().empty()) return history;
  return history->ambiguity();
}

}  // namespace

Result<History> read_history(const std::string& path, std::optional<Format> format,
                             const Progress& progress, Budget budget, Ambiguity ambiguity,
                             RunNotes* notes) {
  std::error_code failure;
  const bool is_directory = path != "-" && std::filesystem::is_directory(path, failure);
  if (is_directory && format && *format != Format::Cobra)
    return Error{.what = fmt::format("is a directory; {} is read from a file", name_of(*format)),
                 .file = path};
  if (is_directory) {
    auto history = settled(read_cobra(path, budget), ambiguity);
    if (history || !history.error().file.empty()) return history;
    return history.error().in(path);
  }
  if (format == Format::Cobra)
    return Error{.what = "is no directory; cobra is read from a directory of T*.log", .file = path};
  auto history = settled(read_file(path, format, progress, budget, notes), ambiguity);
  if (history) return history;
  return quoting_file(history.error(), path).in(path);
}

Result<History> parse_history(std::string_view text, Format format, Ambiguity ambiguity) {
  if (trimmed(text).empty()) return empty_input();
  const FormatInfo& info = info_of(format);
  const auto read = [&] {
    if (info.read_text != nullptr) return info.read_text(text, {});
    LineReader in = LineReader::over(text);
    return info.read_lines(in, nullptr);
  };
  auto history = settled(read(), ambiguity);
  if (history || info.is_binary) return history;
  return history.error().quoting(text);
}

namespace {

bool can_hold(const History& h, Format format) {
  if (!can_write(format) || !Wording::of(h, dialect_of(format))) return false;
  return format != Format::IsoPredict || commit_order(h).ok();
}

}  // namespace

Result<void> write_history(const History& h, Format format, const Sink& out, const Budget& budget) {
  if (!can_write(format))
    return Error{.what = fmt::format("{} can only be read", name_of(format)),
                 .hint = "write another format, for instance jsonl"};
  auto done = info_of(format).write(h, out, budget);
  if (done || done.error().is_limit) return done;
  std::vector<std::string_view> others;
  for (Format other : all_formats()) {
    if (can_hold(h, other)) others.push_back(name_of(other));
  }
  Error error = done.error();
  error.hint = others.empty() ? "no format that can be written holds it"
                              : fmt::format("formats that can: {}", fmt::join(others, ", "));
  return error;
}

bool can_stream(Format format) { return info_of(format).append != nullptr; }

std::string_view stream_header(Format format) { return info_of(format).stream_header; }

void append_txn(const PlainTxn& txn, Format format, std::string& out) {
  ISO_ASSERT(can_stream(format));
  info_of(format).append(txn, out);
}

}  // namespace isoscope
