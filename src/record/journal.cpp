#include "record/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "record/run_file.h"
#include "support/input.h"

namespace isoscope::record {
namespace {

using RawJson = nlohmann::json;

// What is no UTF-8 cannot be kept as it was.
bool can_be_kept(const RecordedStatement& statement) {
  const auto is_text = [](const std::string& text) {
    try {
      if (std::ranges::any_of(text, [](char c) { return (c & 0x80) != 0; }))
        static_cast<void>(RawJson(text).dump());
      return true;
    } catch (const RawJson::exception&) {
      return false;
    }
  };
  return is_text(statement.sql) &&
         std::ranges::all_of(statement.parameters, [&](const Parameter& parameter) {
           return parameter.is_binary || is_text(parameter.bytes);
         });
}

// [kind, tag, gate, sent, end, [types]], and settings where they are others than those of the
// statement before. It is put together by hand: the application waits for its commit.
void append_raw(std::string& out, const RecordedStatement& statement,
                const RecordedStatement* before) {
  if (!can_be_kept(statement)) {
    out += "null";
    return;
  }
  out += fmt::format("[{},", static_cast<int>(statement.kind));
  append_json_text(out, statement.tag);
  out += fmt::format(",{},{},{},[{}]", statement.gate, statement.sent, statement.end,
                     fmt::join(statement.parameter_types, ","));
  const ClientSettings* settings = statement.settings.get();
  if (settings != nullptr &&
      (before == nullptr || before->settings.get() != settings || !can_be_kept(*before))) {
    out += ",[";
    append_json_text(out, settings->time_zone);
    out += ',';
    append_json_text(out, settings->date_style);
    out += ',';
    append_json_text(out, settings->interval_style);
    out += ']';
  }
  out += ']';
}

std::string bytes_of_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

Parameter read_parameter(const RawJson& json) {
  Parameter parameter;
  parameter.is_null = json.is_null();
  parameter.is_binary = json.is_object();
  if (json.is_string()) parameter.bytes = json.get<std::string>();
  if (json.is_object()) parameter.bytes = bytes_of_hex(json.at("hex").get<std::string>());
  return parameter;
}

RecordedStatement read_statement(const RawJson& told, const RawJson& raw,
                                 std::shared_ptr<const ClientSettings>& settings) {
  RecordedStatement statement{.sql = told.at("sql").get<std::string>()};
  statement.start = told.at("at").get<Microseconds>();
  statement.error = told.value("error", "");
  if (const auto parameters = told.find("params"); parameters != told.end()) {
    for (const RawJson& parameter : *parameters)
      statement.parameters.push_back(read_parameter(parameter));
  }
  if (raw.is_null()) return statement;
  statement.kind = static_cast<StatementKind>(raw.at(0).get<int>());
  statement.tag = raw.at(1).get<std::string>();
  statement.gate = raw.at(2).get<std::uint64_t>();
  statement.sent = raw.at(3).get<Microseconds>();
  statement.end = raw.at(4).get<Microseconds>();
  statement.parameter_types = raw.at(5).get<std::vector<std::uint32_t>>();
  if (raw.size() > 6)
    settings = std::make_shared<ClientSettings>(ClientSettings{raw.at(6).at(0).get<std::string>(),
                                                               raw.at(6).at(1).get<std::string>(),
                                                               raw.at(6).at(2).get<std::string>()});
  statement.settings = settings;
  return statement;
}

RecordedTxn read_txn(const RawJson& line) {
  RecordedTxn txn;
  const std::string status = line.at("status").get<std::string>();
  txn.status = status == "committed" ? TxnStatus::Committed
               : status == "aborted" ? TxnStatus::Aborted
                                     : TxnStatus::Unknown;
  txn.isolation = line.at("isolation").get<std::string>();
  txn.error = line.value("error", "");
  txn.start = line.at("start").get<Microseconds>();
  txn.end = line.at("end").get<Microseconds>();
  const RawJson& raw = line.at("raw");
  const RawJson& statements = raw.at("stmts");
  std::shared_ptr<const ClientSettings> settings;
  for (std::size_t i = 0; i < line.at("stmts").size(); ++i) {
    txn.statements.push_back(read_statement(line.at("stmts").at(i), statements.at(i), settings));
    if (statements.at(i).is_null()) txn.gaps.push_back({i + 1, "a text that is no UTF-8"});
  }
  const std::size_t gaps = raw.at("gaps").get<std::size_t>();
  for (std::size_t i = 0; i < gaps; ++i) {
    const RawJson& gap = line.at("gaps").at(i);
    txn.gaps.push_back({gap.at("stmt").get<std::size_t>(), gap.at("why").get<std::string>()});
  }
  return txn;
}

class JournalReader {
 public:
  void line(const RawJson& line) {
    const auto raw = line.find("raw");
    if (raw == line.end()) return;
    if (line.contains("id")) {
      journal_.txns.emplace_back(line.at("session").get<std::string>(), read_txn(line));
    } else if (raw->contains("start")) {
      journal_.start = Snapshot::parse(raw->at("start").get<std::string>());
      if (journal_.start) reader_.emplace(journal_.start->xmax);
    } else if (raw->contains("table")) {
      journal_.copies[raw->at("table").get<std::string>()] = {
          raw->at("columns").get<std::vector<std::string>>(), raw->at("rows").get<std::string>(),
          raw->at("cut").get<bool>(), raw->value("storage", "")};
    } else if (raw->contains("log") && reader_) {
      for (const RawJson& part : raw->at("log"))
        reader_->line(part.at(0).get_ref<const std::string&>(),
                      part.at(1).get_ref<const std::string&>());
      journal_.logged = journal_.txns.size();
    }
  }
  Journal finish() {
    if (reader_) journal_.log = reader_->finish();
    return std::move(journal_);
  }

 private:
  Journal journal_;
  std::optional<LogReader> reader_;
};

}  // namespace

std::string journal_start(const Snapshot& start) {
  return fmt::format("{{\"raw\":{{\"start\":\"{}\"}}}}\n", start.text());
}

std::string journal_table(const std::string& name, const TableCopy& copy) {
  std::string line = "{\"raw\":{\"table\":";
  append_json_text(line, name);
  line += fmt::format(
      ",\"cut\":{},\"storage\":\"{}\",\"columns\":{},\"rows\":", copy.is_cut, copy.storage,
      RawJson(copy.columns).dump(-1, ' ', false, RawJson::error_handler_t::replace));
  append_json_text(line, copy.lines);
  return line + "}}\n";
}

void JournalLog::add(std::string_view lsn, std::string_view data) {
  text_ += text_.empty() ? "{\"raw\":{\"log\":[[\"" : ",[\"";
  text_ += lsn;
  text_ += "\",";
  append_json_text(text_, data);
  text_ += ']';
}

std::string with_raw(std::string line, const RecordedTxn& txn, std::size_t gaps) {
  line.resize(line.size() - 2);  // }\n
  line += fmt::format(",\"raw\":{{\"gaps\":{},\"stmts\":[", gaps);
  const RecordedStatement* before = nullptr;
  for (const RecordedStatement& statement : txn.statements) {
    if (before != nullptr) line += ',';
    append_raw(line, statement, before);
    before = &statement;
  }
  return line + "]}}\n";
}

Result<Journal> read_journal(const std::string& path) {
  auto in = LineReader::open(path);
  if (!in) return in.error();
  JournalReader reader;
  try {
    for (std::string_view line; in->next(line);) {
      if (!line.empty()) reader.line(RawJson::parse(line));
    }
  } catch (const RawJson::exception& problem) {
    return Error{.what = fmt::format("{} is no recording: {}", path, problem.what())};
  }
  Journal journal = reader.finish();
  if (!journal.start)
    return Error{.what = path + " is no recording that was left unfinished",
                 .hint = "a recording that has come to its end needs nothing more"};
  return journal;
}

}  // namespace isoscope::record
