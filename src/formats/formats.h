#pragma once
// Every format of histories that isoscope reads and writes, behind two functions.
//
//     Result<History> h = read_history("run.edn", {});                 // recognised by content
//     Result<void> done = write_history(*h, Format::Hist, output.sink());
//
// Reading turns text into facts once; what each format says about initial values, aborted and
// unknown transactions is in docs/formats.md. Line formats stream, so that a file may be larger
// than memory. Writing keeps every fact or refuses: a writer looks at the whole history first,
// and where its format has no words for something it returns an Error that says what, where it
// stands, and which formats could hold it. Names are not facts: formats that number sessions and
// transactions keep the numbers of a history that has some, and count otherwise.
//
// Cost  plume and jsonl above 100 MB/s on one core (bench/parse_bench.cpp).
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/plain_txn.h"
#include "formats/run_notes.h"
#include "history/history.h"
#include "support/budget.h"
#include "support/output.h"
#include "support/result.h"

namespace isoscope {

enum class Format : std::uint8_t {
  Hist,          // our readable text
  Jsonl,         // ours for machines
  Plume,         // the text of Plume, PolySI and AWDIT
  AwditTest,     // the text of AWDIT's tests
  Dbcop,         // dbcop's JSON
  DbcopBincode,  // dbcop's old binary form
  Elle,          // Jepsen's and Elle's EDN, and elle-cli's JSON
  Cobra,         // a directory of Cobra's logs
  IsoPredict,    // IsoPredict's traces
};

// All formats, in the order of the enumeration.
std::span<const Format> all_formats();
// As in `--format`: hist, jsonl, plume, awdit-test, dbcop, dbcop-bincode, elle, cobra, isopredict.
std::string_view name_of(Format format);
// One line for people.
std::string_view summary_of(Format format);
bool can_write(Format format);
// An unknown name is an error with the closest known one as its hint.
Result<Format> find_format(std::string_view name);

// How many bytes of a file recognise() wants to see, if there are as many.
inline constexpr std::size_t kRecognisedBytes = std::size_t{1} << 16U;
// Which format a file is in, from its beginning. Never looks at the file's name.
std::optional<Format> recognise(std::string_view head);

// What to do with reads whose value several transactions wrote (History::choices).
enum class Ambiguity : std::uint8_t {
  Refuse,  // an error that names two of the writers
  Keep,    // for those who can decide with a choice of writers
};

// Reads a file, standard input for "-", or a directory (which is cobra). Without a format it is
// recognised. Errors name the file, the place, and quote the line.
// Reports to `progress` how much of a file was read. A budget that expires gives a limit_error.
// `notes` takes what a recorded run says besides; without it, a run that has gaps gives a
// limit_error, so that no analysis takes what is recorded for all that happened.
Result<History> read_history(const std::string& path, std::optional<Format> format = {},
                             const Progress& progress = {}, Budget budget = {},
                             Ambiguity ambiguity = Ambiguity::Refuse, RunNotes* notes = nullptr);
// Reads a text that is at hand. For cobra: the log of one session.
Result<History> parse_history(std::string_view text, Format format,
                              Ambiguity ambiguity = Ambiguity::Refuse);

// Writes the history piece by piece; nothing at all if the format cannot hold it. A budget that
// expires gives a limit_error and half a text, unless the text is short.
Result<void> write_history(const History& h, Format format, const Sink& out,
                           const Budget& budget = {});

// Can it be written transaction by transaction? True for hist, jsonl and plume.
//
//     std::string text(stream_header(format));
//     generate_txns(plan, [&](const PlainTxn& txn) {
//       append_txn(txn, format, text);
//       if (text.size() > kEnough) …                        // hand it on, and clear it
//     });
bool can_stream(Format format);
// What stands before the first transaction.
std::string_view stream_header(Format format);
// Appends the transaction's lines. Sessions are called s0, s1, …, keys are numbers. Requires:
// can_stream(format).
void append_txn(const PlainTxn& txn, Format format, std::string& out);

}  // namespace isoscope
