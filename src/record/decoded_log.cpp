#include "record/decoded_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "record/shape.h"

namespace isoscope::record {
namespace {

// Takes a number off the front.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::uint64_t lsn_of(std::string_view text) {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return 0;
  std::from_chars(text.data(), text.data() + slash, high, 16);
  std::from_chars(text.data() + slash + 1, text.data() + text.size(), low, 16);
  return high << 32U | low;
}

// The id of 64 bits with these 32 low bits that is nearest to the epoch.
std::uint64_t widened(std::uint64_t low, std::uint64_t epoch) {
  constexpr std::uint64_t kTurn = std::uint64_t{1} << 32U;
  std::uint64_t wide = (epoch & ~(kTurn - 1)) | low;
  if (wide + kTurn / 2 < epoch) wide += kTurn;
  if (wide > epoch + kTurn / 2 && wide >= kTurn) wide -= kTurn;
  return wide;
}

// A name, perhaps in double quotes, up to one of the signs.
std::optional<std::string> take_name(std::string_view& text, std::string_view signs) {
  std::string name;
  if (take(text, "\"")) {
    for (;;) {
      const std::size_t quote = text.find('"');
      if (quote == std::string_view::npos) return std::nullopt;
      name += text.substr(0, quote);
      text.remove_prefix(quote + 1);
      if (!take(text, "\"")) return name;
      name += '"';
    }
  }
  const std::size_t end = text.find_first_of(signs);
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  name = text.substr(0, end);
  text.remove_prefix(end);
  return name;
}

// [integer], [character varying], [integer[]]
bool skip_type(std::string_view& text) {
  if (!take(text, "[")) return false;
  int depth = 1;
  bool in_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') in_quotes = !in_quotes;
    if (in_quotes) continue;
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth == 0) {
      text.remove_prefix(i + 1);
      return take(text, ":");
    }
  }
  return false;
}

// 'it''s', B'01', null, 12, true. False if it cannot be read.
bool take_value(std::string_view& text, Cell& value) {
  take(text, "B");
  if (!take(text, "'")) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    if (word != "null") value = std::string(word);
    return !word.empty();
  }
  value.emplace();
  for (;;) {
    const std::size_t quote = text.find('\'');
    if (quote == std::string_view::npos) return false;
    *value += text.substr(0, quote);
    text.remove_prefix(quote + 1);
    if (!take(text, "'")) return true;
    *value += '\'';
  }
}

// Columns up to the end, or up to "new-tuple:".
bool take_columns(std::string_view& text, LogChange::Values& values,
                  std::vector<std::string>& kept) {
  while (!text.empty() && !text.starts_with("new-tuple:")) {
    const auto name = take_name(text, "[");
    if (!name || !skip_type(text)) return false;
    if (take(text, "unchanged-toast-datum")) {
      kept.push_back(*name);
    } else {
      Cell value;
      if (!take_value(text, value)) return false;
      values.emplace_back(*name, std::move(value));
    }
    if (!text.empty() && !take(text, " ")) return false;
  }
  return true;
}

// What follows "table ". TRUNCATE may name several tables: a change each.
bool read_change(std::string_view line, std::uint64_t lsn, LogTxn& txn) {
  std::vector<std::string> tables;
  do {
    auto schema = take_name(line, ".");
    if (!schema || !take(line, ".")) return false;
    auto name = take_name(line, ":,");
    if (!name) return false;
    tables.push_back(*schema + "." + *name);
  } while (take(line, ", "));
  if (!take(line, ": ")) return false;
  LogChange change{.lsn = lsn, .table = tables[0]};
  if (take(line, "TRUNCATE:")) {
    change.kind = LogChange::Kind::Truncate;
    for (const std::string& table : tables) {
      change.table = table;
      txn.changes.push_back(change);
    }
    return true;
  }
  if (take(line, "INSERT: ")) {
    change.kind = LogChange::Kind::Insert;
  } else if (take(line, "UPDATE: ")) {
    change.kind = LogChange::Kind::Update;
    if (take(line, "old-key: ") &&
        !(take_columns(line, change.old, change.kept) && take(line, "new-tuple: ")))
      return false;
    change.kept.clear();
  } else if (take(line, "DELETE: ")) {
    change.kind = LogChange::Kind::Delete;
  } else {
    return false;
  }
  if (!take(line, "(no-tuple-data)") && !take_columns(line, change.values, change.kept))
    return false;
  txn.changes.push_back(std::move(change));
  return line.empty();
}

// "message: transactional: 0 prefix: isoscope 12, sz: 30 content:730:736:731 735 read committed";
// only the snapshot, where earlier gates of the transaction told the rest.
std::optional<GateMessage> read_message(std::string_view line, std::uint64_t lsn) {
  if (!take(line, "message: transactional: 0 prefix: ") || !take(line, kGatePrefix) ||
      !take(line, " "))
    return std::nullopt;
  GateMessage message{.lsn = lsn};
  const auto gate = take_number(line);
  const std::size_t content = line.find(" content:");
  if (!gate || content == std::string_view::npos) return std::nullopt;
  message.gate = *gate;
  line.remove_prefix(content + 9);
  const std::size_t blank = std::min(line.find(' '), line.size());
  const auto snapshot = Snapshot::parse(line.substr(0, blank));
  if (!snapshot) return std::nullopt;
  message.snapshot = *snapshot;
  line.remove_prefix(blank);
  if (line.empty()) return message;
  take(line, " ");
  message.xid = take_number(line).value_or(0);
  if (!take(line, " ")) return std::nullopt;
  message.isolation = Isolation::declared(line);
  return message;
}

}  // namespace

bool Snapshot::sees(std::uint64_t xid) const {
  if (xid < xmin) return true;
  if (xid >= xmax) return false;
  return std::ranges::find(running, xid) == running.end();
}

std::optional<Snapshot> Snapshot::parse(std::string_view text) {
  Snapshot snapshot;
  const auto xmin = take_number(text);
  if (!xmin || !take(text, ":")) return std::nullopt;
  const auto xmax = take_number(text);
  if (!xmax || !take(text, ":")) return std::nullopt;
  snapshot.xmin = *xmin;
  snapshot.xmax = *xmax;
  while (!text.empty()) {
    const auto xid = take_number(text);
    if (!xid) return std::nullopt;
    snapshot.running.push_back(*xid);
    take(text, ",");
  }
  return snapshot;
}

std::string Snapshot::text() const {
  std::string out = fmt::format("{}:{}:", xmin, xmax);
  for (std::size_t i = 0; i < running.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ",", running[i]);
  return out;
}

void LogReader::line(std::string_view lsn_text, std::string_view line) {
  const std::string_view whole = line;
  const std::uint64_t lsn = lsn_of(lsn_text);
  bool is_understood = true;
  if (take(line, "BEGIN ")) {
    const auto xid = take_number(line);
    is_understood = xid.has_value();
    txn_ = {.xid = widened(xid.value_or(0), epoch_)};
  } else if (take(line, "COMMIT ")) {
    log_.txns.push_back(std::move(txn_));
    txn_ = {};
  } else if (take(line, "table ")) {
    is_understood = read_change(line, lsn, txn_);
  } else if (auto message = read_message(line, lsn)) {
    log_.messages.push_back(std::move(*message));
  } else {
    is_understood = line.starts_with("message: ");  // of another program
  }
  if (!is_understood && log_.trouble.empty()) log_.trouble = whole.substr(0, 200);
}

}  // namespace isoscope::record
