#include "record/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "record/run_file.h"
#include "support/assert.h"

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
  out += '[';
  append_json_number(out, static_cast<int>(statement.kind));
  out += ',';
  append_json_text(out, statement.tag);
  for (const auto number :
       {static_cast<std::int64_t>(statement.gate), statement.sent, statement.end}) {
    out += ',';
    append_json_number(out, number);
  }
  out += ",[";
  for (std::size_t i = 0; i < statement.parameter_types.size(); ++i) {
    if (i > 0) out += ',';
    append_json_number(out, statement.parameter_types[i]);
  }
  out += ']';
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
  txn.isolation = Isolation::declared(line.at("isolation").get<std::string>());
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

// What lines of the log begin with: the last one of a part, and the others.
constexpr std::string_view kLog = R"({"raw":{"log":)";
constexpr std::string_view kMore = R"({"raw":{"more":)";
constexpr std::string_view kTxn = R"({"session":)";

}  // namespace

std::string journal_start(const Snapshot& start) {
  return fmt::format("{{\"raw\":{{\"start\":\"{}\"}}}}\n", start.text());
}

// Lines are short enough to be read again without much memory: a table may take several.
std::string journal_table(const std::string& name, const TableCopy& copy) {
  constexpr std::size_t kMost = std::size_t{512} << 10U;  // bytes of rows
  std::string out;
  out.reserve(copy.lines.size() + copy.lines.size() / 8 + copy.definition.size());
  std::string_view rest = copy.lines;
  do {
    const std::size_t end = rest.size() <= kMost ? rest.size() : rest.find('\n', kMost) + 1;
    out += "{\"raw\":{\"table\":";
    append_json_text(out, name);
    out += fmt::format(
        ",\"cut\":{},\"storage\":\"{}\",\"columns\":{},\"definition\":", copy.is_cut, copy.storage,
        RawJson(copy.columns).dump(-1, ' ', false, RawJson::error_handler_t::replace));
    append_json_text(out, copy.definition);
    out += ",\"rows\":";
    append_json_text(out, rest.substr(0, end));
    out += "}}\n";
    rest.remove_prefix(end);
  } while (!rest.empty());
  return out;
}

void JournalLog::add(std::string_view lsn, std::string_view data) {
  if (text_.size() >= kMost) write(kMore);
  text_ += text_.empty() ? "[[\"" : ",[\"";
  text_ += lsn;
  text_ += "\",";
  append_json_text(text_, data);
  text_ += ']';
}

void JournalLog::write(std::string_view kind) {
  sink_(fmt::format("{}{}]}}}}\n", kind, text_));
  text_.clear();
}

void JournalLog::finish() {
  if (!text_.empty()) write(kLog);
}

std::string with_raw(std::string line, const RecordedTxn& txn, std::size_t gaps) {
  line.resize(line.size() - 2);  // }\n
  line += ",\"raw\":{\"gaps\":";
  append_json_number(line, static_cast<std::int64_t>(gaps));
  line += ",\"stmts\":[";
  const RecordedStatement* before = nullptr;
  for (const RecordedStatement& statement : txn.statements) {
    if (before != nullptr) line += ',';
    append_raw(line, statement, before);
    before = &statement;
  }
  line += "]}}\n";
  return line;
}

Error JournalFile::broken(const std::string& why) const {
  return Error{.what = fmt::format("{} is no recording: {}", path_, why)};
}

Result<JournalFile> JournalFile::open(const std::string& path) {
  JournalFile file(path);
  if (auto read = file.read_head(); !read) return read.error();
  return file;
}

Result<void> JournalFile::read_head() {
  auto in = LineReader::open(path_);
  if (!in) return in.error();
  bool is_started = false;
  try {
    for (std::string_view line; in->next(line);) {
      if (line.starts_with(kTxn) || line.starts_with(kLog) || line.starts_with(kMore)) break;
      if (line.empty()) continue;
      const RawJson json = RawJson::parse(line);
      const auto raw = json.find("raw");
      if (raw == json.end()) continue;
      if (raw->contains("start")) {
        const auto start = Snapshot::parse(raw->at("start").get<std::string>());
        if (!start) return broken("the start of the log cannot be read");
        start_ = *start;
        is_started = true;
      } else if (raw->contains("table")) {
        TableCopy& copy = copies_[raw->at("table").get<std::string>()];
        copy.columns = raw->at("columns").get<std::vector<std::string>>();
        copy.lines += raw->at("rows").get_ref<const std::string&>();
        copy.is_cut = raw->at("cut").get<bool>();
        copy.storage = raw->value("storage", "");
        copy.definition = raw->value("definition", "");
      }
    }
  } catch (const RawJson::exception& problem) {
    return broken(problem.what());
  }
  if (is_started) return {};
  return Error{.what = path_ + " is no recording that was left unfinished",
               .hint = "a recording that has come to its end needs nothing more"};
}

Result<void> JournalFile::rewind() {
  auto lines = LineReader::open(path_);
  if (!lines) return lines.error();
  log_lines_ = std::move(*lines);
  reader_.emplace(start_.xmax);
  cursors_.clear();
  for (int i = 0; i < 2; ++i) {
    auto cursor = LineReader::open(path_);
    if (!cursor) return cursor.error();
    cursors_.push_back({std::move(*cursor)});
  }
  current_ = 0;
  return {};
}

// Goes to the end of a part.
bool JournalFile::skip_part(Cursor& cursor) {
  for (std::string_view line; !cursor.is_at_end && cursor.lines.next(line);)
    cursor.is_at_end = line.starts_with(kLog);
  return std::exchange(cursor.is_at_end, false);
}

Result<DecodedLog*> JournalFile::next_part() {
  for (Cursor& cursor : cursors_) skip_part(cursor);
  current_ = 0;
  try {
    for (std::string_view line; log_lines_->next(line);) {
      const bool is_last = line.starts_with(kLog);
      if (!is_last && !line.starts_with(kMore)) continue;
      const RawJson json = RawJson::parse(line);
      for (const RawJson& one : json.at("raw").at(is_last ? "log" : "more"))
        reader_->line(one.at(0).get_ref<const std::string&>(),
                      one.at(1).get_ref<const std::string&>());
      if (!is_last) continue;
      part_ = reader_->take_log();
      return &part_;
    }
  } catch (const RawJson::exception& problem) {
    return broken(problem.what());
  }
  return nullptr;
}

Result<std::optional<SourceTxn>> JournalFile::next_txn() {
  Cursor& cursor = cursors_[current_];
  try {
    for (std::string_view line; !cursor.is_at_end && cursor.lines.next(line);) {
      cursor.is_at_end = line.starts_with(kLog);
      if (!line.starts_with(kTxn)) continue;
      const RawJson json = RawJson::parse(line);
      session_ = json.at("session").get<std::string>();
      txn_ = read_txn(json);
      return std::optional<SourceTxn>({&session_, &txn_});
    }
  } catch (const RawJson::exception& problem) {
    return broken(problem.what());
  }
  return std::optional<SourceTxn>();
}

Result<void> JournalFile::rewind_part() {
  ISO_ASSERT(current_ == 0);
  current_ = 1;
  return {};
}

}  // namespace isoscope::record
