// Smallbank, as OLTP-Bench [DifallahPavloCurino-VLDB'13] runs it: customers with a savings and a
// checking account.
//
// Claims. An account whose balance only falls (savings always do), or only rises, has its last
// balance furthest from the first, and all that committed transactions took or brought must show
// in it. Of other accounts we claim that payments took no more than was there and came in, for
// who pays looks first; cheques may overdraw (at a penalty) and are left aside.
// With an audit, an auditor adds up all accounts and is told by each session how far it came:
// it must find the money of the start and what those transactions brought and took.
#include <algorithm>

#include "workload/kind.h"

namespace isoscope {

namespace smallbank_parts {
namespace {

constexpr TableSize kSizes[] = {
    {.name = "accounts", .help = "customers", .initially = 5, .least = 2, .most = 1'000},
};

// OLTP-Bench's amounts, in cents.
constexpr std::int64_t kPayment = 500;
constexpr std::int64_t kDeposit = 130;
constexpr std::int64_t kWithdrawal = 2'020;
constexpr std::int64_t kCheque = 500;
constexpr std::int64_t kPenalty = 100;

struct Tables {
  explicit Tables(const Setting& setting)
      : accounts{.name = "account",
                 .dimensions = {{.name = "c", .size = setting.size("accounts")}},
                 .columns = {},
                 .rest = 2},
        savings{.name = "savings",
                .dimensions = accounts.dimensions,
                .columns = {"savings_bal"},
                .rest = 1},
        checking{.name = "checking",
                 .dimensions = accounts.dimensions,
                 .columns = {"checking_bal"},
                 .rest = 1} {}
  Table accounts;
  Table savings;
  Table checking;
};

struct Balances {
  std::int64_t savings = 0;
  std::int64_t checking = 0;
};

// So little that about one transaction in ten finds too little money and aborts.
std::vector<Balances> initial_balances(const Setting& setting) {
  Rng rng = setting.rows();
  std::vector<Balances> out;
  for (std::int64_t c = 1; c <= setting.size("accounts"); ++c)
    out.push_back({.savings = between(rng, 2, 6) * 1'000, .checking = between(rng, 2, 10) * 200});
  return out;
}

void write_rows(const Setting& setting, ProgramText& text) {
  text.comment("account[c]: customer c is there.  Balances are in cents.");
  const std::vector<Balances> balances = initial_balances(setting);
  for (std::int64_t c = 1; c <= setting.size("accounts"); ++c) {
    const Balances& balance = balances[static_cast<std::size_t>(c - 1)];
    text.init(cell("account", std::vector{c}), 1);
    if (setting.access == RowAccess::Scan) {
      text.init(cell("savings", std::vector{c}), 1);
      text.init(cell("checking", std::vector{c}), 1);
    }
    text.init(cell("savings_bal", std::vector{c}), balance.savings);
    text.init(cell("checking_bal", std::vector{c}), balance.checking);
  }
}

class Writer {
 public:
  Writer(const Setting& setting, ProgramText& text, Statements& sql)
      : text_(text), sql_(sql), tables_(setting), audit_(setting.audit) {}

  void write() {
    begin("balance", "c");
    find("c");
    get(tables_.savings, "c", "savings");
    get(tables_.checking, "c", "checking");
    text_.line("total := savings + checking");
    end();

    begin("deposit_checking", "c, amount");
    find("c");
    get(tables_.checking, "c", "balance");
    write_back(tables_.checking, "c", "got", "balance + amount");
    text_.line("gain := amount");
    end();

    begin("transact_savings", "c, amount");
    find("c");
    get(tables_.savings, "c", "balance");
    text_.line("if (balance < amount) { abort }");
    update(tables_.savings, "c", "balance");
    write_back(tables_.savings, "c", "left", "balance - amount");
    text_.line("gain := -amount");
    end();

    begin("send_payment", "c, to, amount");
    find("c");
    find("to");
    get(tables_.checking, "c", "balance");
    text_.line("if (balance < amount) { abort }");
    update(tables_.checking, "c", "balance");
    write_back(tables_.checking, "c", "left", "balance - amount");
    get(tables_.checking, "to", "balance");
    write_back(tables_.checking, "to", "got", "balance + amount");
    end();

    text_.comment("A cheque may overdraw the account, at a penalty.");
    begin("write_check", "c, amount");
    find("c");
    get(tables_.savings, "c", "savings");
    get(tables_.checking, "c", "checking");
    text_.line(
        fmt::format("if (savings + checking < amount) {{ amount := amount + {} }}", kPenalty));
    update(tables_.checking, "c", "checking");
    write_back(tables_.checking, "c", "left", "checking - amount");
    text_.line("gain := -amount");
    end();

    text_.comment("Moves all that customer c has to the checking account of another.");
    begin("amalgamate", "c, to");
    find("c");
    find("to");
    get(tables_.savings, "c", "savings");
    get(tables_.checking, "c", "checking");
    text_.line("if (savings + checking < 0) { abort }");
    update(tables_.savings, "c", "savings");
    text_.line("write(savings_bal[c], 0)");
    update(tables_.checking, "c", "checking");
    text_.line("write(checking_bal[c], 0)");
    get(tables_.checking, "to", "balance");
    write_back(tables_.checking, "to", "got", "balance + savings + checking");
    end();
  }

 private:
  void begin(std::string_view name, std::string_view parameters) {
    sql_.begin_txn(fmt::format("{}({}{})", name, parameters, audit_ ? ", client, number" : ""));
  }
  void end() {
    if (audit_) text_.line("write(done[client], number)");
    sql_.end_txn();
  }
  void find(const std::string& customer) {
    text_.comment(fmt::format("select from account: customer {}", customer));
    sql_.select(tables_.accounts, {customer}, {{.local = "found", .column = ""}});
    text_.line("if (!found) { abort }");
  }
  void get(const Table& table, const std::string& customer, const std::string& local) {
    text_.comment(fmt::format("select bal from {}: customer {}", table.name, customer));
    sql_.select(table, {customer}, {{.local = local, .column = table.columns[0]}});
  }
  void update(const Table& table, const std::string& customer, const std::string& local) {
    if (sql_.scans()) text_.comment(fmt::format("update {}: customer {}", table.name, customer));
    sql_.select_again(table, {customer}, {{.local = local, .column = table.columns[0]}});
  }
  // Keeps the new balance in a local, for the claims.
  void write_back(const Table& table, std::string_view customer, std::string_view local,
                  std::string_view balance) {
    text_.line(fmt::format("{} := {}", local, balance));
    text_.line(fmt::format("write({}[{}], {})", table.columns[0], customer, local));
  }

  ProgramText& text_;
  Statements& sql_;
  Tables tables_;
  bool audit_;
};

void write_txns(const Setting& setting, ProgramText& text, Statements& sql) {
  Writer(setting, text, sql).write();
}

DrawnCall draw(const Setting& setting, Rng& rng, Client client) {
  DrawnCall call{.txn = pick(rng, {{"amalgamate", 15},
                                   {"balance", 15},
                                   {"deposit_checking", 15},
                                   {"send_payment", 25},
                                   {"transact_savings", 15},
                                   {"write_check", 15}}),
                 .arguments = {},
                 .client = client};
  const std::int64_t accounts = setting.size("accounts");
  const std::int64_t c = between(rng, 1, accounts);
  const std::int64_t other = (c - 1 + between(rng, 1, accounts - 1)) % accounts + 1;
  if (call.txn == "amalgamate") call.arguments = {c, other};
  if (call.txn == "balance") call.arguments = {c};
  if (call.txn == "deposit_checking") call.arguments = {c, kDeposit};
  if (call.txn == "send_payment") call.arguments = {c, other, kPayment};
  if (call.txn == "transact_savings") call.arguments = {c, kWithdrawal};
  if (call.txn == "write_check") call.arguments = {c, kCheque};
  if (setting.audit) call.arguments.insert(call.arguments.end(), {client.session, client.number});
  return call;
}

// What a call does to an account if it commits.
struct Posting {
  std::string committed;
  std::string amount;   // taken, or brought
  std::string balance;  // afterwards
  bool takes = false;
  bool is_cheque = false;
  bool empties = false;
};

std::vector<Posting> savings_postings(const std::vector<DrawnCall>& calls, std::int64_t customer) {
  std::vector<Posting> out;
  for (const DrawnCall& call : calls) {
    if (call.arguments[0] != customer) continue;
    if (call.txn == "transact_savings")
      out.push_back({call.committed(), call.local("amount"), call.local("left"), true});
    if (call.txn == "amalgamate")
      out.push_back({call.committed(), call.local("savings"), "0", true, false, true});
  }
  return out;
}

std::vector<Posting> checking_postings(const std::vector<DrawnCall>& calls, std::int64_t customer) {
  std::vector<Posting> out;
  for (const DrawnCall& call : calls) {
    const bool is_first = call.arguments[0] == customer;
    const bool is_second = !is_first && call.arguments.size() > 1 && call.arguments[1] == customer;
    const std::string committed = call.committed();
    if (call.txn == "deposit_checking" && is_first)
      out.push_back({committed, call.local("amount"), call.local("got")});
    if (call.txn == "write_check" && is_first)
      out.push_back({committed, call.local("amount"), call.local("left"), true, true});
    if (call.txn == "send_payment" && is_first)
      out.push_back({committed, call.local("amount"), call.local("left"), true});
    if (call.txn == "send_payment" && is_second)
      out.push_back({committed, call.local("amount"), call.local("got")});
    if (call.txn == "amalgamate" && is_first)
      out.push_back({committed, call.local("checking"), "0", true, false, true});
    if (call.txn == "amalgamate" && is_second)
      out.push_back({committed,
                     fmt::format("({} + {})", call.local("savings"), call.local("checking")),
                     call.local("got")});
  }
  return out;
}

// Does the balance move in one direction only, in every serial run? To empty an account that
// cheques overdrew raises its balance.
bool is_monotone(const std::vector<Posting>& postings) {
  bool takes = false;
  bool brings = false;
  bool has_cheques = false;
  bool empties = false;
  for (const Posting& posting : postings) {
    takes |= posting.takes;
    brings |= !posting.takes;
    has_cheques |= posting.is_cheque;
    empties |= posting.empties;
  }
  return takes != brings && !(has_cheques && empties);
}

void claim_nothing_lost(const std::vector<Posting>& postings, std::int64_t start,
                        ProgramText& text) {
  std::vector<std::string> distances = {"0"};
  std::vector<std::string> amounts;
  for (const Posting& posting : postings) {
    distances.push_back(
        posting.takes ? fmt::format("{} * ({} - {})", posting.committed, start, posting.balance)
                      : fmt::format("{} * ({} - {})", posting.committed, posting.balance, start));
    amounts.push_back(fmt::format("{} * {}", posting.committed, posting.amount));
  }
  text.claim(max_of(distances), "==", sum_of(amounts));
}

void claim_not_overdrawn(const std::vector<Posting>& postings, std::int64_t start,
                         ProgramText& text) {
  std::vector<std::string> terms = {std::to_string(start)};
  for (const Posting& posting : postings) {
    if (!posting.is_cheque)
      terms.push_back(
          fmt::format("{} * {}{}", posting.committed, posting.takes ? "-" : "", posting.amount));
  }
  text.claim(sum_of(terms), ">=", "0");
}

void claim_customer(const std::vector<DrawnCall>& calls, std::int64_t customer,
                    const Balances& start, ProgramText& text) {
  const std::vector<Posting> savings = savings_postings(calls, customer);
  if (!savings.empty()) {
    text.comment(fmt::format("Savings of customer {}: what is taken is gone.", customer));
    claim_nothing_lost(savings, start.savings, text);
  }
  const std::vector<Posting> checking = checking_postings(calls, customer);
  if (is_monotone(checking)) {
    text.comment(fmt::format("Checking account of customer {}: no posting is lost.", customer));
    claim_nothing_lost(checking, start.checking, text);
  } else if (std::any_of(checking.begin(), checking.end(), [](const Posting& posting) {
               return posting.takes && !posting.is_cheque;
             })) {
    text.comment(
        fmt::format("Checking account of customer {}: cheques aside, no more leaves it "
                    "than was there.",
                    customer));
    claim_not_overdrawn(checking, start.checking, text);
  }
}

void write_audit(const std::vector<Balances>& balances, const std::vector<DrawnCall>& calls,
                 ProgramText& text) {
  std::int64_t money = 0;
  for (const Balances& balance : balances) money += balance.savings + balance.checking;
  text.comment("The auditor: how far is each session, and how much money is there?");
  text.open("session audit");
  text.open("");
  for (std::int64_t session = 1; session <= calls.back().client.session; ++session)
    text.line(fmt::format("done_{} := read(done[{}])", session, session));
  text.open(fmt::format("for c in 1..{}", balances.size()));
  text.line("savings := read(savings_bal[c])");
  text.line("checking := read(checking_bal[c])");
  text.line("total := total + savings + checking");
  text.close();
  text.close();
  text.close();
  std::vector<std::string> terms = {std::to_string(money)};
  for (const DrawnCall& call : calls) {
    if (call.txn != "deposit_checking" && call.txn != "transact_savings" &&
        call.txn != "write_check")
      continue;
    terms.push_back(fmt::format("{} * (audit[1].done_{} >= {})", call.if_committed("gain"),
                                call.client.session, call.client.number));
  }
  text.comment("No money appears or vanishes.");
  text.claim("audit[1].total", "==", sum_of(terms));
}

void write_claims(const Setting& setting, const std::vector<DrawnCall>& calls, ProgramText& text) {
  const std::vector<Balances> balances = initial_balances(setting);
  for (std::int64_t c = 1; c <= setting.size("accounts"); ++c)
    claim_customer(calls, c, balances[static_cast<std::size_t>(c - 1)], text);
  if (setting.audit) write_audit(balances, calls, text);
}

}  // namespace
}  // namespace smallbank_parts

WorkloadKind smallbank() {
  using namespace smallbank_parts;
  return {.info = {.name = "smallbank",
                   .summary = "customers with savings and checking accounts (OLTP-Bench)",
                   .access = RowAccess::Scan,
                   .sizes = kSizes,
                   .can_audit = true},
          .write_rows = write_rows,
          .write_txns = write_txns,
          .draw = draw,
          .write_claims = write_claims};
}

}  // namespace isoscope
