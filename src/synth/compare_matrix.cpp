// The relations between many levels: as few questions as possible, then the lattice.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "check/check.h"
#include "support/budget.h"
#include "synth/compare.h"
#include "synth/search.h"

namespace isoscope {

namespace {

class MatrixBuilder {
 public:
  MatrixBuilder(const std::vector<const Level*>& levels, const CompareOptions& options,
                Budget& budget)
      : options_(options), budget_(budget), n_(levels.size()), known_(n_ * n_, false) {
    matrix_.levels = levels;
    matrix_.implies.assign(n_, std::vector<Implication>(n_));
  }

  Result<CompareMatrix> build();

 private:
  Result<void> decide(std::size_t i, std::size_t j);
  // The level by which two proofs join to one of "i implies j", if there is one.
  const Level* follows(std::size_t i, std::size_t j) const;
  // Is it a history that a search between the two levels has?
  bool is_in_search(const History& h, std::size_t i, std::size_t j);
  // Shows the history that separates levels i and j to all the others.
  Result<void> share(std::size_t i, std::size_t j);
  void find_classes();
  void find_edges();
  Result<void> name_edges();

  bool is_known(std::size_t i, std::size_t j) const { return known_[i * n_ + j]; }
  bool is_proved(std::size_t i, std::size_t j) const {
    return matrix_.implies[i][j].outcome == ImplicationOutcome::Proved;
  }
  // Without a chain.
  bool has_proof(std::size_t i, std::size_t j) const {
    return is_proved(i, j) && matrix_.implies[i][j].via == nullptr;
  }
  // Does every level of one class imply every level of the other? Some do, so by equivalence all.
  bool class_implies(std::size_t c, std::size_t d) const {
    return matrix_.implies[matrix_.classes[c].front()][matrix_.classes[d].front()].holds();
  }

  const CompareOptions& options_;
  Budget& budget_;
  std::size_t n_;
  CompareMatrix matrix_;
  std::vector<bool> known_;
};

// Implication is transitive: i implies k and k implies j, both for every history. Chains have two
// halves, as in a comparison of the two levels alone, which has the same answer.
const Level* MatrixBuilder::follows(std::size_t i, std::size_t j) const {
  for (std::size_t k = 0; k < n_; ++k) {
    if (k != i && k != j && has_proof(i, k) && has_proof(k, j)) return matrix_.levels[k];
  }
  return nullptr;
}

Result<void> MatrixBuilder::decide(std::size_t i, std::size_t j) {
  if (is_known(i, j)) return {};
  const Level* via = i == j ? nullptr : follows(i, j);
  if (i == j || via != nullptr) {
    Implication& chain = matrix_.implies[i][j];
    chain.outcome = ImplicationOutcome::Proved;
    chain.via = via;
    if (via != nullptr) {
      const auto k = static_cast<std::size_t>(
          std::find(matrix_.levels.begin(), matrix_.levels.end(), via) - matrix_.levels.begin());
      chain.proof = matrix_.implies[i][k].proof;
      chain.proof->without_numbers |= matrix_.implies[k][j].proof->without_numbers;
    }
    known_[i * n_ + j] = true;
    return {};
  }
  if (budget_.expired_now()) {  // what is known by now is told; hundreds of pairs take their time
    matrix_.implies[i][j].limit = limit_reached();
    return {};
  }
  auto answer = decide_implication(*matrix_.levels[i], *matrix_.levels[j], options_, budget_);
  if (!answer) return answer.error();
  matrix_.implies[i][j] = *std::move(answer);
  known_[i * n_ + j] = true;
  return share(i, j);
}

bool MatrixBuilder::is_in_search(const History& h, std::size_t i, std::size_t j) {
  const SynthQuery query{.allow = {matrix_.levels[i]}, .forbid = {matrix_.levels[j]}};
  const auto told = synthesis::distinctions_of(query.allow, query.forbid);
  if ((h.has_statements() && !told.statements) || (h.has_times() && !told.real_time)) return false;
  for (TxnId t : h.txns()) {
    if (h.status(t) == TxnStatus::Aborted && !told.aborted_txns) return false;
  }
  if (told.repeated_reads || told.read_order) return true;
  // In the order of readers and keys, so that two writers of one read key are side by side.
  auto reads = h.reads_from();
  std::sort(reads.begin(), reads.end(), [](const ReadFrom& a, const ReadFrom& b) {
    return std::tie(a.t3, a.x, a.t1) < std::tie(b.t3, b.x, b.t1);
  });
  return std::adjacent_find(reads.begin(), reads.end(),
                            [](const ReadFrom& a, const ReadFrom& b) {
                              return a.t3 == b.t3 && a.x == b.x && a.t1 != b.t1;
                            }) == reads.end() ||
         synthesis::may_repeat_reads(query, budget_);
}

Result<void> MatrixBuilder::share(std::size_t i, std::size_t j) {
  const Implication shared = matrix_.implies[i][j];
  // Session orders that are no chains are not in the history that check() gets.
  if (!shared.separation || !shared.separation->further_so.empty()) return {};
  Checker checker(shared.separation->history);
  std::vector<std::size_t> allow;
  std::vector<std::size_t> forbid;
  for (std::size_t k = 0; k < n_; ++k) {
    const Verdict verdict = checker.check({matrix_.levels[k], {}}, budget_).verdict;
    if (verdict.outcome == Outcome::Consistent) allow.push_back(k);
    if (verdict.outcome == Outcome::Violated) forbid.push_back(k);
  }
  for (std::size_t p : allow) {
    for (std::size_t q : forbid) {
      if (is_proved(p, q)) {
        return Error{
            .what = fmt::format("{} is proved to imply {}, but a history refutes it",
                                matrix_.levels[p]->full_name(), matrix_.levels[q]->full_name()),
            .hint = "this is a bug of isoscope; please report it with the levels"};
      }
      if (is_known(p, q) || !is_in_search(shared.separation->history, p, q)) continue;
      Implication& refuted = matrix_.implies[p][q];
      refuted.outcome = ImplicationOutcome::Refuted;
      refuted.separation = shared.separation;
      refuted.anomaly = name_separation(*shared.separation, *matrix_.levels[q], budget_);
      refuted.scope = shared.scope;
      known_[p * n_ + q] = true;
    }
  }
  return {};
}

void MatrixBuilder::find_classes() {
  std::vector<bool> placed(n_, false);
  for (std::size_t i = 0; i < n_; ++i) {
    if (placed[i]) continue;
    CompareMatrix::Class members;
    for (std::size_t j = i; j < n_; ++j) {
      const LevelRelation relation = matrix_.bounded(i, j).value_or(matrix_.relation(i, j));
      if (placed[j] || relation != LevelRelation::Equivalent) continue;
      placed[j] = true;
      members.push_back(j);
    }
    matrix_.classes.push_back(std::move(members));
  }
}

void MatrixBuilder::find_edges() {
  const std::size_t classes = matrix_.classes.size();
  for (std::size_t c = 0; c < classes; ++c) {
    for (std::size_t d = 0; d < classes; ++d) {
      if (c == d || !class_implies(c, d) || class_implies(d, c)) continue;
      bool is_covering = true;
      for (std::size_t e = 0; e < classes; ++e) {
        if (e != c && e != d && class_implies(c, e) && !class_implies(e, c) &&
            class_implies(e, d) && !class_implies(d, e))
          is_covering = false;
      }
      if (is_covering) matrix_.edges.push_back({.stronger = c, .weaker = d});
    }
  }
}

// A shared history need not be a smallest one for the pair, so the edges, which people look at, get
// their own.
Result<void> MatrixBuilder::name_edges() {
  for (CompareMatrix::Edge& edge : matrix_.edges) {
    const std::size_t strong = matrix_.classes[edge.stronger].front();
    const std::size_t weak = matrix_.classes[edge.weaker].front();
    edge.is_proved = is_proved(strong, weak);
    // Vacuity is a matter of the stronger level alone, so that any of its proofs tells.
    for (const Implication& each : matrix_.implies[strong]) edge.is_vacuous |= each.is_vacuous();
    Implication& downwards = matrix_.implies[weak][strong];
    if (downwards.outcome != ImplicationOutcome::Refuted) continue;
    if (!budget_.expired_now()) {
      CompareOptions search = options_;
      search.prove = false;
      auto own =
          decide_implication(*matrix_.levels[weak], *matrix_.levels[strong], search, budget_);
      if (!own) return own.error();
      if (own->outcome == ImplicationOutcome::Refuted) downwards = *std::move(own);
    }
    edge.separation = downwards.separation;
    edge.anomaly = downwards.anomaly;
  }
  return {};
}

Result<CompareMatrix> MatrixBuilder::build() {
  const auto start = Budget::Clock::now();
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t j = 0; j < n_; ++j) {
      if (const auto decided = decide(i, j); !decided) return decided.error();
    }
  }
  find_classes();
  find_edges();
  if (const auto named = name_edges(); !named) return named.error();
  matrix_.seconds = std::chrono::duration<double>(Budget::Clock::now() - start).count();
  return std::move(matrix_);
}

}  // namespace

Result<CompareMatrix> compare_all(const std::vector<const Level*>& levels,
                                  const CompareOptions& options, Budget& budget) {
  const auto scope = largest_scope(levels, options);
  if (!scope) return scope.error();
  auto matrix = MatrixBuilder(levels, options, budget).build();
  if (matrix) matrix->scope = *scope;
  return matrix;
}

}  // namespace isoscope
