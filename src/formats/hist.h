#pragma once
// The readable text of histories, made to be typed and to be read aloud:
//
//     # long-fork: two readers disagree on the order of two independent writes.
//     # expect  cc: consistent   pc: violated
//     init x=0 y=0
//     s1: [w(x,1)]
//     s2: t9=[w(y,1) d("cart 7")]!
//     s3: [r(x,1) r(y,@t9)]@si
//
// The grammar is in docs/formats.md. Initial values are those of `init`; for other keys nil if
// some read asks for nil, else 0. A quoted key that prints like an integer is that integer, so
// that histories with numbered keys come back as they were.
#include <string>
#include <string_view>
#include <vector>

#include "formats/plain_txn.h"
#include "history/history.h"
#include "support/budget.h"
#include "support/output.h"
#include "support/result.h"

namespace isoscope {

Result<History> read_hist(std::string_view text, const Budget& budget = {});
Result<void> write_hist(const History& h, const Sink& out, const Budget& budget = {});
// One transaction; sessions are called s0, s1, ….
void append_hist(const PlainTxn& txn, std::string& out);

}  // namespace isoscope
