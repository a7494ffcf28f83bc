#pragma once
// The answer of `synth`: histories with the reasons why each level allows or forbids them.
#include <optional>
#include <string>
#include <vector>

#include "check/check.h"
#include "formats/formats.h"
#include "report/certificate.h"
#include "report/header.h"
#include "report/page.h"
#include "report/paint.h"
#include "synth/synth.h"

namespace isoscope {

// A history that was found, with what check() says about it.
struct SeparatingHistory {
  SynthFound found;
  std::vector<CheckAnswer> refutations;  // one for each forbidden level, in the order of the query
};

struct SynthReport : Answer {
  std::vector<std::string> allow;  // levels as the user named them
  std::vector<std::string> forbid;
  std::vector<SeparatingHistory> histories;
  Scope scope;
  int excluded_txns = 0;                 // so many transactions or fewer: certainly none
  std::optional<std::uint64_t> count;    // of --count
  std::optional<Minimality> minimality;  // of --all and --irreducible
  std::optional<Format> format;          // of --to
  double seconds = 0;
  std::optional<CertificateNote> certificate = {};  // with --certificate

  // A history that was found is found, even if the time for a smaller one, or for more, is over.
  Outcome verdict() const { return histories.empty() ? outcome : Outcome::Found; }
};

// Of a count that is not 0 the word is that of what was found, but the outcome is good.
Header header_of(const SynthReport& report);

// Histories in the text format, with their reasons as comments: one history is a .hist file.
Result<std::string> synth_text(const SynthReport& report, const Paint& paint);
Result<std::string> synth_json(const SynthReport& report);
// For pictures and pages: every history with the cycle by which the first forbidden level refutes
// it.
Page synth_page(const SynthReport& report);

// One history as a file of a format; the text format keeps its reasons. An Error if the format
// cannot hold it, and for sessions that are no chains, which only a comment of ours can tell.
Result<std::string> history_file(const SynthReport& report, const SeparatingHistory& one,
                                 Format format);

Result<std::string> text_in(const History& h, Format format);
// "co T0 T1 T2", or "ar T0 T1; vis T0-T1".
std::string witness_text(const History& h, const Witness& witness);
// "2 transactions, at most 2 keys, blind writes allowed, no empty transactions, sessions are
// chains".
std::string describe(const Scope& scope);
// The whole of it, for an answer that rests on nothing being found: how far each size goes, and
// which histories are searched. With `grew`, from one transaction on.
std::string describe_searched(const Scope& scope, bool grew);
// The end of both: which histories count, whatever their sizes.
std::string describe_switches(const Scope& scope);
std::string_view name_of(StatementShape shape);  // any, no-inserts, …
Json scope_json(const Scope& scope);

}  // namespace isoscope
