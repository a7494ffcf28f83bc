#pragma once
// The tables of TPC-C and its transactions.
//
// Rows of orders and of what belongs to them are numbered by district: orders[w, d, o]. A reader
// learns from d_next_o_id[w, d] which there can be, as from an index.
#include "workload/kind.h"

namespace isoscope::tpcc_parts {

constexpr std::int64_t kInitialDistrictYtd = 30'000;
constexpr std::int64_t kLinesOfInitialOrder = 5;
constexpr std::int64_t kMostLines = 15;

struct Tables {
  explicit Tables(const Setting& setting);
  Table warehouse;
  Table district;
  Table customer;
  Table item;
  Table stock;
  Table orders;
  Table new_order;
  Table order_line;
  Table history;
};

void write_txns(const Setting& setting, ProgramText& text, Statements& sql);

}  // namespace isoscope::tpcc_parts
