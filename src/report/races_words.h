#pragma once
// What the text, the JSON, the page and the findings of races say in the same words.
#include <string>

#include "races/races.h"

namespace isoscope {

// stock[7].qty is the column qty of the table stock; of stock[7]{where …} the column is empty.
std::string table_of_key(const std::string& key);
std::string column_of_key(const std::string& key);
EdgeKind edge_of(races::Dependency::Kind kind);
// "product.qty", or "rows of redemption where coupon = 1"; both where the two edges differ.
std::string race_objects(const races::Run& run, const races::Race& race);
std::string why_of_race_edge(const races::Run& run, const races::Dependency& edge);
// The statements of a transaction that touch anything, shortened.
std::string race_shapes(const races::Run& run, races::RunTxn t);

}  // namespace isoscope
