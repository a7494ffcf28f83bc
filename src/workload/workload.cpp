#include "workload/workload.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "program/interpreter.h"
#include "support/assert.h"
#include "support/spelling.h"
#include "workload/claims.h"
#include "workload/embedded_workloads.h"
#include "workload/program_text.h"
#include "workload/statements.h"
#include "workload/workload_file.h"

namespace isoscope {

namespace {

// Those of workloads/, read once.
const std::vector<WorkloadFile>& files() {
  static const std::vector<WorkloadFile> all = [] {
    std::vector<WorkloadFile> read;
    for (const EmbeddedFile& file : embedded_workload_files()) {
      auto parsed = parse_workload(file.text);
      ISO_ASSERT(parsed.ok());
      parsed->info.sizes = parsed->sizes;
      read.push_back(std::move(*parsed));
    }
    return read;
  }();
  return all;
}

Result<const WorkloadFile*> find_file(std::string_view name) {
  std::vector<std::string_view> names;
  for (const WorkloadFile& file : files()) {
    if (file.info.name == name) return &file;
    names.push_back(file.info.name);
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

// The sizes of one program, resolved.
struct Setting {
  RowAccess access = RowAccess::Point;
  bool audit = false;
  std::uint64_t seed = 1;
  WorkloadSizes sizes = {};

  // What scripts are given, in the order of workload_file.h.
  std::vector<std::int64_t> given(const WorkloadFile& file) const {
    std::vector<std::int64_t> out;
    for (const TableSize& size : file.sizes) out.push_back(sizes.find(size.name)->second);
    out.insert(out.end(), {access == RowAccess::Scan ? 1 : 0, audit ? 1 : 0});
    return out;
  }
};

// What the plan says, and defaults where it says nothing.
Result<Setting> setting_of(const WorkloadPlan& plan, const WorkloadFile& file) {
  Setting setting{.access = plan.access.value_or(file.info.access),
                  .audit = plan.audit,
                  .seed = plan.seed,
                  .sizes = {}};
  if (plan.audit && !file.info.can_audit)
    return Error{.what = fmt::format("{} has no audit", file.info.name),
                 .hint = "--audit is for smallbank"};
  for (const TableSize& size : file.sizes) setting.sizes.emplace(size.name, size.initially);
  for (const auto& [name, value] : plan.sizes) {
    const TableSize* known = nullptr;
    std::vector<std::string> names;
    for (const TableSize& size : file.sizes) {
      if (size.name == name) known = &size;
      names.push_back(fmt::format("--{}", size.name));
    }
    if (known == nullptr)
      return Error{.what = fmt::format("{} has no --{}", file.info.name, name),
                   .hint = fmt::format("its sizes are {}", fmt::join(names, ", "))};
    if (value < known->least || value > known->most)
      return out_of_range(name, value, known->least, known->most);
    setting.sizes[name] = value;
  }
  return setting;
}

// The arguments that make the same program again.
std::string command_line(const WorkloadPlan& plan, const WorkloadFile& file,
                         const Setting& setting) {
  std::string out = fmt::format(
      "isoscope generate program {} --sessions {} --txns {} --seed {} --access {}", file.info.name,
      plan.sessions, plan.txns, plan.seed, setting.access == RowAccess::Scan ? "scan" : "point");
  for (const TableSize& size : file.sizes)
    out += fmt::format(" --{} {}", size.name, setting.sizes.find(size.name)->second);
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

// Puts a program together: rows, transactions, sessions, claims.
class Generator {
 public:
  Generator(const WorkloadFile& file, const WorkloadCode& code, const Setting& setting,
            ProgramText& text)
      : file_(file),
        code_(code),
        setting_(setting),
        text_(text),
        statements_(text, setting.access, file.tables, setting.sizes) {}

  Result<void> write(std::int64_t sessions, std::int64_t txns) {
    if (auto written = write_rows(); !written) return written;
    text_.blank();
    if (auto written = write_txns(); !written) return written;
    if (auto written = write_sessions(sessions, txns); !written) return written;
    text_.blank();
    return write_claims(sessions);
  }

 private:
  Result<void> write_rows() {
    for (const SourceLine& line : file_.rows) {
      if (!line.text.starts_with('#')) break;
      text_.line(line.text);
    }
    Rng rng(setting_.seed);  // the same whatever the number of calls
    const ScriptHost host = {
        .read = [&](const ScriptKey& key, const ScriptLocals&) { return draw(key, rng); },
        .write = [&](const ScriptKey& key, std::int64_t value,
                     const ScriptLocals&) -> Result<void> {
          const std::string name = key.name();
          text_.line(fmt::format("init {} = {}", name, value));
          initial_[name] = value;
          return {};
        }};
    return code_.rows.run(setting_.given(file_), host);
  }

  Result<void> write_txns() {
    const TemplateHost host = {
        .emit = [&](std::string_view line,
                    const ScriptLocals& locals) { return write_txn_line(line, locals); },
        .count = [](std::string_view, const ScriptLocals&) -> Result<std::int64_t> {
          return Error{.what = "calls are counted in claims only"};
        },
        .read = [](const ScriptKey& key) -> Result<std::int64_t> {
          return Error{.what = fmt::format("{} has no value here", key.name())};
        }};
    if (auto done = code_.transactions.run(setting_.given(file_), host); !done) return done;
    if (statements_.most_rounds() <= kMaxRounds) return {};
    return Error{.what = fmt::format("the tables are too large to scan: a transaction would make "
                                     "{} rounds of loops, {} are possible",
                                     statements_.most_rounds(), kMaxRounds),
                 .hint = "--access point reads only the rows that a statement names"};
  }

  Result<void> write_sessions(std::int64_t sessions, std::int64_t txns) {
    for (std::int64_t session = 1; session <= sessions; ++session) {
      text_.open(fmt::format("session s{}", session));
      for (std::int64_t number = 1; number <= txns; ++number) {
        if (auto drawn = draw_call({.session = session, .number = number}); !drawn) return drawn;
      }
      text_.close();
    }
    return {};
  }

  // What claims read are initial values.
  Result<void> write_claims(std::int64_t sessions) {
    const ClaimWriter writer(calls_, heads_);
    const TemplateHost host = {
        .emit = [&](std::string_view line,
                    const ScriptLocals& locals) { return write_claim_line(line, writer, locals); },
        .count = [&](std::string_view calls,
                     const ScriptLocals& locals) { return writer.count(calls, text_of(locals)); },
        .read = [&](const ScriptKey& key) -> Result<std::int64_t> {
          const auto known = initial_.find(key.name());
          return known == initial_.end() ? 0 : known->second;
        }};
    std::vector<std::int64_t> given = setting_.given(file_);
    given.push_back(sessions);
    return code_.claims.run(given, host);
  }

  void begin_txn(std::string_view head) {
    statements_.begin_txn();
    const std::size_t open = head.find('(');
    std::vector<std::string>& parameters = heads_[std::string(head.substr(4, open - 4))];
    for (const std::string_view parameter :
         split_outside(head.substr(open + 1, head.find(')') - open - 1), ","))
      parameters.emplace_back(parameter);
  }

  // By the weights; a single transaction needs no choice.
  std::size_t pick(Rng& rng) const {
    if (file_.mix.size() == 1) return 0;
    std::int64_t total = 0;
    for (const MixedTxn& txn : file_.mix) total += txn.weight;
    std::int64_t left = draw_between(rng, 1, total);
    std::size_t at = 0;
    while ((left -= file_.mix[at].weight) > 0) ++at;
    return at;
  }

  // The arguments are the locals with the names of the parameters.
  Result<void> draw_call(Client client) {
    Rng rng = rng_at(setting_.seed, client);
    const std::size_t picked = pick(rng);
    DrawnCall call{.txn = file_.mix[picked].name, .arguments = {}, .client = client};
    const auto head = heads_.find(call.txn);
    if (head == heads_.end())
      return Error{.what = fmt::format("there is no transaction '{}'", call.txn)};
    std::vector<std::int64_t> given = setting_.given(file_);
    given.insert(given.end(), {client.session, client.number});
    for (std::size_t i = 0; i < file_.mix.size(); ++i) given.push_back(i == picked ? 1 : 0);
    for (const std::string& parameter : head->second) {
      if (!code_.calls.has_local(parameter))
        return Error{.what = fmt::format("calls give no '{}' to {}", parameter, call.txn)};
    }
    const ScriptHost host = {
        .read = [&](const ScriptKey& key, const ScriptLocals&) { return draw(key, rng); },
        .write = [](const ScriptKey& key, std::int64_t, const ScriptLocals&) -> Result<void> {
          return Error{.what = fmt::format("{} cannot be written here", key.name())};
        },
        .end =
            [&](const ScriptLocals& locals) {
              for (const std::string& parameter : head->second)
                call.arguments.push_back(*locals.find(parameter));
            }};
    if (auto drawn = code_.calls.run(given, host); !drawn) return drawn;
    text_.line(fmt::format("{}({})", call.txn, fmt::join(call.arguments, ", ")));
    calls_.push_back(std::move(call));
    return {};
  }

  Result<void> write_txn_line(std::string_view source, const ScriptLocals& locals) {
    const auto line = substitute_all(source, text_of(locals));
    if (!line) return line.error();
    if (Statements::is_statement(*line))
      return statements_.write(*line, std::max<std::int64_t>(1, locals.find("times").value_or(1)));
    if (line->starts_with("txn ")) begin_txn(*line);
    text_.line(*line);
    if (*line == "}" && text_.is_outside()) text_.blank();
    return {};
  }

  // A claim that is left out takes the comment above it along.
  Result<void> write_claim_line(std::string_view source, const ClaimWriter& writer,
                                const ScriptLocals& locals) {
    constexpr std::string_view kAssert = "assert ";
    const std::size_t end = source.find('\n');
    const std::string_view last = end == source.npos ? source : source.substr(end + 1);
    const auto first = substitute_all(source.substr(0, end), text_of(locals));
    std::optional<Claim> claim;
    if (last.starts_with(kAssert)) {
      auto written = writer.write(last.substr(kAssert.size()), text_of(locals));
      if (!written) return written.error();
      if (!*written) return {};
      claim = std::move(*written);
    }
    if (!claim || end != source.npos) {
      if (!first) return first.error();
      text_.line(*first);
    }
    if (claim) text_.claim(claim->left, claim->sign, claim->right);
    return {};
  }

  const WorkloadFile& file_;
  const WorkloadCode& code_;
  const Setting& setting_;
  ProgramText& text_;
  Statements statements_;
  std::map<std::string, std::int64_t> initial_;  // values of keys, by name
  TxnHeads heads_;
  std::vector<DrawnCall> calls_;
};

}  // namespace

std::vector<WorkloadInfo> workloads() {
  std::vector<WorkloadInfo> out;
  for (const WorkloadFile& file : files()) out.push_back(file.info);
  return out;
}

Result<std::string> generate_program(const WorkloadPlan& plan) {
  const auto file = find_file(plan.workload);
  if (!file) return file.error();
  return generate_program(**file, plan);
}

Result<std::string> generate_program(const WorkloadFile& file, const WorkloadPlan& plan) {
  if (auto valid = check_calls(plan); !valid) return valid.error();
  const auto setting = setting_of(plan, file);
  if (!setting) return setting.error();
  const auto code = compile_workload(file);
  if (!code) return code.error();

  ProgramText text;
  text.line(fmt::format("# {}: {}", file.info.name, file.info.summary));
  text.line(fmt::format("# {}", command_line(plan, file, *setting)));
  if (setting->access == RowAccess::Scan) {
    text.line(
        "# A statement scans its table: table[i] says whether row i is there, table_rest[i, k]");
    text.line("# are cells that no transaction looks at.");
  }
  text.blank();
  auto written = Generator(file, *code, *setting, text).write(plan.sessions, plan.txns);
  if (!written) return written.error();
  return text.text();
}

}  // namespace isoscope
