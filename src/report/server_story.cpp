#include "report/server_story.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/recording.h"
#include "support/printable.h"

namespace isoscope {
namespace {

using sql::server::Choice;
using sql::server::StepDone;
using sql::server::TxnNo;

constexpr std::size_t kMostStatementText = 100;

std::string values_list(const std::vector<sql::Value>& values) {
  std::string list = "(";
  for (const sql::Value& value : values) list += (list.size() > 1 ? ", " : "") + print(value);
  return list + ")";
}

std::string result_text(const sql::server::StatementResult& result) {
  const sql::Statement& statement = *result.statement;
  if (statement.is<sql::Block>())  // of a `.txn` program
    return result.rows.front().empty() ? "done" : values_list(result.rows.front());
  if (!statement.is_query() || (!result.rows.empty() && result.rows.front().empty()))
    return fmt::format("{} row{}", result.num_rows, result.num_rows == 1 ? "" : "s");
  if (result.rows.empty()) return "no row";
  std::string text;
  for (const auto& row : result.rows) text += (text.empty() ? "" : " ") + values_list(row);
  return text;
}

std::string clipped(std::string text) {
  if (text.size() > kMostStatementText) text = text.substr(0, kMostStatementText) + "…";
  return printable(text);
}

}  // namespace

std::vector<sql::TableId> changing_tables(const ServerProgram& on) {
  std::vector<sql::TableId> tables;
  for (std::uint32_t t = 0; t < on.machine.app().tables.size(); ++t) {
    if (on.machine.calls().may_change(sql::TableId{t})) tables.push_back(sql::TableId{t});
  }
  return tables;
}

std::string call_text(const ServerProgram& on, CallId call) {
  return printable(store::name_of(on.machine.executable(), call));
}

std::vector<StoryStep> story_of(const ServerProgram& on, const std::vector<Choice>& schedule,
                                std::size_t num_steps,
                                const std::function<void(const sql::server::State&)>& after) {
  std::vector<StoryStep> story;
  sql::server::State state = on.machine.start();
  for (std::size_t i = 0; i < std::min(num_steps, schedule.size()); ++i) {
    const auto& session = state.sessions[schedule[i].session];
    const CallId call = session.call;
    const bool goes_on = session.running.has_value();
    const StepDone done = on.machine.take(state, schedule[i]);
    StoryStep step{.call = call};
    if (done.statement != nullptr) {
      step.line = done.statement->place.line;
      step.statement = done.statement->text;
    }
    const auto& txn = state.txns[sql::server::txn_of(call)];
    switch (done.kind) {
      case StepDone::Kind::Answered:
        step.kind = goes_on ? PlayedStep::Kind::GoesOn : PlayedStep::Kind::Statement;
        step.result = result_text(*txn.log.back());
        break;
      case StepDone::Kind::Waits: {
        step.kind = PlayedStep::Kind::Waits;
        for (const TxnNo blocker : state.sessions[schedule[i].session].blockers)
          step.result +=
              (step.result.empty() ? "for " : ", ") + call_text(on, sql::server::call_of(blocker));
        break;
      }
      case StepDone::Kind::Committed: step.kind = PlayedStep::Kind::Commit; break;
      case StepDone::Kind::Aborted:
      case StepDone::Kind::Limit:
        step.kind = PlayedStep::Kind::Abort;
        step.result =
            txn.failure.sqlstate + (txn.failure.sqlstate.empty() ? "" : " ") + txn.failure.message;
        break;
    }
    story.push_back(std::move(step));
    if (after) after(state);
  }
  return story;
}

std::string story_text(const ServerProgram& on, const std::vector<StoryStep>& story,
                       const Paint& paint) {
  std::string out;
  std::size_t width = 0;
  for (const StoryStep& step : story) width = std::max(width, call_text(on, step.call).size());
  for (const StoryStep& step : story) {
    out += fmt::format("  {:<{}}  ", call_text(on, step.call), width);
    if (step.line != 0) out += fmt::format("{:>4}  {}  ", step.line, clipped(step.statement));
    switch (step.kind) {
      case PlayedStep::Kind::Waits:
      case PlayedStep::Kind::Abort:
        out += paint.unsure(name_of(step.kind)) +
               (step.result.empty() ? "" : " " + printable(step.result));
        break;
      case PlayedStep::Kind::Commit: out += fmt::format("      {}", name_of(step.kind)); break;
      case PlayedStep::Kind::Statement:
      case PlayedStep::Kind::GoesOn: out += paint.faint("→ ") + printable(step.result); break;
    }
    out += '\n';
  }
  return out;
}

Json story_json(const ServerProgram& on, const std::vector<StoryStep>& story) {
  Json steps = Json::array();
  for (const StoryStep& step : story) {
    Json one{{"txn", store::name_of(on.machine.executable(), step.call)}};
    if (step.line != 0) {
      one["line"] = step.line;
      one["statement"] = step.statement;
    }
    one["step"] = name_of(step.kind);
    if (!step.result.empty()) one["result"] = step.result;
    steps.push_back(std::move(one));
  }
  return steps;
}

std::string row_text(const ServerProgram& on, const sql::server::ShownRow& row) {
  const sql::Table& table = on.machine.app().table(row.table);
  if (on.machine.is_by_key())
    return printable(fmt::format("{} = {}", std::get<std::string>(row.values.front().data),
                                 print(row.values.back())));
  std::string text = table.name + "(";
  std::size_t i = 0;
  for (const sql::Column& column : table.columns) {
    if (column.is_hidden) continue;
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", column.name, print(row.values[i]));
    ++i;
  }
  return printable(text + ")");
}

Json value_json(const sql::Value& value) {
  if (value.is_null()) return nullptr;
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) return *number;
  if (const auto* truth = std::get_if<bool>(&value.data)) return *truth;
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  if (std::holds_alternative<sql::Decimal>(value.data)) return print(value);
  Json list = Json::array();
  for (const sql::Value& element : std::get<std::vector<sql::Value>>(value.data))
    list.push_back(value_json(element));
  return list;
}

Json row_json(const ServerProgram& on, sql::TableId id, const std::vector<sql::Value>& values) {
  const sql::Table& table = on.machine.app().table(id);
  if (on.machine.is_by_key())
    return {{"key", value_json(values.front())}, {"value", value_json(values.back())}};
  Json row{{"table", table.name}};
  std::size_t i = 0;
  Json columns = Json::object();
  for (const sql::Column& column : table.columns) {
    if (!column.is_hidden) columns[column.name] = value_json(values[i++]);
  }
  row["values"] = std::move(columns);
  return row;
}

std::string broken_text(const ServerProgram& on, const sql::server::BrokenClaim& broken,
                        const Paint& paint) {
  const sql::RowAssertion& claim = on.claims[broken.claim];
  std::string out =
      fmt::format("{}: {} {}  {}\n", paint.bad("fails"),
                  claim.is_invariant ? "invariant" : "assert", printable(claim.text),
                  paint.faint(fmt::format("{}:{}", printable(on.source), claim.place.line)));
  if (!broken.answer.error.empty()) out += fmt::format("  {}\n", printable(broken.answer.error));
  for (const auto& row : broken.answer.rows) out += fmt::format("  {}\n", row_text(on, row));
  return out;
}

Json broken_json(const ServerProgram& on, const sql::server::BrokenClaim& broken) {
  const sql::RowAssertion& claim = on.claims[broken.claim];
  Json rows = Json::array();
  for (const auto& row : broken.answer.rows) rows.push_back(row_json(on, row.table, row.values));
  Json json{{"assertion", claim.text},
            {"line", claim.place.line},
            {"invariant", claim.is_invariant},
            {"rows", std::move(rows)}};
  if (!broken.answer.error.empty()) json["error"] = broken.answer.error;
  return json;
}

std::string gaps_text(std::string_view source, const std::vector<sql::Note>& gaps,
                      const Paint& paint) {
  std::string out;
  for (const sql::Note& gap : gaps) {
    out += fmt::format("{}: {}:{}: {}\n", paint.unsure("not modelled"), printable(source),
                       gap.where.line, printable(gap.what));
  }
  return out;
}

Json gaps_json(const std::vector<sql::Note>& gaps) {
  Json all = Json::array();
  for (const sql::Note& gap : gaps)
    all.push_back({{"line", gap.where.line}, {"function", gap.function}, {"what", gap.what}});
  return all;
}

}  // namespace isoscope
