// isoscope compare A B, isoscope compare --matrix A B C …
#include "synth/compare.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/history_input.h"
#include "cli/pictures.h"
#include "cli/scope_input.h"
#include "report/compare_report.h"
#include "support/output.h"
#include "synth/certificate.h"

namespace isoscope {

namespace {

struct CompareArguments {
  CommonOptions common;
  LevelInput specs;
  ScopeInput scope;
  std::vector<std::string> levels;
  bool matrix = false;
  bool no_proof = false;
  Pictures pictures;
  std::string certificate;
};

std::vector<const Level*> all_of(const LevelSet& levels) {
  std::vector<const Level*> all;
  for (const auto& level : levels.all()) all.push_back(level.get());
  return all;
}

int deliver_answer(const CompareArguments& args, const Result<std::string>& text,
                   const Header& header) {
  if (!text) return fail(text.error());
  return deliver(args.common, *text, exit_code(header.outcome));
}

// The proofs of one answer, one after the other; a chain has two.
std::string certificates(const Level& a, const Level& b, const Implication& answer,
                         StatementShape statements, Budget& budget) {
  if (answer.outcome != ImplicationOutcome::Proved || &a == &b) return {};
  if (answer.via == nullptr) return certify_implies(a, b, budget, statements);
  return certify_implies(a, *answer.via, budget, statements) + "\n(reset)\n" +
         certify_implies(*answer.via, b, budget, statements);
}

Result<void> write_certificates(const CompareArguments& args, std::vector<std::string> parts) {
  if (args.certificate.empty()) return {};
  std::erase(parts, std::string());
  std::string all = parts.empty() ? "; nothing was proved\n" : parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) all += "\n(reset)\n" + parts[i];
  return write_whole(args.certificate, all);
}

int run_matrix(const CompareArguments& args, const std::vector<const Level*>& levels,
               const CompareOptions& options, Budget& budget) {
  auto matrix = compare_all(levels, options, budget);
  if (!matrix) return fail(matrix.error());
  if (auto written = args.pictures.write([&] { return matrix_page(*matrix); }); !written)
    return fail(written.error());
  std::vector<std::string> proofs;
  for (std::size_t i = 0; i < levels.size() && !args.certificate.empty(); ++i) {
    for (std::size_t j = 0; j < levels.size(); ++j) {
      // A chain's halves are among the others.
      const Implication& each = matrix->implies[i][j];
      if (each.via == nullptr)
        proofs.push_back(
            certificates(*levels[i], *levels[j], each, options.scope.statements, budget));
    }
  }
  if (auto written = write_certificates(args, proofs); !written) return fail(written.error());
  return deliver_answer(
      args, args.common.json ? matrix_json(*matrix) : matrix_text(*matrix, args.common.paint()),
      header_of(*matrix));
}

int run_compare(const CompareArguments& args) {
  Budget budget = args.common.start();
  auto known = args.specs.load(budget);
  if (!known) return fail(known.error());
  std::vector<const Level*> levels;
  for (const std::string& name : args.levels) {
    auto level = known->find(name);
    if (!level) return fail(level.error());
    if (std::find(levels.begin(), levels.end(), *level) == levels.end()) levels.push_back(*level);
  }
  auto scope = args.scope.complete(false);
  if (!scope) return fail(scope.error());
  const CompareOptions options{.scope = *scope,
                               .max_txns = args.scope.most_txns,
                               .prove = !args.no_proof,
                               .between = all_of(*known),
                               .progress = progress_line(args.common)};
  if (args.matrix) return run_matrix(args, levels, options, budget);
  if (args.levels.size() != 2)
    return fail({.what = "compare takes two levels", .hint = "for more, use compare --matrix"});
  const Level& second = levels.size() == 2 ? *levels[1] : *levels[0];
  auto answer = compare(*levels[0], second, options, budget);
  if (!answer) return fail(answer.error());
  if (!args.certificate.empty()) {
    const StatementShape shape = options.scope.statements;
    auto written = write_certificates(
        args, {certificates(*levels[0], second, answer->forward, shape, budget),
               certificates(second, *levels[0], answer->backward, shape, budget)});
    if (!written) return fail(written.error());
  }
  const CompareNames names{args.levels[0], args.levels[1]};
  const auto make_page = [&] { return compare_page(names, *levels[0], second, *answer); };
  if (auto written = args.pictures.write(make_page); !written) return fail(written.error());
  return deliver_answer(args,
                        args.common.json ? compare_json(names, *answer)
                                         : compare_text(names, *answer, args.common.paint()),
                        header_of(*answer));
}

}  // namespace

Run add_compare(CLI::App& app) {
  auto args = std::make_shared<CompareArguments>();
  app.add_option("LEVEL", args->levels, "two levels, or with --matrix several")->required();
  app.add_flag("--matrix", args->matrix, "all pairs, and the lattice");
  args->scope.add_to(app, "at most N transactions besides T0");
  app.add_flag("--no-proof", args->no_proof, "search up to the scope only");
  add_output_file(app, "--certificate", args->certificate,
                  "write the proofs as SMT-LIB, for another solver to check");
  args->specs.add_to(app);
  args->pictures.add_to(app, "the lattice, or what separates two levels,");
  add_common(app, args->common);
  app.footer(
      "Examples:\n"
      "  isoscope compare si ser\n"
      "  isoscope compare cc@co cc@vis\n"
      "  isoscope compare --matrix rc ra cc pc psi si ser --dot lattice.dot\n"
      "  isoscope compare si pc --certificate si-pc.smt2\n"
      "  isoscope compare pg-rr pg-rc --statements no-inserts\n"
      "Exit codes: 0 decided: each direction proved or refuted, 2 bad input, 3 unknown, or known\n"
      "only in the scope that was searched.");
  return [args] { return run_compare(*args); };
}

}  // namespace isoscope
