#include "check/certificate.h"

#include <algorithm>

#include "check/ground/ground.h"
#include "formats/formats.h"
#include "spec/print.h"

namespace isoscope {

namespace {

// What the text does not state is not part of the certificate.
std::optional<History> read_back(const std::string& text, Format format) {
  auto read = parse_history(text, format);
  if (!read || !read->choices().empty()) return std::nullopt;
  return *std::move(read);
}

// The levels of transactions that were read back, by the names that they carry.
Assignment levels_again(const History& again, const History& h, const Assignment& levels) {
  Assignment result{.base = levels.base, .own = {}};
  if (!levels.is_mixed()) return result;
  std::map<std::string, const Level*> by_name;
  for (const TxnId t : h.txns()) by_name.emplace(h.level(t), &levels.of(t));
  for (const TxnId t : again.txns()) {
    const auto found = by_name.find(std::string(again.level(t)));
    result.own.push_back(found == by_name.end() ? levels.base : found->second);
  }
  return result;
}

std::vector<std::string> texts_of(const Assignment& levels) {
  std::vector<const Level*> all = {levels.base};
  for (const Level* own : levels.own) {
    if (own != nullptr && std::find(all.begin(), all.end(), own) == all.end()) all.push_back(own);
  }
  std::vector<std::string> texts;
  for (const Level* level : all) texts.push_back(print(*level));
  return texts;
}

SatCertificate certify_text(const History& h, const Assignment& levels, Format format,
                            Budget& budget) {
  SatRefutation found;
  found.format = name_of(format);
  const auto written =
      write_history(h, format, [&](std::string_view piece) { found.history += piece; });
  if (!written) return {{}, written.error().what};
  const std::optional<History> again = read_back(found.history, format);
  if (!again) return {{}, "values that the text of the history cannot express"};
  const Assignment own = levels_again(*again, h, levels);
  found.num_txns = again->num_txns() - 1;
  found.levels = texts_of(own);
  const Verdict verdict = log_refutation(*again, own, budget, found.log);
  switch (verdict.outcome) {
    case Outcome::Unknown: return {{}, verdict.limit};
    case Outcome::Consistent: return {{}, "what the text of the history does not state"};
    case Outcome::Violated: break;
  }
  auto proof = drat_proof(found.log, budget);
  if (!proof) return {{}, budget.expired_now() ? limit_reached() : "the memory of the SAT solver"};
  found.proof = *std::move(proof);
  return {std::move(found), {}};
}

SatCertificate certify_history(const History& h, const Assignment& levels, Budget& budget) {
  SatCertificate last;
  for (const Format format : {Format::Hist, Format::Jsonl}) {
    last = certify_text(h, levels, format, budget);
    if (last.refutation || budget.expired_now()) return last;
  }
  return last;
}

}  // namespace

SatCertificate certify_violation(const History& h, const Assignment& levels,
                                 const Violation& violation, Budget& budget) {
  std::vector<TxnId> keep = violation.core;
  std::erase(keep, kInitialTxn);
  std::sort(keep.begin(), keep.end());
  if (!keep.empty() && parts_decide(levels)) {
    const GroundPart part = part_of(h, levels, keep);
    SatCertificate certificate = certify_history(part.h, part.levels, budget);
    if (certificate.refutation) {
      certificate.refutation->is_part = certificate.refutation->num_txns + 1 < h.num_txns();
      return certificate;
    }
  }
  return certify_history(h, levels, budget);
}

}  // namespace isoscope
