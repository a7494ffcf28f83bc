// Shopping Cart [BouajjaniEneaRoman-PLDI'23, section 7.2]: items are put into carts, changed and
// removed, by several who share a cart.
//
// Claims. A cart's total and its number of lines are those of its items; nothing is taken out of
// a cart that had not been put into it.
#include "workload/kind.h"

namespace isoscope {

namespace shopping_cart_parts {
namespace {

constexpr TableSize kSizes[] = {
    {.name = "carts", .help = "carts", .initially = 1, .most = 100},
    {.name = "items", .help = "items", .initially = 3, .most = 100},
};

Table line_of(const Setting& setting) {
  return {.name = "in_cart",
          .dimensions = {{.name = "c", .size = setting.size("carts")},
                         {.name = "i", .size = setting.size("items")}},
          .columns = {"quantity"},
          .rest = 2};
}

// How many of each item are in each cart at the start, by cart and item.
std::vector<std::vector<std::int64_t>> initial_quantities(const Setting& setting) {
  Rng rng = setting.rows();
  std::vector<std::vector<std::int64_t>> out;
  for (std::int64_t c = 1; c <= setting.size("carts"); ++c) {
    out.emplace_back();
    for (std::int64_t i = 1; i <= setting.size("items"); ++i)
      out.back().push_back(rng.chance(0.5) ? between(rng, 1, 5) : 0);
  }
  return out;
}

void write_rows(const Setting& setting, ProgramText& text) {
  text.comment(
      "in_cart[c, i]: item i is in cart c.  cart_lines[c], cart_total[c]: of all its items.");
  const auto quantities = initial_quantities(setting);
  for (std::size_t c = 0; c < quantities.size(); ++c) {
    const auto cart = static_cast<std::int64_t>(c) + 1;
    std::int64_t lines = 0;
    std::int64_t total = 0;
    for (std::size_t i = 0; i < quantities[c].size(); ++i) {
      if (quantities[c][i] == 0) continue;
      const std::vector row{cart, static_cast<std::int64_t>(i) + 1};
      text.init(cell("in_cart", row), 1);
      text.init(cell("quantity", row), quantities[c][i]);
      ++lines;
      total += quantities[c][i];
    }
    text.init(cell("cart_lines", std::vector{cart}), lines);
    text.init(cell("cart_total", std::vector{cart}), total);
  }
}

class Writer {
 public:
  Writer(const Setting& setting, ProgramText& text, Statements& sql)
      : setting_(setting), text_(text), sql_(sql) {}

  void write() {
    sql_.begin_txn("add_item(c, i, q)");
    find();
    text_.lines({"if (!there) {", "old := 0", "write(in_cart[c, i], 1)",
                 "lines := read(cart_lines[c])", "write(cart_lines[c], lines + 1)", "}",
                 "write(quantity[c, i], old + q)", "change := q"});
    add_up();
    sql_.end_txn();

    sql_.begin_txn("remove_item(c, i)");
    find();
    text_.lines({"if (!there) { abort }", "write(in_cart[c, i], 0)", "write(quantity[c, i], 0)",
                 "lines := read(cart_lines[c])", "write(cart_lines[c], lines - 1)",
                 "change := -old"});
    add_up();
    sql_.end_txn();

    sql_.begin_txn("change_quantity(c, i, q)");
    find();
    text_.lines({"if (!there) { abort }", "write(quantity[c, i], q)", "change := q - old"});
    add_up();
    sql_.end_txn();

    sql_.begin_txn("get_quantity(c, i)");
    find();
    sql_.end_txn();

    sql_.begin_txn("get_list(c)");
    text_.open(fmt::format("for i in 1..{}", setting_.size("items")));
    text_.lines({"there := read(in_cart[c, i])", "if (there) {", "q := read(quantity[c, i])",
                 "n := n + 1", "sum := sum + q", "}"});
    text_.close();
    text_.lines({"lines := read(cart_lines[c])", "total := read(cart_total[c])",
                 "assert(n == lines)", "assert(sum == total)"});
    sql_.end_txn();
  }

 private:
  void find() { sql_.select(line_of(setting_), {"c", "i"}, {{"there", ""}, {"old", "quantity"}}); }
  void add_up() {
    text_.lines({"total := read(cart_total[c])", "write(cart_total[c], total + change)"});
  }

  const Setting& setting_;
  ProgramText& text_;
  Statements& sql_;
};

void write_txns(const Setting& setting, ProgramText& text, Statements& sql) {
  Writer(setting, text, sql).write();
}

DrawnCall draw(const Setting& setting, Rng& rng, Client client) {
  DrawnCall call{.txn = pick(rng, {{"add_item", 30},
                                   {"remove_item", 20},
                                   {"change_quantity", 20},
                                   {"get_quantity", 10},
                                   {"get_list", 20}}),
                 .arguments = {},
                 .client = client};
  call.arguments = {between(rng, 1, setting.size("carts")), between(rng, 1, setting.size("items"))};
  const std::int64_t q = between(rng, 1, 5);
  if (call.txn == "add_item" || call.txn == "change_quantity") call.arguments.push_back(q);
  if (call.txn == "get_list") call.arguments.pop_back();
  return call;
}

void write_claims(const Setting& setting, const std::vector<DrawnCall>& calls, ProgramText& text) {
  text.comment("What is taken out of a cart has been in it.");
  const auto quantities = initial_quantities(setting);
  for (std::size_t c = 0; c < quantities.size(); ++c) {
    for (std::size_t i = 0; i < quantities[c].size(); ++i) {
      std::vector<std::string> changes = {std::to_string(quantities[c][i])};
      for (const DrawnCall& call : calls) {
        const bool changes_it =
            call.txn == "add_item" || call.txn == "remove_item" || call.txn == "change_quantity";
        if (changes_it && call.arguments[0] == static_cast<std::int64_t>(c) + 1 &&
            call.arguments[1] == static_cast<std::int64_t>(i) + 1)
          changes.push_back(call.if_committed("change"));
      }
      if (changes.size() > 1) text.claim(sum_of(changes), ">=", "0");
    }
  }
}

}  // namespace
}  // namespace shopping_cart_parts

WorkloadKind shopping_cart() {
  using namespace shopping_cart_parts;
  return {.info = {.name = "shopping-cart",
                   .summary = "items are put into shared carts, changed and removed",
                   .access = RowAccess::Point,
                   .sizes = kSizes},
          .write_rows = write_rows,
          .write_txns = write_txns,
          .draw = draw,
          .write_claims = write_claims};
}

}  // namespace isoscope
