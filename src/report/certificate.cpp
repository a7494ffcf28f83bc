#include "report/certificate.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/formats.h"
#include "history/restrict.h"
#include "report/explain.h"
#include "report/shown.h"
#include "report/synth_report.h"
#include "spec/print.h"
#include "verdict/involved.h"

namespace isoscope {

namespace {

std::string words_of_literal(const ClauseLog& log, Lit lit) {
  const auto named = log.names().find(lit.variable());
  const std::string words = named == log.names().end() ? fmt::format("{}", lit.variable() + 1)
                                                       : fmt::format("({})", named->second);
  return lit.is_negative() ? "not " + words : words;
}

// What each variable means, as comments of DIMACS.
std::string variable_table(const ClauseLog& log) {
  std::map<std::int32_t, const ClauseLog::Gate*> gates;
  for (const ClauseLog::Gate& gate : log.gates()) gates.emplace(gate.output.variable(), &gate);
  std::string text = "c Variables:\n";
  for (std::int32_t v = 0; v < static_cast<std::int32_t>(log.num_vars()); ++v) {
    if (const auto named = log.names().find(v); named != log.names().end()) {
      text += fmt::format("c {}: {}\n", v + 1, named->second);
      continue;
    }
    const auto gate = gates.find(v);
    if (gate == gates.end()) {
      text += fmt::format("c {}: stands in no clause\n", v + 1);
      continue;
    }
    text += fmt::format("c {} = and", v + 1);
    for (const Lit lit : gate->second->inputs) text += fmt::format(" {}", lit.dimacs());
    text += '\n';
  }
  return text;
}

std::string reason_lines(const ClauseLog& log) {
  std::string text = "# Clauses of the question\n";
  std::uint32_t round = 0;
  for (std::size_t i = 0; i < log.clauses().size(); ++i) {
    const ClauseLog::Clause& clause = log.clauses()[i];
    if (clause.round != round) {
      round = clause.round;
      text += fmt::format("# Clauses added on the way, after model {}\n", round);
    }
    text += fmt::format("{} {}", i + 1, log.reason(clause));
    if (clause.reason != ClauseLog::kDefinition) {
      text += "  |";
      for (std::size_t k = 0; k < clause.literals.size(); ++k)
        text += (k == 0 ? " " : " or ") + words_of_literal(log, clause.literals[k]);
    }
    text += '\n';
  }
  return text;
}

// Names are the users', and a session may be called anything.
bool has_section_mark(const std::string& text) {
  return text.starts_with("%%") || text.find("\n%%") != std::string::npos;
}

void add_edges(const History& h, const std::vector<Edge>& edges, std::size_t depth,
               std::string& text) {
  for (const Edge& e : edges) {
    const std::string key = e.key.is_none() ? "" : " " + shown(h, e.key);
    text += fmt::format("{}{} -{}{}-> {}  because {}\n", std::string(2 * depth, ' '),
                        shown(h, e.from), name_of(e.kind), key, shown(h, e.to), why(h, e));
    add_edges(h, e.path, depth + 1, text);
  }
}

}  // namespace

std::string_view name_of(CertificateKind kind) {
  switch (kind) {
    case CertificateKind::Sat: return "sat";
    case CertificateKind::Cycle: return "cycle";
    case CertificateKind::Read: return "read";
    case CertificateKind::None: return "none";
  }
  return "";
}

std::string certificate_line(const CertificateNote& note) {
  switch (note.kind) {
    case CertificateKind::Sat:
      return fmt::format(
          "certificate: {} variables, {} clauses ({} added on the way), {} lines of DRAT, in {}",
          note.variables, note.clauses, note.added, note.proof_lines, note.file);
    case CertificateKind::Cycle:
      return fmt::format("certificate: the cycle with its edges, in {}", note.file);
    case CertificateKind::Read:
      return fmt::format("certificate: the read that no level excuses, in {}", note.file);
    case CertificateKind::None: return fmt::format("certificate: none, {}", note.why);
  }
  return "";
}

Json certificate_json(const CertificateNote& note) {
  Json json = {{"kind", name_of(note.kind)}};
  json["file"] = note.file.empty() ? Json(nullptr) : Json(note.file);
  if (note.kind == CertificateKind::None) json["why"] = note.why;
  if (note.kind == CertificateKind::Sat) {
    json["variables"] = note.variables;
    json["clauses"] = note.clauses;
    json["added"] = note.added;
    json["proof_lines"] = note.proof_lines;
  }
  return json;
}

void CertificateFile::open_section(const std::string& name) {
  body_ += fmt::format("%% {} {}\n", name, answers_);
}

void CertificateFile::add_level_texts(const std::vector<std::string>& texts) {
  open_section("level");
  for (const std::string& text : texts) body_ += text + (text.ends_with('\n') ? "" : "\n");
}

void CertificateFile::add_proof(const ClauseLog& log, const std::string& proof,
                                CertificateNote& note) {
  open_section("cnf");
  body_ += variable_table(log) + dimacs(log);
  open_section("reasons");
  body_ += reason_lines(log);
  open_section("proof");
  body_ += proof;
  note.kind = CertificateKind::Sat;
  note.variables += log.num_vars();
  note.clauses += log.clauses().size();
  note.added += static_cast<std::size_t>(
      std::count_if(log.clauses().begin(), log.clauses().end(),
                    [](const ClauseLog::Clause& clause) { return clause.round > 0; }));
  note.proof_lines += static_cast<std::size_t>(std::count(proof.begin(), proof.end(), '\n'));
}

void CertificateFile::add_cycle(const History& h, const Violation& violation) {
  auto txns = involved_txns(h, violation);
  std::sort(txns.begin(), txns.end());
  std::erase(txns, kInitialTxn);
  std::string text;
  const History part = restrict_to(h, txns);
  const auto written =
      write_history(part, Format::Hist, [&](std::string_view piece) { text += piece; });
  if (written && !has_section_mark(text))
    body_ += fmt::format("%% history {} hist\n{}", answers_, text);
  open_section("cycle");
  std::string edges;
  add_edges(h, violation.cycle, 0, edges);
  body_ += edges;
}

CertificateNote CertificateFile::add_none(std::string_view command, std::string why) {
  ++answers_;
  open_section("answer");
  body_ += fmt::format("command: {}\nkind: none\nwhy: {}\n", command, why);
  return {.kind = CertificateKind::None, .why = std::move(why), .file = path_};
}

CertificateNote CertificateFile::add_check(const History& h, const Assignment& levels,
                                           const std::string& level, const Verdict& verdict,
                                           Budget& budget) {
  if (verdict.outcome != Outcome::Violated)
    return add_none(
        "check",
        verdict.outcome == Outcome::Consistent
            ? "the order that was found shows that the history is consistent (--json has it)"
            : "there is no answer to certify");
  const Violation& violation = *verdict.violation;
  const bool by_search = violation.cycle.empty() && !violation.fault;
  SatCertificate found;
  if (by_search) found = certify_violation(h, levels, violation, budget);
  if (by_search && !found.refutation)
    return add_none("check", fmt::format("because of {}", found.limit));
  if (by_search && has_section_mark(found.refutation->history))
    return add_none("check",
                    "because a line of the history would begin like a section of the certificate");
  CertificateNote note;
  note.file = path_;
  note.kind = violation.fault           ? CertificateKind::Read
              : violation.cycle.empty() ? CertificateKind::Sat
                                        : CertificateKind::Cycle;
  ++answers_;
  open_section("answer");
  body_ += fmt::format("command: check\nlevel: {}\nverdict: violated\nkind: {}\n", level,
                       name_of(note.kind));
  if (!by_search) {
    body_ += fmt::format("claim: {}\n", explanation(h, violation));
    add_level_texts({print(*levels.base)});
    if (!violation.fault) add_cycle(h, violation);
    return note;
  }
  const SatRefutation& refutation = *found.refutation;
  body_ += fmt::format("claim: no execution of these {} transactions satisfies {}{}\n",
                       refutation.num_txns, level,
                       refutation.is_part ? ", so none of the whole history does" : "");
  add_level_texts(refutation.levels);
  body_ += fmt::format("%% history {} {}\n{}", answers_, refutation.format, refutation.history);
  add_proof(refutation.log, refutation.proof, note);
  return note;
}

CertificateNote CertificateFile::add_synth(const SynthQuery& query, const SynthAnswer& answer) {
  if (answer.outcome != SynthOutcome::None || !answer.uncertified.empty())
    return add_none("synth", answer.outcome == SynthOutcome::Found
                                 ? "the history that was found shows it, and was checked anew"
                             : answer.outcome == SynthOutcome::Unknown
                                 ? "there is no answer to certify"
                                 : fmt::format("because of a limit: {}", answer.uncertified));
  CertificateNote note;
  note.file = path_;
  for (const ScopeRefutation& refutation : answer.refutations) {
    ++answers_;
    open_section("answer");
    body_ += "command: synth\nverdict: none\nkind: sat\n";
    std::vector<std::string> texts;
    for (const Level* level : query.allow) {
      body_ += fmt::format("allow: {}\n", level->full_name());
      texts.push_back(print(*level));
    }
    for (const Level* level : query.forbid) {
      body_ += fmt::format("forbid: {}\n", level->full_name());
      texts.push_back(print(*level));
    }
    body_ += fmt::format("scope: {}\nclaim: no history of this scope is allowed and forbidden so\n",
                         describe_searched(refutation.scope, false));
    std::sort(texts.begin(), texts.end());
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    add_level_texts(texts);
    add_proof(refutation.log, refutation.proof, note);
  }
  return note;
}

std::string CertificateFile::text() const {
  return "isoscope certificate 1\n" + body_ + "%% end\n";
}

}  // namespace isoscope
