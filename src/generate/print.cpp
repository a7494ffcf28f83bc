#include "generate/print.h"

#include <charconv>
#include <concepts>

namespace isoscope {
namespace {

void put(std::string& out, std::integral auto number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

//     r(7,3,0,12)
void print_plume(const GeneratedTxn& txn, std::string& out) {
  const bool aborted = txn.status == TxnStatus::Aborted;
  for (const GeneratedOp& op : txn.ops) {
    if (aborted && !op.is_write) continue;
    out += op.is_write ? "w(" : "r(";
    put(out, op.key);
    out += ',';
    put(out, op.value);
    out += ',';
    put(out, txn.session);
    out += ',';
    if (aborted) {
      out += "-1";
    } else {
      put(out, txn.number);
    }
    out += ")\n";
  }
}

//     {"session":"s0","id":"T12","status":"committed","ops":[["r",7,3],["w",8,4]]}
void print_jsonl(const GeneratedTxn& txn, std::string& out) {
  out += R"({"session":"s)";
  put(out, txn.session);
  out += R"(","id":"T)";
  put(out, txn.number);
  out += R"(","status":")";
  out += txn.status == TxnStatus::Aborted ? "aborted" : "committed";
  out += R"(","ops":[)";
  for (const GeneratedOp& op : txn.ops) {
    if (&op != &txn.ops.front()) out += ',';
    out += op.is_write ? R"(["w",)" : R"(["r",)";
    put(out, op.key);
    out += ',';
    put(out, op.value);
    out += ']';
  }
  out += "]}\n";
}

//     s0: [r("7",3) w("8",4)]
void print_hist(const GeneratedTxn& txn, std::string& out) {
  out += 's';
  put(out, txn.session);
  out += ": [";
  for (const GeneratedOp& op : txn.ops) {
    if (&op != &txn.ops.front()) out += ' ';
    out += op.is_write ? "w(\"" : "r(\"";
    put(out, op.key);
    out += "\",";
    put(out, op.value);
    out += ')';
  }
  out += txn.status == TxnStatus::Aborted ? "]!\n" : "]\n";
}

}  // namespace

bool can_stream(Format format) {
  return format == Format::Hist || format == Format::Jsonl || format == Format::Plume;
}

std::string_view stream_header(Format format) {
  return format == Format::Jsonl ? "{\"format\":\"isoscope-history/1\"}\n" : "";
}

void print_txn(const GeneratedTxn& txn, Format format, std::string& out) {
  ISO_ASSERT(can_stream(format));
  switch (format) {
    case Format::Jsonl:
      return print_jsonl(txn, out);
    case Format::Plume:
      return print_plume(txn, out);
    case Format::Hist:
      return print_hist(txn, out);
    case Format::AwditTest:
    case Format::Dbcop:
    case Format::DbcopBincode:
    case Format::Elle:
    case Format::Cobra:
    case Format::IsoPredict:
      break;  // cannot be streamed
  }
}

}  // namespace isoscope
