#include "support/certificate_check.h"

#include <set>

#include "formats/formats.h"
#include "spec/brute_force.h"
#include "spec/evaluate.h"
#include "spec/levels.h"
#include "spec/statements.h"
#include "support/certificate_text.h"
#include "support/rng.h"

namespace isoscope {
namespace {

using Complaint = std::optional<std::string>;

constexpr std::size_t kExhaustedTxns = 6;  // all orders of so many
constexpr std::size_t kTargeted = 300;     // else so many clauses, each with an order against it
constexpr std::size_t kRowsOfOrder = 12;   // vis or snapshots drawn for an order

// The only axiom of this name, or none.
Level with_axiom(const Level& level, const std::string& name) {
  Level result = level;
  std::erase_if(result.axioms, [&](const Axiom& axiom) { return axiom.name != name; });
  return result;
}

// "axiom Ser: x = …" is about Ser.
std::string axiom_of(const std::string& reason) {
  const std::string rest = reason.substr(6);
  return rest.substr(0, rest.find(':'));
}

Complaint check_definition(const CertificateFormula& formula, const DratClause& clause) {
  for (const int lit : clause) {
    const auto gate = formula.gates.find(std::abs(lit));
    if (gate == formula.gates.end()) continue;
    const std::vector<int>& inputs = gate->second;
    const auto has = [&](int wanted) {
      return std::find(clause.begin(), clause.end(), wanted) != clause.end();
    };
    const bool one_input =
        lit < 0 && clause.size() == 2 && std::any_of(inputs.begin(), inputs.end(), has);
    const bool all_inputs =
        lit > 0 && clause.size() == inputs.size() + 1 &&
        std::all_of(inputs.begin(), inputs.end(), [&](int i) { return has(-i); });
    if (one_input || all_inputs) return {};
  }
  return "a definition that defines nothing";
}

// What is the same for both commands: the proof, and the clauses of gates.
Complaint check_formula(const CertificateFormula& formula, const std::string& proof) {
  for (const auto& [variable, inputs] : formula.gates) {
    if (formula.names.contains(variable)) return "a variable with two meanings";
    for (const int lit : inputs) {
      const bool known =
          formula.names.contains(std::abs(lit)) || formula.gates.contains(std::abs(lit));
      if (!known) return "a gate of a variable without a meaning";
    }
  }
  for (std::size_t i = 0; i < formula.clauses.size(); ++i) {
    for (const int lit : formula.clauses[i]) {
      if (!formula.names.contains(std::abs(lit)) && !formula.gates.contains(std::abs(lit)))
        return "a literal without a meaning in clause " + std::to_string(i + 1);
    }
    if (formula.reasons[i] != "definition") continue;
    if (auto wrong = check_definition(formula, formula.clauses[i])) return wrong;
  }
  return check_drat(formula.variables, formula.clauses, proof);
}

// The clauses of one history at one level.
class CheckedHistory {
 public:
  CheckedHistory(const History& h, const Level& level, const CertificateFormula& formula,
                 CertificateFacts& facts)
      : h_(h), level_(level), formula_(formula), facts_(facts), statements_(h), rng_(7) {
    for (const TxnId t : h.txns()) {
      if (!h.is_present(t)) continue;
      points_.emplace(h.name(t), Point{t, EventId::none()});
      if (t != kInitialTxn) txns_.push_back(t);
      for (const EventId e : h.events(t)) {
        if (h.is_read(e))
          points_.emplace(h.name(t) + " statement " + std::to_string(h.statement(e) + 1),
                          Point{t, e});
      }
    }
  }

  Complaint check() {
    if (auto wrong = read_variables()) return wrong;
    for (std::size_t i = 0; i < formula_.clauses.size(); ++i) {
      if (auto wrong = check_reason(i)) return *wrong + ", clause " + std::to_string(i + 1);
    }
    if (txns_.size() <= kExhaustedTxns) {
      std::vector<TxnId> order = txns_;
      do {
        if (auto wrong = check_order(order)) return wrong;
      } while (std::next_permutation(order.begin(), order.end()));
      return {};
    }
    std::size_t left = kTargeted;
    for (std::size_t i = 0; i < formula_.clauses.size() && left > 0; ++i) {
      if (!formula_.reasons[i].starts_with("axiom ")) continue;
      --left;
      if (const auto order = order_against(formula_.clauses[i])) {
        if (auto wrong = check_order(*order)) return wrong;
      }
    }
    return {};
  }

 private:
  struct Point {
    TxnId txn;
    EventId read;  // none() for the commit
  };
  struct Pair {
    std::string from;
    std::string to;
    bool is_vis = false;
  };

  Complaint read_variables() {
    for (const auto& [variable, words] : formula_.names) {
      const auto before = words.find(" before ");
      const auto visible = words.find(" visible to ");
      if (words.starts_with("axiom ") && words.ends_with(" holds")) {
        guards_.emplace(variable, words.substr(6, words.size() - 12));
      } else if (words.starts_with("relation ")) {
        relations_.emplace(variable, words.substr(9, words.find(',') - 9));
      } else if (before != std::string::npos) {
        pairs_.emplace(variable, Pair{words.substr(0, before), words.substr(before + 8), false});
      } else if (visible != std::string::npos) {
        pairs_.emplace(variable, Pair{words.substr(0, visible), words.substr(visible + 12), true});
      } else if (words != "stands in no clause") {
        return "a variable that means nothing: " + words;
      }
    }
    for (const auto& [variable, pair] : pairs_) {
      if (!points_.contains(pair.from) || !points_.contains(pair.to))
        return "a pair of what is not in the history: " + pair.from + ", " + pair.to;
    }
    return {};
  }

  Complaint check_reason(std::size_t i) {
    const std::string& reason = formula_.reasons[i];
    const DratClause& clause = formula_.clauses[i];
    if (reason == "definition") return {};
    if (reason.starts_with("required: axiom ")) {
      const bool is_guard = clause.size() == 1 && clause[0] > 0 && guards_.contains(clause[0]) &&
                            guards_.at(clause[0]) == reason.substr(16);
      return is_guard ? Complaint() : "a demand that is no axiom";
    }
    if (reason.starts_with("axiom ")) {
      const bool guarded = std::any_of(clause.begin(), clause.end(), [&](int lit) {
        return lit < 0 && guards_.contains(-lit) && guards_.at(-lit) == axiom_of(reason);
      });
      return guarded ? Complaint() : "an instance of another axiom";
    }
    if (reason.starts_with("cycle of relation ")) {
      const std::string number = reason.substr(18, reason.find(':') - 18);
      const bool guarded = std::any_of(clause.begin(), clause.end(), [&](int lit) {
        return lit < 0 && relations_.contains(-lit) && relations_.at(-lit) == number;
      });
      return guarded ? Complaint() : "a cycle of no relation";
    }
    if (reason.starts_with("vis: ")) {
      const bool says_so = clause.size() == 2 && (is_visible_before(clause[0], clause[1]) ||
                                                  is_visible_before(clause[1], clause[0]));
      return says_so ? Complaint() : "no statement about vis";
    }
    if (reason.starts_with("order: ")) return check_cycle(clause);
    return "a reason of no kind: " + reason;
  }

  // "a is not visible to b, or a is before b".
  bool is_visible_before(int not_visible, int before) const {
    const auto vis = pairs_.find(-not_visible);
    const auto order = pairs_.find(std::abs(before));
    if (vis == pairs_.end() || order == pairs_.end()) return false;
    if (!vis->second.is_vis || order->second.is_vis) return false;
    const Pair& pair = order->second;
    return before > 0 ? pair.from == vis->second.from && pair.to == vis->second.to
                      : pair.from == vis->second.to && pair.to == vis->second.from;
  }

  // What comes before what, whatever the order is.
  template <class F>
  void for_each_fact(const F& edge) const {
    const bool has_points = level_.framework == Framework::CoSnap;
    for (const auto& [name, point] : points_) {
      if (name != h_.name(kInitialTxn)) edge(h_.name(kInitialTxn), name);
      if (!point.read.is_none()) edge(name, h_.name(point.txn));
    }
    for (const TxnId t : txns_) {
      for (const TxnId u : txns_) {
        if (level_.uses_session_order && h_.so(t, u)) edge(h_.name(t), h_.name(u));
      }
      for (const EventId e : h_.events(t)) {
        if (!h_.is_external_read(e)) continue;
        if (!level_.is_wr_free) edge(h_.name(h_.writer(e)), h_.name(t));
        if (has_points && !statements_.is_current(e))
          edge(h_.name(h_.writer(e)),
               h_.name(t) + " statement " + std::to_string(h_.statement(e) + 1));
      }
    }
    for (const VersionEdge& version : h_.version_edges())
      edge(h_.name(version.before), h_.name(version.after));
    for (const auto& [before, after] : statements_.known_order()) {
      if (has_points) edge(h_.name(before), h_.name(after));
    }
  }

  // The edges of facts, and those that make the literals false.
  std::optional<std::vector<std::string>> sorted_against(const DratClause& clause) {
    std::map<std::string, std::set<std::string>> after;
    std::map<std::string, int> waits;
    for (const auto& [name, point] : points_) waits[name] = 0;
    const auto edge = [&](const std::string& a, const std::string& b) {
      if (after[a].insert(b).second) ++waits[b];
    };
    for_each_fact(edge);
    for (const int lit : clause) {
      const auto pair = pairs_.find(std::abs(lit));
      if (pair == pairs_.end() || pair->second.is_vis) continue;
      if (lit < 0) edge(pair->second.from, pair->second.to);
      if (lit > 0) edge(pair->second.to, pair->second.from);
    }
    std::vector<std::string> ready;
    for (const auto& [name, n] : waits) {
      if (n == 0) ready.push_back(name);
    }
    std::vector<std::string> sorted;
    while (!ready.empty()) {
      std::swap(ready[rng_.below(ready.size())], ready.back());
      const std::string next = ready.back();
      ready.pop_back();
      sorted.push_back(next);
      for (const std::string& b : after[next]) {
        if (--waits[b] == 0) ready.push_back(b);
      }
    }
    if (sorted.size() != points_.size()) return std::nullopt;
    return sorted;
  }

  Complaint check_cycle(const DratClause& clause) {
    for (const int lit : clause) {
      const auto pair = pairs_.find(std::abs(lit));
      if (pair == pairs_.end() || pair->second.is_vis) return "an order of something else";
    }
    return sorted_against(clause) ? Complaint("no cycle: some order has all of it") : Complaint();
  }

  std::optional<std::vector<TxnId>> order_against(const DratClause& clause) {
    const auto sorted = sorted_against(clause);
    if (!sorted) return std::nullopt;
    std::vector<TxnId> order;
    for (const std::string& name : *sorted) {
      const Point& point = points_.at(name);
      if (point.read.is_none() && point.txn != kInitialTxn) order.push_back(point.txn);
    }
    return order;
  }

  bool follows_facts(const std::map<std::string, std::size_t>& place) const {
    bool follows = true;
    for_each_fact([&](const std::string& a, const std::string& b) {
      const auto from = place.find(a);
      const auto to = place.find(b);
      if (from != place.end() && to != place.end() && from->second >= to->second) follows = false;
    });
    return follows;
  }

  // All executions along the order, or some of them where vis and snapshots make them many.
  Complaint check_order(const std::vector<TxnId>& order) {
    Witness witness{.framework = level_.framework, .order = {kInitialTxn}};
    witness.order.insert(witness.order.end(), order.begin(), order.end());
    std::map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < witness.order.size(); ++i) place[h_.name(witness.order[i])] = i;
    if (!follows_facts(place)) return {};
    const std::size_t rounds = level_.framework == Framework::Co ? 1 : kRowsOfOrder;
    for (std::size_t i = 0; i < rounds; ++i) {
      if (level_.framework == Framework::VisAr) draw_vis(witness);
      if (level_.framework == Framework::CoSnap && !draw_snapshots(witness, place)) continue;
      if (auto wrong = check_execution(witness, place)) return wrong;
    }
    return {};
  }

  void draw_vis(Witness& witness) {
    witness.vis = Relation(h_.num_txns());
    const Relation so = so_relation(h_);
    const Relation wr = wr_relation(h_);
    for (std::size_t i = 0; i < witness.order.size(); ++i) {
      for (std::size_t k = i + 1; k < witness.order.size(); ++k) {
        const std::size_t a = witness.order[i].index;
        const std::size_t b = witness.order[k].index;
        const bool must = (so.contains(a, b) && level_.uses_session_order) || wr.contains(a, b);
        if (must || rng_.below(3) == 0) witness.vis->insert(a, b);
      }
    }
  }

  // A statement has one snapshot: with T0 and the writers of its plain reads, before its commit.
  bool draw_snapshots(Witness& witness, const std::map<std::string, std::size_t>& place) {
    witness.snap.assign(h_.num_events(), 0);
    for (const TxnId t : txns_) {
      std::map<std::uint32_t, std::size_t> least;
      for (const EventId e : h_.events(t)) {
        if (!h_.is_read(e)) continue;
        std::size_t& from = least.emplace(h_.statement(e), 1).first->second;
        if (h_.is_external_read(e) && !statements_.is_current(e))
          from = std::max(from, place.at(h_.name(h_.writer(e))) + 1);
      }
      const std::size_t own = place.at(h_.name(t));
      for (auto& [statement, length] : least) {
        if (length > own) return false;
        length += rng_.below(own - length + 1);
      }
      for (const EventId e : h_.events(t)) {
        if (h_.is_read(e))
          witness.snap[e.index] = static_cast<std::uint32_t>(least[h_.statement(e)]);
      }
    }
    return true;
  }

  // On a line: commits at even places, snapshots right after their last transaction.
  std::pair<std::size_t, std::string> line_place(
      const std::string& name, const Witness& witness,
      const std::map<std::string, std::size_t>& place) const {
    const Point& point = points_.at(name);
    if (point.read.is_none()) return {2 * place.at(name), ""};
    return {2 * static_cast<std::size_t>(witness.snap[point.read.index]) - 1, name};
  }

  Complaint check_execution(const Witness& witness,
                            const std::map<std::string, std::size_t>& place) {
    ++facts_.executions;
    CertificateValues values(formula_);
    for (const auto& [variable, pair] : pairs_) {
      const bool value =
          pair.is_vis ? witness.vis->contains(points_.at(pair.from).txn.index,
                                              points_.at(pair.to).txn.index)
                      : line_place(pair.from, witness, place) < line_place(pair.to, witness, place);
      values.set(variable, value);
    }
    for (const auto& [variable, name] : guards_) values.set(variable, true);
    set_relations(values);
    for (std::size_t i = 0; i < formula_.clauses.size(); ++i) {
      const std::string& reason = formula_.reasons[i];
      if (reason == "definition" || values.holds(formula_.clauses[i])) continue;
      if (!reason.starts_with("axiom "))
        return "an execution that breaks clause " + std::to_string(i + 1) + " (" + reason + ")";
      ++facts_.refused;
      if (!is_refused(axiom_of(reason), witness))
        return "the evaluator accepts what clause " + std::to_string(i + 1) + " excludes (" +
               reason + ")";
    }
    return {};
  }

  // A relation has no cycle unless one of those that are listed is there.
  void set_relations(CertificateValues& values) {
    for (const auto& [variable, number] : relations_) values.set(variable, true);
    for (const auto& [variable, number] : relations_) {
      bool acyclic = true;
      for (std::size_t i = 0; i < formula_.clauses.size(); ++i) {
        if (formula_.reasons[i].starts_with("cycle of relation " + number + ":") &&
            !values.holds(formula_.clauses[i]))
          acyclic = false;
      }
      values.set(variable, acyclic);
      values.forget_gates();
    }
  }

  bool is_refused(const std::string& axiom, const Witness& witness) {
    const Level none = with_axiom(level_, "");
    Evaluator framework(h_, {.base = &none, .own = {}});
    if (!framework.accepts(witness))
      return true;  // it is no execution over vis or snapshots at all
    const Level one = with_axiom(level_, axiom);
    return !Evaluator(h_, {.base = &one, .own = {}}).accepts(witness);
  }

  const History& h_;
  const Level& level_;
  const CertificateFormula& formula_;
  CertificateFacts& facts_;
  StatementFacts statements_;
  Rng rng_;
  std::map<std::string, Point> points_;
  std::vector<TxnId> txns_;
  std::map<int, std::string> guards_;
  std::map<int, std::string> relations_;
  std::map<int, Pair> pairs_;
};

}  // namespace

// The scopes of synth: certificate_scope.cpp.
std::optional<std::string> check_scope_clauses(const std::string& answer, const LevelSet& levels,
                                               const CertificateFormula& formula,
                                               CertificateFacts& facts);

namespace {

// An answer with its sections by name.
struct Reply {
  std::map<std::string, CertificateSection> parts;
  const std::string& text(const std::string& name) { return parts[name].text; }
};

Complaint check_answer(Reply& answer, CertificateFacts& facts) {
  const std::string head = answer.text("answer");
  const auto kinds = values_of(head, "kind");
  if (kinds.size() != 1) return "an answer of no kind";
  if (kinds[0] == "none") return {};
  ++facts.answers;
  LevelSet levels;
  if (auto read = levels.add(answer.text("level"), "certificate"); !read)
    return "the level cannot be read: " + read.error().what;
  if (levels.all().empty()) return "no level";
  if (kinds[0] == "read") return {};
  const bool is_synth = values_of(head, "command") == std::vector<std::string>{"synth"};
  std::optional<History> h;
  if (!is_synth) {
    auto format = find_format(answer.parts["history"].rest);
    if (!format) return "a history of no format";
    auto read = parse_history(answer.text("history"), *format);
    if (!read) return "the history cannot be read: " + read.error().what;
    h = *std::move(read);
  }
  if (kinds[0] == "cycle") {
    // The edges are told for people; that they leave no order is seen by trying all.
    if (answer.text("cycle").empty()) return "no cycle";
    const Level& level = *levels.all().front();
    if (!is_small_enough(*h, level.framework)) return {};
    if (BruteForce(*h).decide(level)) return "some order satisfies the level";
    return {};
  }
  if (kinds[0] != "sat") return "an unknown kind of certificate";
  ++facts.sat;
  CertificateFormula formula;
  const std::string wrong = parse_formula(answer.text("cnf"), answer.text("reasons"), formula);
  if (!wrong.empty()) return wrong;
  facts.added += formula.added;
  if (auto complaint = check_formula(formula, answer.text("proof"))) return complaint;
  if (is_synth) return check_scope_clauses(head, levels, formula, facts);
  return CheckedHistory(*h, *levels.all().front(), formula, facts).check();
}

}  // namespace

std::optional<std::string> check_certificate(const std::string& text, CertificateFacts* facts) {
  CertificateFacts unused;
  if (facts == nullptr) facts = &unused;
  const auto sections = sections_of(text);
  if (!sections) return "no certificate";
  std::map<std::size_t, Reply> answers;
  for (const CertificateSection& section : *sections) {
    if (!answers[section.number].parts.emplace(section.name, section).second)
      return "a section that comes twice";
  }
  for (auto& [number, answer] : answers) {
    if (auto wrong = check_answer(answer, *facts)) return wrong;
  }
  return std::nullopt;
}

}  // namespace isoscope
