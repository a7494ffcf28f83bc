// Voter, as OLTP-Bench [DifallahPavloCurino-VLDB'13] runs it: callers vote for contestants, each up
// to a limit.
//
// [GengBlanasBondWang-PLDI'24], Table 3, has one writing transaction in every run: one caller, one
// vote. That is the default here too.
//
// Claims. No caller has more accepted votes than the limit, and a contestant's total is the
// number of votes accepted for it.
#include "workload/kind.h"

namespace isoscope {

namespace voter_parts {
namespace {

constexpr TableSize kSizes[] = {
    {.name = "callers", .help = "telephone numbers that vote", .initially = 1},
    {.name = "limit", .help = "votes a caller has", .initially = 1},
    {.name = "contestants", .help = "contestants", .initially = 4},
    {.name = "areas", .help = "area codes", .initially = 202},
};

Table contestant(const Setting& setting) {
  return {.name = "contestant",
          .dimensions = {{.name = "c", .size = setting.size("contestants")}},
          .columns = {},
          .rest = 2};
}
Table area(const Setting& setting) {
  return {.name = "area",
          .dimensions = {{.name = "a", .size = setting.size("areas")}},
          .columns = {"area_state"},
          .rest = 1};
}
const Table& vote() {
  static const Table table = {.name = "vote",
                              .dimensions = {{.name = "client"}, {.name = "number"}},
                              .columns = {"vote_caller", "vote_contestant", "vote_state"},
                              .rest = 0};
  return table;
}

void write_rows(const Setting& setting, ProgramText& text) {
  text.comment("votes_by[p]: votes of caller p.  votes_for[c]: votes for contestant c.");
  for (std::int64_t c = 1; c <= setting.size("contestants"); ++c)
    text.init(cell("contestant", std::vector{c}), 1);
  for (std::int64_t a = 1; a <= setting.size("areas"); ++a) {
    if (setting.access == RowAccess::Scan) text.init(cell("area", std::vector{a}), 1);
    text.init(cell("area_state", std::vector{a}), (a - 1) % 50 + 1);
  }
}

void write_txns(const Setting& setting, ProgramText& text, Statements& sql) {
  text.comment("client and number tell this vote from all others.");
  sql.begin_txn("cast_vote(client, number, caller, c, a)");
  text.comment("select from contestant");
  sql.select(contestant(setting), {"c"}, {{.local = "found", .column = ""}});
  text.line("if (!found) { abort }");
  text.comment("select how often the caller has voted");
  text.line("votes := read(votes_by[caller])");
  text.open(fmt::format("if (votes < {})", setting.size("limit")));
  text.comment("select the state of the area code");
  sql.select(area(setting), {"a"}, {{.local = "state", .column = "area_state"}});
  sql.insert(vote(), {"client", "number"},
             {{"vote_caller", "caller"}, {"vote_contestant", "c"}, {"vote_state", "state"}});
  text.lines({"write(votes_by[caller], votes + 1)", "total := read(votes_for[c])",
              "total := total + 1", "write(votes_for[c], total)", "accepted := 1"});
  text.close();
  sql.end_txn();
}

DrawnCall draw(const Setting& setting, Rng& rng, Client client) {
  const std::int64_t caller = between(rng, 1, setting.size("callers"));
  const std::int64_t c = between(rng, 1, setting.size("contestants"));
  const std::int64_t a = between(rng, 1, setting.size("areas"));
  return {.txn = "cast_vote",
          .arguments = {client.session, client.number, caller, c, a},
          .client = client};
}

void write_claims(const Setting& setting, const std::vector<DrawnCall>& calls, ProgramText& text) {
  for (std::int64_t p = 1; p <= setting.size("callers"); ++p) {
    std::vector<std::string> accepted;
    for (const DrawnCall& call : calls) {
      if (call.arguments[2] == p) accepted.push_back(call.local("accepted"));
    }
    if (accepted.empty()) continue;
    text.comment(fmt::format("Caller {} votes no more often than allowed.", p));
    text.claim(sum_of(accepted), "<=", std::to_string(setting.size("limit")));
  }
  for (std::int64_t c = 1; c <= setting.size("contestants"); ++c) {
    std::vector<std::string> accepted;
    std::vector<std::string> totals = {"0"};
    for (const DrawnCall& call : calls) {
      if (call.arguments[3] != c) continue;
      accepted.push_back(call.local("accepted"));
      totals.push_back(call.local("total"));
    }
    if (accepted.empty()) continue;
    text.comment(fmt::format("The last total of contestant {} counts all its votes.", c));
    text.claim(max_of(totals), "==", sum_of(accepted));
  }
}

}  // namespace
}  // namespace voter_parts

WorkloadKind voter() {
  using namespace voter_parts;
  return {.info = {.name = "voter",
                   .summary = "a telephone vote with a limit a caller (OLTP-Bench)",
                   .access = RowAccess::Scan,
                   .sizes = kSizes},
          .write_rows = write_rows,
          .write_txns = write_txns,
          .draw = draw,
          .write_claims = write_claims};
}

}  // namespace isoscope
