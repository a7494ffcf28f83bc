// The five transactions of TPC-C [TPCC-2010, clause 2], in key-value form.
#include "workload/tpcc.h"

namespace isoscope::tpcc_parts {

Tables::Tables(const Setting& setting) {
  const Dimension w{.name = "w", .size = setting.size("warehouses")};
  const Dimension d{.name = "d", .size = setting.size("districts")};
  const Dimension c{.name = "c", .size = setting.size("customers")};
  const Dimension i{.name = "i", .size = setting.size("items")};
  const Dimension o{.name = "o"};
  warehouse = {.name = "warehouse", .dimensions = {w}, .columns = {"w_tax", "w_ytd"}, .rest = 7};
  district = {.name = "district",
              .dimensions = {w, d},
              .columns = {"d_tax", "d_ytd", "d_next_o_id"},
              .rest = 8};
  customer = {.name = "customer",
              .dimensions = {w, d, c},
              .columns = {"c_last", "c_discount", "c_balance", "c_ytd_payment", "c_payment_cnt",
                          "c_delivery_cnt"},
              .rest = 15};
  item = {.name = "item", .dimensions = {i}, .columns = {"i_price"}, .rest = 4};
  stock = {.name = "stock",
           .dimensions = {w, i},
           .columns = {"s_quantity", "s_ytd", "s_order_cnt"},
           .rest = 14};
  orders = {.name = "orders",
            .dimensions = {w, d, o},
            .columns = {"o_c_id", "o_carrier_id", "o_ol_cnt"},
            .rest = 5};
  new_order = {.name = "new_order", .dimensions = {w, d, o}, .columns = {}, .rest = 3};
  order_line = {.name = "order_line",
                .dimensions = {w, d, o, {.name = "n"}},
                .columns = {"ol_i_id", "ol_quantity", "ol_amount", "ol_delivery_d"},
                .rest = 6};
  history = {.name = "history",
             .dimensions = {{.name = "client"}, {.name = "number"}},
             .columns = {"h_amount"},
             .rest = 7};
}

namespace {

class Writer {
 public:
  Writer(const Setting& setting, ProgramText& text, Statements& sql)
      : setting_(setting), text_(text), sql_(sql), tables_(setting) {}

  void write() {
    write_new_order();
    write_payment();
    write_order_status();
    write_delivery();
    write_stock_level();
  }

 private:
  void write_new_order();
  void write_payment();
  void write_order_status();
  void write_delivery();
  void write_stock_level();

  // Six of ten callers give their name, which the index of names knows.
  void find_customer() {
    text_.open("if (by_name)");
    text_.comment("select c from customer where c_last = name");
    text_.open(fmt::format("for at_c in 1..{}", setting_.size("customers")));
    text_.lines({"last := read(c_last[w, d, at_c])", "if (last == name) { c := at_c }"});
    text_.close();
    text_.close();
  }

  const Setting& setting_;
  ProgramText& text_;
  Statements& sql_;
  Tables tables_;
};

void Writer::write_new_order() {
  const std::int64_t items = setting_.size("items");
  text_.comment("NewOrder. Line n orders item number (item + n - 2) % items + 1, and so on; the");
  text_.comment("last line of a wrong order asks for an item that is not there.");
  sql_.begin_txn("place_order(w, d, c, lines, item, quantity, wrong)");
  text_.comment("select from customer, warehouse, district");
  sql_.select(tables_.customer, {"w", "d", "c"}, {{"discount", "c_discount"}});
  sql_.select(tables_.warehouse, {"w"}, {{"w_tax", "w_tax"}});
  sql_.select(tables_.district, {"w", "d"}, {{"d_tax", "d_tax"}, {"o", "d_next_o_id"}});
  text_.line("write(d_next_o_id[w, d], o + 1)");
  text_.comment("insert into orders, new_order");
  sql_.insert(tables_.orders, {"w", "d", "o"}, {{"o_c_id", "c"}, {"o_ol_cnt", "lines"}});
  sql_.insert(tables_.new_order, {"w", "d", "o"}, {});
  text_.open("for n in 1..lines");
  sql_.begin_times(kMostLines);
  text_.line(fmt::format("i := (item + n - 2) % {} + 1", items));
  text_.line(fmt::format("if (wrong && n == lines) {{ i := {} }}", items + 1));
  text_.line("found := 0");
  text_.comment("select from item; there may be none");
  sql_.select(tables_.item, {"i"}, {{"found", ""}, {"price", "i_price"}});
  text_.line("if (!found) { abort }");
  text_.comment("select from stock, update it: who has little gets 91 more");
  sql_.select(tables_.stock, {"w", "i"},
              {{"left", "s_quantity"}, {"ytd", "s_ytd"}, {"sold", "s_order_cnt"}});
  text_.lines({"q := (quantity + n - 2) % 10 + 1", "left := left - q",
               "if (left < 10) { left := left + 91 }", "write(s_quantity[w, i], left)",
               "write(s_ytd[w, i], ytd + q)", "write(s_order_cnt[w, i], sold + 1)"});
  text_.comment("insert into order_line");
  sql_.insert(
      tables_.order_line, {"w", "d", "o", "n"},
      {{"ol_i_id", "i"}, {"ol_quantity", "q"}, {"ol_amount", "q * price"}, {"ol_delivery_d", "0"}});
  text_.line("total := total + q * price");
  sql_.end_times();
  text_.close();
  text_.line("total := total * (100 - discount) / 100 * (100 + w_tax + d_tax) / 100");
  sql_.end_txn();
}

void Writer::write_payment() {
  text_.comment("Payment. client and number tell it from all others.");
  sql_.begin_txn("pay(w, d, by_name, name, amount, client, number)");
  text_.comment("update warehouse, district");
  sql_.select(tables_.warehouse, {"w"}, {{"w_ytd", "w_ytd"}});
  text_.line("w_ytd := w_ytd + amount");
  text_.line("write(w_ytd[w], w_ytd)");
  sql_.select(tables_.district, {"w", "d"}, {{"d_ytd", "d_ytd"}});
  text_.line("d_ytd := d_ytd + amount");
  text_.line("write(d_ytd[w, d], d_ytd)");
  text_.line("c := name");
  find_customer();
  text_.comment("select from customer, update it");
  sql_.select(tables_.customer, {"w", "d", "c"},
              {{"balance", "c_balance"}, {"paid", "c_ytd_payment"}, {"payments", "c_payment_cnt"}});
  text_.lines({"paid := paid + amount", "write(c_balance[w, d, c], balance - amount)",
               "write(c_ytd_payment[w, d, c], paid)",
               "write(c_payment_cnt[w, d, c], payments + 1)"});
  text_.comment("insert into history");
  sql_.insert(tables_.history, {"client", "number"}, {{"h_amount", "amount"}});
  sql_.end_txn();
}

void Writer::write_order_status() {
  text_.comment("OrderStatus: the last order of a customer, which has as many lines as it says.");
  sql_.begin_txn("order_status(w, d, by_name, name)");
  text_.line("c := name");
  find_customer();
  text_.comment("select from customer");
  sql_.select(tables_.customer, {"w", "d", "c"}, {{"balance", "c_balance"}});
  text_.comment("select max(o) from orders where o_c_id = c");
  text_.lines({"next := read(d_next_o_id[w, d])", "for at_o in 1..next - 1 {",
               "there := read(orders[w, d, at_o])", "of := read(o_c_id[w, d, at_o])",
               "if (there && of == c) { o := at_o }", "}", "if (o > 0) {",
               "carrier := read(o_carrier_id[w, d, o])", "lines := read(o_ol_cnt[w, d, o])",
               "for n in 1..lines {", "there := read(order_line[w, d, o, n])", "assert(there)",
               "i := read(ol_i_id[w, d, o, n])", "q := read(ol_quantity[w, d, o, n])",
               "amount := read(ol_amount[w, d, o, n])", "on := read(ol_delivery_d[w, d, o, n])",
               "}", "}"});
  sql_.end_txn();
}

void Writer::write_delivery() {
  text_.comment("Delivery: the oldest new order of every district.");
  sql_.begin_txn("deliver(w, carrier)");
  text_.open(fmt::format("for d in 1..{}", setting_.size("districts")));
  text_.comment("select min(o) from new_order");
  text_.lines({"next := read(d_next_o_id[w, d])", "o := 0", "for at_o in 1..next - 1 {",
               "if (o == 0) {", "there := read(new_order[w, d, at_o])", "if (there) { o := at_o }",
               "}", "}"});
  text_.open("if (o > 0)");
  text_.comment("delete from new_order; update orders, order_line");
  text_.lines({"write(new_order[w, d, o], 0)", "c := read(o_c_id[w, d, o])",
               "write(o_carrier_id[w, d, o], carrier)", "lines := read(o_ol_cnt[w, d, o])",
               "total := 0", "for n in 1..lines {", "amount := read(ol_amount[w, d, o, n])",
               "total := total + amount", "write(ol_delivery_d[w, d, o, n], 1)", "}"});
  text_.comment("update customer");
  sql_.begin_times(setting_.size("districts"));
  sql_.select(tables_.customer, {"w", "d", "c"},
              {{"balance", "c_balance"}, {"deliveries", "c_delivery_cnt"}});
  sql_.end_times();
  text_.lines({"write(c_balance[w, d, c], balance + total)",
               "write(c_delivery_cnt[w, d, c], deliveries + 1)", "delivered := delivered + 1"});
  text_.close();
  text_.close();
  sql_.end_txn();
}

void Writer::write_stock_level() {
  text_.comment("StockLevel: lines of the last 20 orders whose item runs low.");
  sql_.begin_txn("stock_level(w, d, threshold)");
  text_.comment("select d_next_o_id from district");
  sql_.select(tables_.district, {"w", "d"}, {{"next", "d_next_o_id"}});
  text_.comment("select from order_line, stock where s_quantity < threshold");
  text_.lines({"for o in max(1, next - 20)..next - 1 {", "lines := read(o_ol_cnt[w, d, o])",
               "for n in 1..lines {", "i := read(ol_i_id[w, d, o, n])",
               "left := read(s_quantity[w, i])", "low := low + (left < threshold)", "}", "}"});
  sql_.end_txn();
}

}  // namespace

void write_txns(const Setting& setting, ProgramText& text, Statements& sql) {
  Writer(setting, text, sql).write();
}

}  // namespace isoscope::tpcc_parts
