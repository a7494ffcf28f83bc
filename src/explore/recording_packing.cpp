#include "explore/recording_packing.h"

#include <cstdlib>

namespace isoscope::explore {
namespace {

void pack(Packer& out, const std::optional<AssertionId>& claim) {
  out.number(claim ? std::uint64_t{claim->index} + 1 : 0);
}

std::optional<AssertionId> unpack_optional(Unpacker& in) {
  const std::uint64_t number = in.number();
  if (number == 0) return std::nullopt;
  return AssertionId{static_cast<std::uint32_t>(number - 1)};
}

// The key that is called so: x, or stock[1, 2].
ProgramKey find_key(KeyTable& keys, const std::string& name) {
  const std::size_t bracket = name.find('[');
  std::vector<std::int64_t> indices;
  for (std::size_t at = bracket; at != std::string::npos; at = name.find(',', at + 1))
    indices.push_back(std::strtoll(name.c_str() + at + 1, nullptr, 10));
  return keys.intern(keys.family(std::string_view(name).substr(0, bracket)), indices);
}

void pack(Packer& out, const KeyTable& keys, const store::Access& access) {
  out.number(access.is_read ? 1 : 0).text(keys.name(access.key));
  out.integer(access.value).number(access.writer.index);
}

store::Access unpack_access(Unpacker& in, KeyTable& keys) {
  store::Access access;
  access.is_read = in.number() != 0;
  access.key = find_key(keys, in.text());
  access.value = in.integer();
  access.writer = {in.small()};
  return access;
}

}  // namespace

void pack(Packer& out, const Executable& program, const store::Recording& run) {
  out.number(run.txns.size());
  for (const store::RecordedTxn& txn : run.txns) {
    out.number(txn.is_committed ? 1 : 0).number(txn.is_left_out ? 1 : 0);
    out.number(txn.accesses.size());
    for (const store::Access& access : txn.accesses) pack(out, program.keys(), access);
    out.number(txn.locals.size());
    for (const std::int64_t value : txn.locals) out.integer(value);
    pack(out, txn.failed_assertion);
  }
  out.number(run.order.size());
  for (const CallId call : run.order) out.number(call.index);
  pack(out, run.failed_at_end);
  out.number(run.finals.size());
  for (const store::FinalValue& each : run.finals)
    out.text(program.keys().name(each.key)).number(each.writer.index).integer(each.value);
}

store::Recording unpack_recording(Unpacker& in, const Executable& program) {
  store::Recording run;
  run.txns.resize(in.count());
  for (store::RecordedTxn& txn : run.txns) {
    txn.is_committed = in.number() != 0;
    txn.is_left_out = in.number() != 0;
    txn.accesses.resize(in.count());
    for (store::Access& access : txn.accesses) access = unpack_access(in, program.keys());
    txn.locals.resize(in.count());
    for (std::int64_t& value : txn.locals) value = in.integer();
    txn.failed_assertion = unpack_optional(in);
  }
  run.order.resize(in.count());
  for (CallId& call : run.order) call = {in.small()};
  run.failed_at_end = unpack_optional(in);
  run.finals.resize(in.count());
  for (store::FinalValue& each : run.finals) {
    each.key = find_key(program.keys(), in.text());
    each.writer = {in.small()};
    each.value = in.integer();
  }
  return run;
}

void pack(Packer& out, const Error& error) {
  out.number(error.where.line).number(error.where.column).text(error.what).text(error.hint);
  out.text(error.file).text(error.line).number(error.is_limit ? 1 : 0);
}

Error unpack_error(Unpacker& in) {
  Error error;
  error.where.line = in.small();
  error.where.column = in.small();
  error.what = in.text();
  error.hint = in.text();
  error.file = in.text();
  error.line = in.text();
  error.is_limit = in.number() != 0;
  return error;
}

void keep_keys(const Executable& program, const store::Recording& run) {
  for (const store::RecordedTxn& txn : run.txns) {
    for (const store::Access& access : txn.accesses) program.keys().keep(access.key);
  }
}

}  // namespace isoscope::explore
