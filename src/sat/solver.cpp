#include "sat/solver.h"

#include <cadical.hpp>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sat/clause_log.h"
#include "support/assert.h"

namespace isoscope {
namespace {

class BudgetTerminator : public CaDiCaL::Terminator {
 public:
  explicit BudgetTerminator(Budget& budget) : budget_(budget) {}
  // The solver asks seldom enough for a look at the clock each time.
  bool terminate() override { return budget_.expired_now(); }

 private:
  Budget& budget_;
};

}  // namespace

struct SatSolver::Backend {
  CaDiCaL::Solver solver;
  std::int32_t vars = 0;
  std::size_t clauses = 0;
  // The backend forgets its model with the first literal that is added; a copy lets callers read
  // values while they add clauses.
  std::vector<bool> model;
  bool has_model = false;
  bool has_core = false;
  bool out_of_memory = false;  // the backend threw: its inner state is not to be trusted any more

  // Variables in no clause are unknown to the backend until it is told of them.
  void declare_vars() {
    if (solver.vars() >= vars) return;
    solver.reserve(vars);
    has_core = false;
  }
};

SatSolver::SatSolver() : backend_(std::make_unique<Backend>()) {
  backend_->solver.set("quiet", 1);
  // The backend first tries constant assignments, which would ignore the phases it is told.
  backend_->solver.set("lucky", 0);
}
SatSolver::~SatSolver() = default;
SatSolver::SatSolver(SatSolver&&) noexcept = default;
SatSolver& SatSolver::operator=(SatSolver&&) noexcept = default;

Lit SatSolver::new_var() {
  ISO_ASSERT(backend_->vars < std::numeric_limits<std::int32_t>::max() - 1);
  return Lit::positive(backend_->vars++);
}

std::size_t SatSolver::num_vars() const { return static_cast<std::size_t>(backend_->vars); }
std::size_t SatSolver::num_clauses() const { return backend_->clauses; }

void SatSolver::add_clause(std::span<const Lit> clause) {
  Backend& b = *backend_;
  ++b.clauses;
  b.has_core = false;
  if (b.out_of_memory) return;
  try {
    for (const Lit lit : clause) {
      ISO_ASSERT(lit.is_valid() && lit.variable() < b.vars);
      b.solver.add(lit.dimacs());
    }
    b.solver.add(0);
  } catch (const std::bad_alloc&) {
    b.out_of_memory = true;
  }
}

SatResult SatSolver::solve(std::span<const Lit> assumptions, Budget& budget) {
  Backend& b = *backend_;
  b.has_model = false;
  b.has_core = false;
  if (b.out_of_memory || budget.expired_now()) return SatResult::Unknown;
  BudgetTerminator terminator(budget);
  int answer = 0;
  try {
    b.declare_vars();
    for (const Lit lit : assumptions) {
      ISO_ASSERT(lit.is_valid() && lit.variable() < b.vars);
      b.solver.assume(lit.dimacs());
    }
    b.solver.connect_terminator(&terminator);
    answer = b.solver.solve();
    b.solver.disconnect_terminator();
    if (answer == 10) {
      b.model.resize(static_cast<std::size_t>(b.vars));
      for (std::int32_t v = 0; v < b.vars; ++v)
        b.model[static_cast<std::size_t>(v)] = b.solver.val(v + 1) > 0;
    }
  } catch (const std::bad_alloc&) {
    b.out_of_memory = true;
    return SatResult::Unknown;
  }
  b.has_model = answer == 10;
  b.has_core = answer == 20;
  if (b.has_model) return SatResult::Sat;
  return b.has_core ? SatResult::Unsat : SatResult::Unknown;
}

bool SatSolver::value(Lit lit) const {
  ISO_ASSERT(backend_->has_model && lit.is_valid());
  const auto variable = static_cast<std::size_t>(lit.variable());
  ISO_ASSERT(variable < backend_->model.size());
  return backend_->model[variable] != lit.is_negative();
}

bool SatSolver::failed(Lit lit) const {
  ISO_ASSERT(backend_->has_core && lit.is_valid());
  return backend_->solver.failed(lit.dimacs());
}

namespace {

// A file in memory, whose text is taken when it is closed.
class MemoryFile {
 public:
  MemoryFile() : file_(open_memstream(&text_, &size_)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (file_ != nullptr) std::fclose(file_);
    std::free(text_);  // NOLINT: open_memstream hands it over
  }
  std::FILE* file() { return file_; }
  // Nothing if memory ran out on the way.
  std::optional<std::string> close() {
    const bool good = std::ferror(file_) == 0;
    const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
    if (!good || !closed) return std::nullopt;
    return std::string(text_, size_);
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_ = nullptr;
};

}  // namespace

std::optional<std::string> drat_proof(const ClauseLog& log, Budget& budget) {
  MemoryFile trace;
  if (trace.file() == nullptr || budget.expired_now()) return std::nullopt;
  BudgetTerminator terminator(budget);
  int answer = 0;
  try {
    CaDiCaL::Solver solver;
    solver.set("quiet", 1);
    solver.set("binary", 0);  // of the proof
    solver.trace_proof(trace.file(), "certificate");
    for (const ClauseLog::Clause& clause : log.clauses()) {
      for (const Lit lit : clause.literals) solver.add(lit.dimacs());
      solver.add(0);
    }
    solver.connect_terminator(&terminator);
    answer = solver.solve();
    solver.disconnect_terminator();
    solver.close_proof_trace();
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
  return answer == 20 ? trace.close() : std::nullopt;
}

void SatSolver::set_phase(Lit lit) {
  backend_->declare_vars();  // the phase of an undeclared variable is silently dropped
  backend_->solver.phase(lit.dimacs());
}

}  // namespace isoscope
