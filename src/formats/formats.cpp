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
  Format format;
  std::string_view name;
  std::string_view summary;
  bool can_write;
  void (*append)(const PlainTxn&, std::string&) = nullptr;  // if it can be streamed
  std::string_view stream_header = {};
};

constexpr std::array<FormatInfo, 9> kFormats = {{
    {Format::Hist, "hist", "isoscope's readable text", true, append_hist},
    {Format::Jsonl, "jsonl", "isoscope's JSON lines, for machines", true, append_jsonl,
     kJsonlHeader},
    {Format::Plume, "plume", "the text of Plume, PolySI and AWDIT", true, append_plume},
    {Format::AwditTest, "awdit-test", "the text of AWDIT's tests", true},
    {Format::Dbcop, "dbcop", "dbcop's JSON", true},
    {Format::DbcopBincode, "dbcop-bincode", "dbcop's old binary form", false},
    {Format::Elle, "elle", "Jepsen's and Elle's EDN, and elle-cli's JSON", true},
    {Format::Cobra, "cobra", "a directory of Cobra's logs", false},
    {Format::IsoPredict, "isopredict", "IsoPredict's traces", true},
}};

constexpr auto kAllFormats = [] {
  std::array<Format, kFormats.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = kFormats[i].format;
  return all;
}();

constexpr auto kNames = [] {
  std::array<std::string_view, kFormats.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kFormats[i].name;
  return names;
}();

const FormatInfo& info_of(Format format) { return kFormats[static_cast<std::size_t>(format)]; }

Error empty_input() {
  return Error{.what = "there is nothing to read: the input is empty",
               .hint = "a history has at least one line"};
}

Result<History> read_text(std::string_view text, Format format, const Budget& budget = {}) {
  if (format == Format::Hist) return read_hist(text, budget);
  if (format == Format::Dbcop) return read_dbcop(text, budget);
  if (format == Format::DbcopBincode) return read_dbcop_bincode(text, budget);
  const CobraLog log{.name = "T1.log", .bytes = std::string(text)};
  return read_cobra_logs({&log, 1}, budget);
}

bool is_line_format(Format format) {
  return format == Format::Jsonl || format == Format::Plume || format == Format::AwditTest ||
         format == Format::Elle || format == Format::IsoPredict;
}

Result<History> read_lines(LineReader& in, Format format, RunNotes* notes = nullptr) {
  if (format == Format::Jsonl) return read_jsonl(in, notes);
  if (format == Format::Plume) return read_plume(in);
  if (format == Format::AwditTest) return read_awdit_test(in);
  if (format == Format::Elle) return read_elle(in);
  return read_isopredict(in);
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
  if (is_line_format(format)) return read_lines(in, format, notes);
  const std::string text = in.take_rest();
  if (auto done = check_input(in); !done) return done.error();
  auto history = read_text(text, format, budget);
  if (history || format == Format::DbcopBincode) return history;
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
bool can_write(Format format) { return info_of(format).can_write; }

Result<Format> find_format(std::string_view name) {
  for (const FormatInfo& info : kFormats) {
    if (info.name == name) return info.format;
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
  if (!is_line_format(format)) {
    auto history = settled(read_text(text, format), ambiguity);
    if (history || format == Format::DbcopBincode || format == Format::Cobra) return history;
    return history.error().quoting(text);
  }
  LineReader in = LineReader::over(text);
  auto history = settled(read_lines(in, format), ambiguity);
  if (history) return history;
  return history.error().quoting(text);
}

namespace {

Result<void> write_as(const History& h, Format format, const Sink& out, const Budget& budget) {
  switch (format) {
    case Format::Hist:
      return write_hist(h, out, budget);
    case Format::Jsonl:
      return write_jsonl(h, out, budget);
    case Format::Plume:
      return write_plume(h, out, budget);
    case Format::AwditTest:
      return write_awdit_test(h, out, budget);
    case Format::Dbcop:
      return write_dbcop(h, out, budget);
    case Format::Elle:
      return write_elle(h, out, budget);
    case Format::IsoPredict:
      return write_isopredict(h, out, budget);
    case Format::DbcopBincode:
    case Format::Cobra:
      break;
  }
  return Error{.what = fmt::format("{} can only be read", name_of(format)),
               .hint = "write another format, for instance jsonl"};
}

bool can_hold(const History& h, Format format) {
  if (!can_write(format) || !Wording::of(h, dialect_of(format))) return false;
  return format != Format::IsoPredict || commit_order(h).ok();
}

}  // namespace

Result<void> write_history(const History& h, Format format, const Sink& out, const Budget& budget) {
  auto done = write_as(h, format, out, budget);
  if (done || !can_write(format) || done.error().is_limit) return done;
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
