#include "record/run_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/jsonl.h"
#include "support/printable.h"
#include "support/version.h"

namespace isoscope::record {
namespace {

using Json = nlohmann::ordered_json;

// Lines are written for every transaction while the application waits, so they are put together
// here.
void append_text(std::string& out, std::string_view text) { append_json_text(out, text); }

void append_number(std::string& out, std::int64_t number) { append_json_number(out, number); }

// "name":
void append_name(std::string& out, std::string_view name) {
  out += '"';
  out += name;
  out += "\":";
}

void append_parameter(std::string& out, const Parameter& parameter) {
  if (parameter.is_null) {
    out += "null";
  } else if (!parameter.is_binary) {
    append_text(out, parameter.bytes);
  } else {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += "{\"hex\":\"";
    for (const char byte : parameter.bytes) {
      out += kDigits[static_cast<unsigned char>(byte) >> 4U];
      out += kDigits[static_cast<unsigned char>(byte) & 15U];
    }
    out += "\"}";
  }
}

void append_statement(std::string& out, const RecordedStatement& statement) {
  out += "{\"sql\":";
  append_text(out, statement.sql);
  out += ",\"at\":";
  append_number(out, statement.start);
  if (!statement.parameters.empty()) {
    out += ",\"params\":[";
    for (const Parameter& parameter : statement.parameters) {
      if (&parameter != &statement.parameters.front()) out += ',';
      append_parameter(out, parameter);
    }
    out += ']';
  }
  if (!statement.error.empty()) {
    out += ",\"error\":";
    append_text(out, statement.error);
  }
  out += '}';
}

std::string_view operation(RunEvent::Kind kind) {
  switch (kind) {
    case RunEvent::Kind::Read: return "r";
    case RunEvent::Kind::Write: return "w";
    case RunEvent::Kind::Insert: return "i";
    case RunEvent::Kind::Delete: return "d";
    case RunEvent::Kind::Lock: return "l";
    case RunEvent::Kind::LockShare: return "ls";
    case RunEvent::Kind::LockKey: return "lk";
  }
  return {};
}

void append_event(std::string& out, const RunEvent& event) {
  out += "[\"";
  out += operation(event.kind);
  out += "\",";
  append_text(out, event.key);
  if (event.kind == RunEvent::Kind::Read) {
    out += ",{\"from\":";
    append_text(out, event.from);
    out += event.is_coarse ? ",\"coarse\":true}" : "}";
  } else if (event.kind == RunEvent::Kind::Write || event.kind == RunEvent::Kind::Insert) {
    out += ',';
    append_text(out, event.value);
  }
  out += ']';
}

// plain_length(), eight bytes at a time: whole tables go this way when a recording begins. A byte
// is zero in `word` iff subtracting ones borrows from its highest bit; a borrow from the byte
// before can only add a word that is then looked at byte by byte.
std::size_t plain_bytes(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHigh = 0x80U * kOnes;
  const auto has = [](std::uint64_t word, unsigned char byte) {
    const std::uint64_t x = word ^ (kOnes * byte);
    return (x - kOnes) & ~x;
  };
  std::size_t i = 0;
  for (; i + sizeof(std::uint64_t) <= text.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, sizeof word);
    const std::uint64_t controls = (word - kOnes * ' ') & ~word;
    const std::uint64_t others = has(word, '"') | has(word, '\\') | has(word, 0x7f);
    if (((word | controls | others) & kHigh) != 0) break;
  }
  return i + plain_length(text.substr(i));
}

}  // namespace

void append_json_number(std::string& out, std::int64_t number) {
  char digits[24];
  const auto [end, failure] = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, end);
}

// The library has what is no ASCII.
void append_json_text(std::string& out, std::string_view text) {
  const std::size_t start = out.size();
  out += '"';
  for (std::string_view rest = text;;) {
    const std::size_t plain = plain_bytes(rest);
    out.append(rest.data(), plain);
    if (plain == rest.size()) break;
    switch (const char c = rest[plain]; c) {
      case '\n': out.append("\\n", 2); break;
      case '\t': out.append("\\t", 2); break;
      case '"':
      case '\\':
        out += '\\';
        out += c;
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x7f) {
          out.resize(start);
          out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
          return;
        }
        out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    }
    rest.remove_prefix(plain + 1);
  }
  out += '"';
}

const std::string& SessionNames::name(const Client& client) {
  std::string& name = names_[client.connection];
  if (!name.empty()) return name;
  name = client.application;
  for (std::size_t number = names_.size(); name.empty() || taken_.contains(name); ++number)
    name = fmt::format("s{}", number);
  taken_.insert(name);
  return name;
}

void write_run_header(const InitialValues& initial, const Sink& sink) {
  constexpr std::size_t kPiece = std::size_t{64} << 10U;
  std::string out = "{";
  append_name(out, "format");
  append_text(out, kJsonlFormat);
  out += ",\"source\":";
  append_text(out, fmt::format("isoscope record {}", kVersion));
  bool is_first = true;
  initial([&](const std::string& key, const std::string& value) {
    out += std::exchange(is_first, false) ? ",\"init\":{" : ",";
    append_text(out, key);
    out += ':';
    append_text(out, value);
    if (out.size() < kPiece) return;
    sink(out);
    out.clear();
  });
  if (!is_first) out += '}';
  sink(out + "}\n");
}

std::string run_header(const std::map<std::string, std::string>& initial) {
  std::string out;
  write_run_header(
      [&](const auto& each) {
        for (const auto& [key, value] : initial) each(key, value);
      },
      [&](std::string_view piece) { out += piece; });
  return out;
}

std::string run_line(const RecordedTxn& txn, const std::string& session, const std::string& id,
                     const std::vector<std::vector<RunEvent>>& events, std::size_t commit) {
  constexpr std::string_view kStatus[] = {"committed", "aborted", "unknown"};
  std::string out = "{";
  const auto field = [&](std::string_view name, std::string_view text) {
    if (out.size() > 1) out += ',';
    append_name(out, name);
    append_text(out, text);
  };
  const auto number = [&](std::string_view name, std::int64_t n) {
    out += ',';
    append_name(out, name);
    append_number(out, n);
  };
  field("session", session);
  field("id", id);
  field("status", kStatus[static_cast<std::size_t>(txn.status)]);
  out += ",\"ops\":[";
  for (std::size_t i = 0; i < txn.statements.size(); ++i) {
    out += i == 0 ? "[" : ",[";
    for (std::size_t j = 0; i < events.size() && j < events[i].size(); ++j) {
      if (j > 0) out += ',';
      append_event(out, events[i][j]);
    }
    out += ']';
  }
  out += ']';
  field("isolation", txn.isolation.text);
  number("start", txn.start);
  number("end", txn.end);
  if (commit != 0) number("commit", static_cast<std::int64_t>(commit));
  if (txn.status != TxnStatus::Committed && !txn.error.empty()) field("error", txn.error);
  out += ",\"stmts\":[";
  for (std::size_t i = 0; i < txn.statements.size(); ++i) {
    if (i > 0) out += ',';
    append_statement(out, txn.statements[i]);
  }
  out += ']';
  for (std::size_t i = 0; i < txn.gaps.size(); ++i) {
    out += i == 0 ? ",\"gaps\":[{\"stmt\":" : ",{\"stmt\":";
    append_number(out, static_cast<std::int64_t>(txn.gaps[i].statement));
    field("why", txn.gaps[i].why);
    out += '}';
  }
  if (!txn.gaps.empty()) out += ']';
  return out + "}\n";
}

}  // namespace isoscope::record
