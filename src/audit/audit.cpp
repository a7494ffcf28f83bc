#include "audit/audit.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/model_notes.h"
#include "audit/server_levels.h"
#include "support/spelling.h"

namespace isoscope::audit {

namespace {

// Why there is no answer.
std::string limit_of(Budget& budget, std::string_view otherwise) {
  return budget.expired_now() ? limit_reached() + " was reached" : std::string(otherwise);
}

std::optional<sql::Note> first_note(const std::vector<sql::Note>& notes, sql::NoteKind kind) {
  const auto found = std::ranges::find(notes, kind, &sql::Note::kind);
  if (found == notes.end()) return std::nullopt;
  return *found;
}

// What the program has or its formulas leave out.
std::optional<sql::Note> first_gap(const sql::Application& app) {
  if (auto gap = first_note(app.notes, sql::NoteKind::Gap)) return gap;
  return first_note(model_notes(app), sql::NoteKind::Gap);
}

std::string place_of(const sql::Note& note) {
  return fmt::format("line {}: {}", note.where.line, note.what);
}

// Why a good answer claims more than the model can know; empty if it does not.
std::string doubt(const Problem& problem, const AuditReport& report) {
  if (const auto gap = first_gap(problem.app))
    return fmt::format(
        "the model leaves something out ({}); within it: {}", place_of(*gap),
        report.outcome == AuditOutcome::None ? "no anomaly up to the bound" : "serializable");
  if (std::string why = unmodelled(problem.app, problem.levels); !why.empty()) return why;
  if (report.outcome != AuditOutcome::None || report.search.is_proof()) return "";
  // Some cycle is not ruled out, though no run shows it.
  if (is_on_server(problem.levels)) return "some cycles are neither ruled out nor shown by a run";
  if (const auto rough = first_note(problem.app.notes, sql::NoteKind::Free))
    return fmt::format(
        "some cycles are neither ruled out nor shown by a run, and the model is "
        "rough ({})",
        place_of(*rough));
  return "";
}

// A good answer stands only if the model is enough for it.
AuditReport held_back(const Problem& problem, AuditReport report) {
  if (report.outcome != AuditOutcome::Serializable && report.outcome != AuditOutcome::None)
    return report;
  if (std::string why = doubt(problem, report); !why.empty()) {
    report.outcome = AuditOutcome::Unknown;
    report.limit = std::move(why);
  }
  return report;
}

}  // namespace

std::string_view name_of(AuditOutcome outcome) {
  switch (outcome) {
    case AuditOutcome::Anomaly: return "anomaly";
    case AuditOutcome::None: return "none";
    case AuditOutcome::Serializable: return "serializable";
    case AuditOutcome::Unknown: return "unknown";
  }
  return "";
}

Outcome outcome_of(AuditOutcome outcome) {
  switch (outcome) {
    case AuditOutcome::Anomaly: return Outcome::Found;
    case AuditOutcome::None:
    case AuditOutcome::Serializable: return Outcome::None;
    case AuditOutcome::Unknown: break;
  }
  return Outcome::Unknown;
}

Result<sql::Application> only(const sql::Application& app, const std::vector<std::string>& names) {
  sql::Application selected = app;
  if (names.empty()) return selected;
  std::vector<std::string_view> known;
  for (const sql::Function& function : app.functions) known.push_back(function.name);
  for (const std::string& name : names) {
    if (app.find_function(name)) continue;
    return Error{.what = fmt::format("there is no function '{}'", name),
                 .hint = suggest(name, known)};
  }
  std::erase_if(selected.functions, [&](const sql::Function& function) {
    return std::ranges::find(names, function.name) == names.end();
  });
  // Who calls what is left out does not matter to an audit.
  selected.sessions.clear();
  return selected;
}

std::string left_out(const Problem& problem) {
  if (const auto gap = first_gap(problem.app)) return place_of(*gap);
  return unmodelled(problem.app, problem.levels);
}

Result<void> check_functions(const Problem& problem) {
  if (!problem.app.functions.empty()) return {};
  return Error{.what = "there is no function to audit",
               .hint = "a transaction is a CREATE FUNCTION … LANGUAGE plpgsql or sql"};
}

Result<void> check_problem(const Problem& problem) {
  if (auto has_some = check_functions(problem); !has_some) return has_some;
  for (const sql::Function& function : problem.app.functions) {
    if (auto why = refusal(problem.app, function, is_on_server(problem.levels))) return *why;
  }
  return check_levels(problem.levels);
}

AuditReport audit(const Problem& problem, const AuditOptions& options, Budget& budget) {
  AuditReport report;
  OpenWorld open(problem, budget);
  report.counters = open.counters().describe();
  if (options.prove) {
    ProofOptions proof_options{.progress = options.progress};
    if (options.path) {
      proof_options.max_path = *options.path;
      proof_options.fixed_path = true;
    }
    report.proof = prove_serializable(problem, open, proof_options, budget);
    if (report.proof->holds) {
      report.outcome = AuditOutcome::Serializable;
      report.effort = open.effort();
      return held_back(problem, std::move(report));
    }
  }
  const SearchOptions search{
      .max_length = options.max_length, .all = options.all, .progress = options.progress};
  report.search = search_anomalies(problem, open, search, budget);
  report.effort = report.search.effort;
  const std::string undecided = report.search.why_undecided.empty()
                                    ? "the solver gave up on some cycles"
                                    : report.search.why_undecided;
  const bool is_open = !report.search.is_complete();
  if (!report.search.anomalies.empty()) {
    report.outcome = AuditOutcome::Anomaly;
    if (options.all && is_open) report.limit = limit_of(budget, undecided);
  } else if (is_open) {
    report.outcome = AuditOutcome::Unknown;
    report.limit = limit_of(budget, undecided);
  } else if (options.prove) {
    report.outcome = AuditOutcome::Unknown;
    report.limit = limit_of(budget, "there is neither a proof nor an anomaly up to the bound");
  } else {
    report.outcome = AuditOutcome::None;
  }
  return held_back(problem, std::move(report));
}

}  // namespace isoscope::audit
