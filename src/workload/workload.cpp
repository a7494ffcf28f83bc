#include "workload/workload.h"

#include <fmt/ranges.h>

#include "program/interpreter.h"
#include "support/spelling.h"
#include "workload/kind.h"

namespace isoscope {

namespace {

std::vector<WorkloadKind> kinds() {
  return {smallbank(), voter(), tpcc(), wikipedia(), courseware(), twitter(), shopping_cart()};
}

Result<WorkloadKind> find_kind(std::string_view name) {
  std::vector<std::string_view> names;
  for (const WorkloadKind& kind : kinds()) {
    if (kind.info.name == name) return kind;
    names.push_back(kind.info.name);
  }
  return Error{.what = fmt::format("unknown workload '{}'", name), .hint = suggest(name, names)};
}

Error out_of_range(std::string_view name, std::int64_t value, std::int64_t least,
                   std::int64_t most) {
  return {.what = fmt::format("--{} {}: from {} to {} are possible", name, value, least, most)};
}

Result<void> check_calls(const WorkloadPlan& plan) {
  if (plan.sessions < 1 || plan.sessions > kMaxWorkloadCalls)
    return out_of_range("sessions", plan.sessions, 1, kMaxWorkloadCalls);
  if (plan.txns < 1 || plan.txns > kMaxWorkloadCalls)
    return out_of_range("txns", plan.txns, 1, kMaxWorkloadCalls);
  if (plan.sessions * plan.txns > kMaxWorkloadCalls)
    return Error{.what = fmt::format("{} sessions of {} transactions are more than {} transactions",
                                     plan.sessions, plan.txns, kMaxWorkloadCalls)};
  return {};
}

// What the plan says, and defaults where it says nothing.
Result<Setting> setting_of(const WorkloadPlan& plan, const WorkloadInfo& info) {
  Setting setting{.access = plan.access.value_or(info.access),
                  .audit = plan.audit,
                  .seed = plan.seed,
                  .sizes = {}};
  if (plan.audit && !info.can_audit)
    return Error{.what = fmt::format("{} has no audit", info.name),
                 .hint = "--audit is for smallbank"};
  for (const TableSize& size : info.sizes) setting.sizes.emplace(size.name, size.initially);
  for (const auto& [name, value] : plan.sizes) {
    const TableSize* known = nullptr;
    std::vector<std::string> names;
    for (const TableSize& size : info.sizes) {
      if (size.name == name) known = &size;
      names.push_back(fmt::format("--{}", size.name));
    }
    if (known == nullptr)
      return Error{.what = fmt::format("{} has no --{}", info.name, name),
                   .hint = fmt::format("its sizes are {}", fmt::join(names, ", "))};
    if (value < known->least || value > known->most)
      return out_of_range(name, value, known->least, known->most);
    setting.sizes[name] = value;
  }
  return setting;
}

// The arguments that make the same program again.
std::string command_line(const WorkloadPlan& plan, const WorkloadInfo& info,
                         const Setting& setting) {
  std::string out = fmt::format(
      "isoscope generate program {} --sessions {} --txns {} --seed {} --access {}", info.name,
      plan.sessions, plan.txns, plan.seed, setting.access == RowAccess::Scan ? "scan" : "point");
  for (const TableSize& size : info.sizes)
    out += fmt::format(" --{} {}", size.name, setting.size(size.name));
  if (setting.audit) out += " --audit";
  return out;
}

// A generator of its own for every place, so that no call depends on those before it.
Rng rng_at(std::uint64_t seed, Client client) {
  Rng mixed(seed);
  const auto session = static_cast<std::uint64_t>(client.session);
  const auto number = static_cast<std::uint64_t>(client.number);
  return Rng(mixed.next() ^ (session << 32U) ^ number);
}

}  // namespace

std::vector<WorkloadInfo> workloads() {
  std::vector<WorkloadInfo> out;
  for (const WorkloadKind& kind : kinds()) out.push_back(kind.info);
  return out;
}

Result<std::string> generate_program(const WorkloadPlan& plan) {
  const auto kind = find_kind(plan.workload);
  if (!kind) return kind.error();
  if (auto valid = check_calls(plan); !valid) return valid.error();
  const auto setting = setting_of(plan, kind->info);
  if (!setting) return setting.error();

  ProgramText text;
  text.comment(fmt::format("{}: {}", kind->info.name, kind->info.summary));
  text.comment(command_line(plan, kind->info, *setting));
  if (setting->access == RowAccess::Scan) {
    text.comment(
        "A statement scans its table: table[i] says whether row i is there, table_rest[i, k]");
    text.comment("are cells that no transaction looks at.");
  }
  text.blank();
  kind->write_rows(*setting, text);
  text.blank();
  Statements statements(text, setting->access);
  kind->write_txns(*setting, text, statements);
  if (statements.most_rounds() > kMaxRounds)
    return Error{.what = fmt::format("the tables are too large to scan: a transaction would make "
                                     "{} rounds of loops, {} are possible",
                                     statements.most_rounds(), kMaxRounds),
                 .hint = "--access point reads only the rows that a statement names"};

  std::vector<DrawnCall> calls;
  for (std::int64_t session = 1; session <= plan.sessions; ++session) {
    text.open(fmt::format("session s{}", session));
    for (std::int64_t number = 1; number <= plan.txns; ++number) {
      const Client client{.session = session, .number = number};
      Rng rng = rng_at(plan.seed, client);
      calls.push_back(kind->draw(*setting, rng, client));
      text.line(fmt::format("{}({})", calls.back().txn, fmt::join(calls.back().arguments, ", ")));
    }
    text.close();
  }
  text.blank();
  kind->write_claims(*setting, calls, text);
  return text.text();
}

}  // namespace isoscope
