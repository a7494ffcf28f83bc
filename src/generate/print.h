#pragma once
// Prints generated transactions one by one, so that a history of any length needs no memory.
// Possible in three formats; for the others make a History and write that.
//
//     std::string text(stream_header(format));
//     generate_txns(plan, [&](const GeneratedTxn& txn) {
//       print_txn(txn, format, text);
//       if (text.size() > kEnough) …                        // hand it on, and clear it
//     });
//
// Sessions are called s0, s1, …, keys are numbers. In plume, a transaction bears its number in
// the run, and of an aborted one only the writes are printed: each line with transaction -1 is a
// transaction of its own there, so that what it read of its own writes cannot be told.
#include <string>
#include <string_view>

#include "formats/formats.h"
#include "generate/generate.h"

namespace isoscope {

// Can it be printed transaction by transaction? True for hist, jsonl and plume.
bool can_stream(Format format);
// What stands before the first transaction. Requires: can_stream(format).
std::string_view stream_header(Format format);
// Appends the transaction's lines. Requires: can_stream(format).
void print_txn(const GeneratedTxn& txn, Format format, std::string& out);

}  // namespace isoscope
