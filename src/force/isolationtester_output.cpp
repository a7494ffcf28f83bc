// What isolationtester prints, byte for byte, so that its expected outputs can be written and read.
#include <fmt/format.h>

#include <algorithm>

#include "force/experiment.h"

namespace isoscope::force {
namespace {

// libpq's PQprint() takes a column for one of numbers by the characters in it.
bool looks_numeric(const std::string& value) {
  const auto is_part = [](char c) {
    return (c >= '0' && c <= '9') || c == '.' || c == 'E' || c == 'e' || c == ' ' || c == '-';
  };
  return value.front() != 'E' && value.front() != 'e' && std::ranges::all_of(value, is_part) &&
         value.back() >= '0' && value.back() <= '9';
}

// Characters as PQprint() counts them: bytes.
std::string padded(const std::string& text, std::size_t width, bool to_the_right) {
  const std::string blanks(width - text.size(), ' ');
  return to_the_right ? blanks + text : text + blanks;
}

std::string printed(const Table& table) {
  const std::size_t columns = table.columns.size();
  std::vector<std::size_t> width(columns);
  std::vector<bool> is_numeric(columns, true);
  for (std::size_t j = 0; j < columns; ++j) {
    width[j] = table.columns[j].size();
    for (const Row& row : table.rows) {
      if (!row[j] || row[j]->empty()) continue;
      width[j] = std::max(width[j], row[j]->size());
      if (!looks_numeric(*row[j])) is_numeric[j] = false;
    }
  }
  std::string out;
  const auto line = [&](const auto& cell, char sign) {
    for (std::size_t j = 0; j < columns; ++j) {
      if (j > 0) out += sign;
      out += cell(j);
    }
    out += '\n';
  };
  line([&](std::size_t j) { return padded(table.columns[j], width[j], is_numeric[j]); }, '|');
  line([&](std::size_t j) { return std::string(width[j], '-'); }, '+');
  for (const Row& row : table.rows)
    line([&](std::size_t j) { return padded(row[j].value_or(""), width[j], is_numeric[j]); }, '|');
  return out + fmt::format("({} row{})\n\n", table.rows.size(), table.rows.size() == 1 ? "" : "s");
}

std::string printed(const Answer& answer) {
  std::string out;
  for (const Table& table : answer.tables) out += printed(table);
  if (answer.has_failed()) out += fmt::format("{}:  {}\n", answer.severity, answer.message);
  return out;
}

}  // namespace

std::string isolationtester_output(const Spec& spec, const Permutation& permutation,
                                   const Run& run) {
  std::string out = "\nstarting permutation:";
  for (const PermutationStep& p : permutation)
    out += ' ' + spec.sessions[p.session].steps[p.step].name;
  out += '\n';
  for (const Answer& setup : run.setups) out += printed(setup);
  ById<ActorId, bool> is_waiting(spec.sessions.size());
  for (const Moment& moment : run.played.moments) {
    if (moment.statement == kSetup && moment.kind == Moment::Kind::Answered)
      out += printed(run.answers[moment.actor][kSetup]);
    const SpecStep* sent = step_of(spec.sessions[moment.actor], moment.statement);
    if (sent == nullptr) continue;
    const SpecStep& step = *sent;
    switch (moment.kind) {
      case Moment::Kind::Parked:
        is_waiting[moment.actor] = true;
        out += fmt::format("step {}: {} <waiting ...>\n", step.name, step.sql);
        break;
      case Moment::Kind::Answered:
        out += is_waiting[moment.actor] ? fmt::format("step {}: <... completed>\n", step.name)
                                        : fmt::format("step {}: {}\n", step.name, step.sql);
        is_waiting[moment.actor] = false;
        out += printed(run.answers[moment.actor][moment.statement]);
        break;
      case Moment::Kind::Sent:
      case Moment::Kind::Forfeited: break;
    }
  }
  return out;
}

}  // namespace isoscope::force
