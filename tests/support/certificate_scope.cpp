// The clauses of a scope in which synth found nothing (support/certificate_check.h).
#include <cmath>
#include <numeric>
#include <set>

#include "formats/formats.h"
#include "spec/brute_force.h"
#include "spec/evaluate.h"
#include "spec/levels.h"
#include "support/certificate_check.h"
#include "support/certificate_text.h"
#include "synth/brute_force_histories.h"

namespace isoscope {
namespace {

using Complaint = std::optional<std::string>;

constexpr double kHistoriesTried = 3'000;  // of a scope, about
constexpr double kMostListed = 1e6;        // more are not listed at all
const std::vector<std::string> kKeys = {"x", "y", "z", "u", "v", "w"};

// "T0 T2 T1, vis T0-T1, snap 1 2" with the transactions that the names stand for.
Witness witness_of(const std::string& words, Framework framework,
                   const std::map<std::string, TxnId>& ids) {
  Witness witness{.framework = framework};
  const std::string order = words.substr(0, words.find(','));
  std::istringstream names(order);
  for (std::string name; names >> name;) witness.order.push_back(ids.at(name));
  if (const auto vis = words.find(", vis"); vis != std::string::npos) {
    witness.vis = Relation(ids.size());
    std::istringstream pairs(words.substr(vis + 5, words.find(',', vis + 1) - vis - 5));
    for (std::string pair; pairs >> pair;) {
      const auto dash = pair.find('-');
      witness.vis->insert(ids.at(pair.substr(0, dash)).index, ids.at(pair.substr(dash + 1)).index);
    }
  }
  if (const auto snap = words.find(", snap"); snap != std::string::npos) {
    std::istringstream lengths(words.substr(snap + 6));
    for (std::uint32_t length = 0; lengths >> length;) witness.snap.push_back(length);
  }
  return witness;
}

std::map<std::string, TxnId> ids_of(const History& h) {
  std::map<std::string, TxnId> ids;
  for (const TxnId t : h.txns()) ids.emplace(h.name(t), t);
  return ids;
}

class CheckedScope {
 public:
  CheckedScope(const std::string& answer, const LevelSet& levels, const CertificateFormula& formula,
               CertificateFacts& facts)
      : levels_(levels),
        allowed_(values_of(answer, "allow")),
        forbidden_(values_of(answer, "forbid")),
        formula_(formula),
        facts_(facts) {}

  Complaint check() {
    for (std::size_t i = 0; i < formula_.clauses.size(); ++i) {
      if (auto wrong = check_reason(i)) return *wrong + ", clause " + std::to_string(i + 1);
    }
    if (auto wrong = check_candidates()) return wrong;
    return is_plain() ? check_histories() : Complaint();
  }

 private:
  // "forbid ser: along …" is about ser.
  const Level* level_of(const std::string& reason, std::size_t skip) const {
    const std::string rest = reason.substr(skip);
    const auto level = levels_.find(rest.substr(0, rest.find(':')));
    return level ? *level : nullptr;
  }

  Complaint check_reason(std::size_t i) const {
    const std::string& reason = formula_.reasons[i];
    for (const char* kind : {"definition", "history: ", "names: ", "witness: ", "forbid: "}) {
      if (reason.starts_with(kind)) return {};
    }
    const bool allows = reason.starts_with("allow ");
    if (!allows && !reason.starts_with("forbid ")) return "a reason of no kind: " + reason;
    const std::size_t skip = allows ? 6 : 7;
    const auto& asked = allows ? allowed_ : forbidden_;
    const auto colon = reason.find(": ");
    if (colon == std::string::npos || level_of(reason, skip) == nullptr)
      return "no level: " + reason;
    if (std::find(asked.begin(), asked.end(), reason.substr(skip, colon - skip)) == asked.end())
      return "a level that was not asked for: " + reason;
    const std::string how = reason.substr(colon + 2);
    if (allows && how.ends_with(" serves it")) return {};
    if (!allows && (how.starts_with("along ") || how == "with the witness of an allowed level" ||
                    how == "with the least snapshots along an order"))
      return {};
    return "a reason of no kind: " + reason;
  }

  // Each was no answer, because a forbidden level allows it, and a clause excludes it.
  Complaint check_candidates() {
    std::map<std::string, std::vector<std::size_t>> clauses;
    for (std::size_t i = 0; i < formula_.reasons.size(); ++i) {
      if (formula_.reasons[i].find("; refuted candidate") != std::string::npos)
        clauses[formula_.reasons[i]].push_back(i);
    }
    for (const auto& [reason, own] : clauses) {
      ++facts_.candidates;
      const auto begin = reason.find("; refuted candidate") + 19;
      const auto colon = reason.find(": ", begin);
      const auto allowed = reason.rfind("; allowed by ");
      if (colon == std::string::npos || allowed == std::string::npos)
        return "no candidate: " + reason;
      std::string text = reason.substr(colon + 2, allowed - colon - 2);
      for (std::size_t at = 0; (at = text.find("; ", at)) != std::string::npos;)
        text.replace(at, 2, "\n");
      auto h = parse_history(text + "\n", Format::Hist);
      if (!h) return "a candidate that is no history: " + text;
      const Level* level = level_of(reason, 7);
      const Witness witness = witness_of(reason.substr(allowed + 16), level->framework, ids_of(*h));
      if (!Evaluator(*h, {.base = level, .own = {}}).accepts(witness))
        return "the evaluator refuses the witness of a refuted candidate: " + reason;
      CertificateValues values(formula_);
      for (const auto& [variable, words] : formula_.names) values.set(variable, false);
      std::istringstream numbers(reason.substr(begin, colon - begin));
      for (int variable = 0; numbers >> variable;) values.set(variable, true);
      const bool excluded = std::any_of(own.begin(), own.end(), [&](std::size_t i) {
        return !values.holds(formula_.clauses[i]);
      });
      if (!excluded) return "a candidate that its clauses do not exclude: " + reason;
    }
    return {};
  }

  // Nothing but writes, reads and sessions, and what is chosen besides.
  bool is_plain() {
    for (const auto& [variable, words] : formula_.names) {
      std::istringstream parts(words);
      std::string t;
      std::string verb;
      std::string key;
      parts >> t >> verb >> key;
      if (words.find("operation") != std::string::npos || verb == "aborts" || verb == "ends")
        return false;
      if (words.ends_with(" in a session")) {
        txns_ = std::max(txns_, number(key));
      } else if (verb == "writes" || verb == "reads") {
        const auto found = std::find(kKeys.begin(), kKeys.end(), key);
        if (found == kKeys.end()) return false;
        keys_ = std::max(keys_, static_cast<int>(found - kKeys.begin()) + 1);
        txns_ = std::max(txns_, number(t));
      } else if (words.ends_with(" on the chosen cycle")) {
        chosen_.push_back(variable);
      }
    }
    return txns_ > 0 && keys_ > 0;
  }
  static int number(const std::string& txn) { return std::atoi(txn.c_str() + 1); }

  // Nothing if the formula has no variable for one of its facts.
  std::optional<CertificateValues> values_of_drawn(const DrawnHistory& d,
                                                   const std::vector<int>& keys) {
    CertificateValues values(formula_);
    std::set<std::string> facts;
    for (int t = 0; t < d.txns; ++t) {
      const auto ti = static_cast<std::size_t>(t);
      for (int x = 0; x < d.keys; ++x) {
        const auto xi = static_cast<std::size_t>(x);
        const std::string& key = kKeys[static_cast<std::size_t>(keys[xi])];
        const std::string name = "T" + std::to_string(t + 1);
        if (d.writes[ti][xi] != 0) facts.insert(name + " writes " + key);
        for_each_writer(d, ti, xi, [&](int from) {
          facts.insert(name + " reads " + key + " from T" + std::to_string(from));
        });
      }
      for (int u = t + 1; u < d.txns; ++u) {
        if (d.session[ti] == d.session[static_cast<std::size_t>(u)])
          facts.insert("T" + std::to_string(t + 1) + " before T" + std::to_string(u + 1) +
                       " in a session");
      }
    }
    for (const auto& [variable, words] : formula_.names)
      values.set(variable, facts.erase(words) > 0);
    if (!facts.empty()) return std::nullopt;
    return values;
  }

  Complaint check_histories() {
    const double all = std::pow(2.0 * (txns_ + 1), txns_ * keys_);
    if (all > kMostListed) return {};
    const auto stride = static_cast<std::size_t>(std::max(1.0, all / kHistoriesTried));
    std::size_t seen = 0;
    Complaint wrong;
    for_each_history({.txns = txns_, .keys = keys_}, [&](const DrawnHistory& d) {
      if (wrong || seen++ % stride != 0) return;
      std::vector<int> same(static_cast<std::size_t>(keys_));
      std::iota(same.begin(), same.end(), 0);
      auto values = values_of_drawn(d, same);
      if (values) wrong = check_history(d, *values);
      if (values && !wrong) wrong = check_names(d, same);
      if (values && !wrong) wrong = check_forced(d, *values);
    });
    return wrong;
  }

  Complaint check_history(const DrawnHistory& d, CertificateValues& values) {
    ++facts_.histories;
    const History h = build(d);
    std::map<std::string, TxnId> ids;
    for (const TxnId t : h.txns()) ids.emplace("T" + std::to_string(t.index), t);
    for (std::size_t i = 0; i < formula_.clauses.size(); ++i) {
      const std::string& reason = formula_.reasons[i];
      if (reason == "definition" || reason.starts_with("names: ")) continue;
      if (values.holds(formula_.clauses[i])) continue;
      if (reason.starts_with("history: ")) return "a history that " + reason + " excludes";
      const bool allows = reason.starts_with("allow ");
      const bool along = reason.find(": along ") != std::string::npos;
      if (!allows && !along) continue;
      if (allows && reason.find("the order of the numbers") == std::string::npos) continue;
      const Level* level = level_of(reason, allows ? 6 : 7);
      if (level->framework != Framework::Co && (allows || level->framework == Framework::CoSnap))
        continue;
      Witness witness{.framework = level->framework};
      const bool by_numbers = reason.find("the order of the numbers") != std::string::npos;
      if (by_numbers) {
        for (const TxnId t : h.txns()) witness.order.push_back(t);
      } else {
        const auto begin = reason.find(": along ") + 8;
        if (reason.substr(begin).starts_with("an order")) continue;
        witness = witness_of(reason.substr(begin, reason.find(';') - begin), level->framework, ids);
        if (level->framework == Framework::VisAr && reason.find(", vis") == std::string::npos)
          witness.vis.reset();
      }
      ++facts_.refused;
      const bool accepted = Evaluator(h, {.base = level, .own = {}}).accepts(witness);
      if (accepted == allows)
        return "the evaluator disagrees with clause " + std::to_string(i + 1) + " (" + reason + ")";
    }
    return {};
  }

  // Of a history that the only forbidden level forbids, some cycle can be chosen.
  Complaint check_forced(const DrawnHistory& d, CertificateValues& values) {
    std::vector<std::size_t> forced;
    for (std::size_t i = 0; i < formula_.reasons.size(); ++i) {
      if (formula_.reasons[i].starts_with("forbid: ")) forced.push_back(i);
    }
    if (forced.empty() || forbidden_.size() != 1 || chosen_.size() > 8) return {};
    const History h = build(d);
    const auto level = levels_.find(forbidden_.front());
    if (!level) return "an unknown level: " + forbidden_.front();
    if (BruteForce(h).decide(**level)) return {};
    ++facts_.refused;
    for (std::size_t choice = 0; choice < std::size_t{1} << chosen_.size(); ++choice) {
      for (std::size_t i = 0; i < chosen_.size(); ++i)
        values.set(chosen_[i], (choice >> i & 1U) != 0);
      values.forget_gates();
      if (std::all_of(forced.begin(), forced.end(),
                      [&](std::size_t i) { return values.holds(formula_.clauses[i]); }))
        return {};
    }
    return "a forbidden history in which no cycle can be chosen";
  }

  // Some naming of the keys is left.
  Complaint check_names(const DrawnHistory& d, std::vector<int> keys) {
    do {
      auto values = values_of_drawn(d, keys);
      bool all = values.has_value();
      for (std::size_t i = 0; i < formula_.clauses.size() && all; ++i)
        all = !formula_.reasons[i].starts_with("names: ") || values->holds(formula_.clauses[i]);
      if (all) return {};
    } while (std::next_permutation(keys.begin(), keys.end()));
    return "a history that has no name";
  }

  const LevelSet& levels_;
  const std::vector<std::string> allowed_;
  const std::vector<std::string> forbidden_;
  const CertificateFormula& formula_;
  CertificateFacts& facts_;
  int txns_ = 0;
  int keys_ = 0;
  std::vector<int> chosen_;
};

}  // namespace

std::optional<std::string> check_scope_clauses(const std::string& answer, const LevelSet& levels,
                                               const CertificateFormula& formula,
                                               CertificateFacts& facts) {
  return CheckedScope(answer, levels, formula, facts).check();
}

}  // namespace isoscope
