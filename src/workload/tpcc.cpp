// TPC-C: rows, mix and claims; the transactions are in tpcc_txns.cpp.
//
// Claims, after the consistency conditions of [TPCC-2010, clause 3.3.2]. Order numbers of a
// district have no gap and none is given twice; what was paid arrives in the sums of district and
// warehouse, which agree; no more orders are delivered than there are. A sum only grows, so the
// largest that was written is the last.
#include "workload/tpcc.h"

namespace isoscope {

namespace tpcc_parts {
namespace {

using tpcc_parts::kInitialDistrictYtd;
using tpcc_parts::kLinesOfInitialOrder;
using tpcc_parts::kMostLines;

constexpr TableSize kSizes[] = {
    {.name = "warehouses", .help = "warehouses", .initially = 1, .most = 10},
    {.name = "districts", .help = "districts a warehouse", .initially = 2, .most = 10},
    {.name = "customers", .help = "customers a district", .initially = 3, .most = 100},
    {.name = "items", .help = "items", .initially = 1, .most = 1'000},
    {.name = "orders",
     .help = "orders a district at the start",
     .initially = 1,
     .least = 0,
     .most = 100},
};

// Writes inits of one part of the tables.
class Rows {
 public:
  Rows(const Setting& setting, ProgramText& text)
      : setting_(setting), text_(text), rng_(setting.rows()) {}

  void write() {
    text_.comment("w: warehouse, d: district, c: customer, i: item, o: order, n: its line.");
    for (std::int64_t i = 1; i <= setting_.size("items"); ++i) {
      text_.init(cell("item", std::vector{i}), 1);
      text_.init(cell("i_price", std::vector{i}), between(rng_, 1, 100));
    }
    for (std::int64_t w = 1; w <= setting_.size("warehouses"); ++w) write_warehouse(w);
  }

 private:
  void write_warehouse(std::int64_t w) {
    there("warehouse", {w});
    text_.init(cell("w_tax", std::vector{w}), between(rng_, 0, 20));
    text_.init(cell("w_ytd", std::vector{w}), setting_.size("districts") * kInitialDistrictYtd);
    for (std::int64_t i = 1; i <= setting_.size("items"); ++i) {
      there("stock", {w, i});
      text_.init(cell("s_quantity", std::vector{w, i}), between(rng_, 10, 100));
    }
    for (std::int64_t d = 1; d <= setting_.size("districts"); ++d) write_district(w, d);
  }

  void write_district(std::int64_t w, std::int64_t d) {
    there("district", {w, d});
    text_.init(cell("d_tax", std::vector{w, d}), between(rng_, 0, 20));
    text_.init(cell("d_ytd", std::vector{w, d}), kInitialDistrictYtd);
    text_.init(cell("d_next_o_id", std::vector{w, d}), setting_.size("orders") + 1);
    for (std::int64_t c = 1; c <= setting_.size("customers"); ++c) {
      const std::vector row{w, d, c};
      there("customer", row);
      text_.init(cell("c_last", row), c);
      text_.init(cell("c_discount", row), between(rng_, 0, 50));
      text_.init(cell("c_balance", row), -10);
    }
    for (std::int64_t o = 1; o <= setting_.size("orders"); ++o) write_order(w, d, o);
  }

  void write_order(std::int64_t w, std::int64_t d, std::int64_t o) {
    const std::vector row{w, d, o};
    text_.init(cell("orders", row), 1);
    text_.init(cell("o_c_id", row), (o - 1) % setting_.size("customers") + 1);
    text_.init(cell("o_ol_cnt", row), kLinesOfInitialOrder);
    text_.init(cell("new_order", row), 1);
    for (std::int64_t n = 1; n <= kLinesOfInitialOrder; ++n) {
      const std::vector line{w, d, o, n};
      text_.init(cell("order_line", line), 1);
      text_.init(cell("ol_i_id", line), between(rng_, 1, setting_.size("items")));
      text_.init(cell("ol_quantity", line), 5);
      text_.init(cell("ol_amount", line), between(rng_, 1, 9'999));
    }
  }

  // Whether such a row is there is asked only by scans.
  void there(std::string_view table, const std::vector<std::int64_t>& row) {
    if (setting_.access == RowAccess::Scan) text_.init(cell(table, row), 1);
  }

  const Setting& setting_;
  ProgramText& text_;
  Rng rng_;
};

void write_rows(const Setting& setting, ProgramText& text) { Rows(setting, text).write(); }

DrawnCall draw(const Setting& setting, Rng& rng, Client client) {
  DrawnCall call{.txn = pick(rng, {{"place_order", 45},
                                   {"pay", 43},
                                   {"order_status", 4},
                                   {"deliver", 4},
                                   {"stock_level", 4}}),
                 .arguments = {},
                 .client = client};
  const std::int64_t w = between(rng, 1, setting.size("warehouses"));
  const std::int64_t d = between(rng, 1, setting.size("districts"));
  const std::int64_t c = between(rng, 1, setting.size("customers"));
  const std::int64_t by_name = rng.chance(0.6) ? 1 : 0;
  if (call.txn == "place_order") {
    const std::int64_t lines = between(rng, 5, kMostLines);
    const std::int64_t item = between(rng, 1, setting.size("items"));
    const std::int64_t quantity = between(rng, 1, 10);
    const std::int64_t wrong = rng.chance(0.01) ? 1 : 0;
    call.arguments = {w, d, c, lines, item, quantity, wrong};
  }
  if (call.txn == "pay")
    call.arguments = {w, d, by_name, c, between(rng, 1, 5'000), client.session, client.number};
  if (call.txn == "order_status") call.arguments = {w, d, by_name, c};
  if (call.txn == "deliver") call.arguments = {w, between(rng, 1, 10)};
  if (call.txn == "stock_level") call.arguments = {w, d, between(rng, 10, 20)};
  return call;
}

// The calls of a transaction in a warehouse, or in one district of it.
std::vector<DrawnCall> those(const std::vector<DrawnCall>& calls, std::string_view txn,
                             std::int64_t w, std::int64_t d = 0) {
  std::vector<DrawnCall> out;
  for (const DrawnCall& call : calls) {
    if (call.txn == txn && call.arguments[0] == w && (d == 0 || call.arguments[1] == d))
      out.push_back(call);
  }
  return out;
}

// The largest value of a local in committed calls, or what it was at the start.
std::string last_of(const std::vector<DrawnCall>& calls, std::string_view local,
                    std::int64_t start) {
  std::vector<std::string> terms = {std::to_string(start)};
  for (const DrawnCall& call : calls) terms.push_back(call.if_committed(local));
  return max_of(terms);
}

// What it was at the start, and what committed calls added.
std::string start_and(const std::vector<DrawnCall>& calls, std::string_view added,
                      std::int64_t start) {
  std::vector<std::string> terms = {std::to_string(start)};
  for (const DrawnCall& call : calls)
    terms.push_back(added.empty() ? call.committed() : call.if_committed(added));
  return sum_of(terms);
}

void claim_district(const Setting& setting, const std::vector<DrawnCall>& calls, std::int64_t w,
                    std::int64_t d, ProgramText& text) {
  if (const auto placed = those(calls, "place_order", w, d); !placed.empty()) {
    text.comment(fmt::format("Orders of district {}, {}: no number twice, no gap.", w, d));
    text.claim(last_of(placed, "o", setting.size("orders")),
               "==", start_and(placed, "", setting.size("orders")));
  }
  if (const auto paid = those(calls, "pay", w, d); !paid.empty()) {
    text.comment(fmt::format("Payments of district {}, {}: none is lost.", w, d));
    text.claim(last_of(paid, "d_ytd", kInitialDistrictYtd),
               "==", start_and(paid, "amount", kInitialDistrictYtd));
  }
}

void claim_warehouse(const Setting& setting, const std::vector<DrawnCall>& calls, std::int64_t w,
                     ProgramText& text) {
  const std::int64_t districts = setting.size("districts");
  if (const auto paid = those(calls, "pay", w); !paid.empty()) {
    std::vector<std::string> sums;
    for (std::int64_t d = 1; d <= districts; ++d)
      sums.push_back(last_of(those(calls, "pay", w, d), "d_ytd", kInitialDistrictYtd));
    text.comment(fmt::format("Payments of warehouse {}: its sum is that of its districts.", w));
    text.claim(last_of(paid, "w_ytd", districts * kInitialDistrictYtd), "==", sum_of(sums));
  }
  if (const auto deliveries = those(calls, "deliver", w); !deliveries.empty()) {
    text.comment(fmt::format("Deliveries of warehouse {}: no more than orders.", w));
    text.claim(start_and(deliveries, "delivered", 0), "<=",
               start_and(those(calls, "place_order", w), "", districts * setting.size("orders")));
  }
}

void write_claims(const Setting& setting, const std::vector<DrawnCall>& calls, ProgramText& text) {
  for (std::int64_t w = 1; w <= setting.size("warehouses"); ++w) {
    for (std::int64_t d = 1; d <= setting.size("districts"); ++d)
      claim_district(setting, calls, w, d, text);
    claim_warehouse(setting, calls, w, text);
  }
}

}  // namespace
}  // namespace tpcc_parts

WorkloadKind tpcc() {
  using namespace tpcc_parts;
  return {.info = {.name = "tpcc",
                   .summary = "TPC-C: orders, payments and deliveries of a wholesaler",
                   .access = RowAccess::Scan,
                   .sizes = kSizes},
          .write_rows = write_rows,
          .write_txns = tpcc_parts::write_txns,
          .draw = draw,
          .write_claims = write_claims};
}

}  // namespace isoscope
