// Two withdrawals from one account, of which only one is covered: examples/programs/bank.txn in
// C++.
//
//     bank          the table of all levels
//     bank si       one level, with a violating history if there is one; exit code 1 then
#include <isoscope/isoscope.h>

#include <cstdio>

namespace api = isoscope::api;

namespace {

api::Body withdraw(api::Value amount) {
  return [amount](api::Txn& txn) {
    const api::Value balance = txn.read("acct");
    if (balance < amount) txn.abort();
    txn.write("acct", balance - amount);
  };
}

void audit(api::Txn& txn) {
  const api::Value balance = txn.read("acct");
  txn.check(balance >= 0, "the balance is never negative");
}

api::Program bank() {
  api::Program program;
  program.init("acct", 100);
  program.session("alice").transaction("withdraw(60)", withdraw(60));
  program.session("bob").transaction("withdraw(60)", withdraw(60)).transaction("audit", audit);
  program.check_at_end("only one withdrawal is covered", [](const api::Run& run) {
    return !(run.txn("alice", 1).committed && run.txn("bob", 1).committed);
  });
  return program;
}

}  // namespace

int main(int argc, char** argv) {
  const api::Program program = bank();
  if (argc < 2) {
    for (const char* level : {"rc", "ra", "cc", "pc", "psi", "si", "ser"}) {
      const api::Exploration all = program.explore({.level = level});
      std::printf("%-4s %llu histories, %llu violate a check\n", level,
                  static_cast<unsigned long long>(all.histories),
                  static_cast<unsigned long long>(all.violating));
    }
    return 0;
  }
  const api::Exploration all = program.explore({.level = argv[1], .stop_at_violation = true});
  switch (all.outcome) {
    case api::Outcome::Complete:
      std::printf("all checks hold in %llu histories\n",
                  static_cast<unsigned long long>(all.histories));
      return 0;
    case api::Outcome::Violated: std::printf("%s", all.violations[0].text.c_str()); return 1;
    case api::Outcome::Unknown: std::printf("unknown: the time is over\n"); return 3;
    case api::Outcome::Failed: std::fprintf(stderr, "%s\n", all.failure.c_str()); return 2;
  }
  return 2;
}
