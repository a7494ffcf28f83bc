#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "formats/hist_lexer.h"
#include "formats/json_text.h"
#include "formats/jsonl.h"
#include "formats/jsonl_parts.h"
#include "formats/line_scanner.h"
#include "support/spelling.h"

namespace isoscope {

namespace {

using simdjson::SUCCESS;

// The last is what a recorder keeps for itself until it has come to its end (docs/formats.md).
constexpr std::array<std::string_view, 15> kMembers = {
    "session", "id",    "status", "ops",    "level", "sql",       "at", "stmts",
    "gaps",    "start", "end",    "commit", "error", "isolation", "raw"};
constexpr std::array<std::string_view, 3> kStatuses = {"committed", "aborted", "unknown"};
constexpr std::string_view kOpHint =
    R"(operations are ["r",key,value], ["w",key,value], ["i",key,value], ["d",key], ["a",key,value], ["l",key], ["ls",key] and ["lk",key], or lists of them: statements)";
constexpr std::array<std::string_view, 8> kOperations = {"r", "w", "i", "d", "a", "l", "ls", "lk"};

// Members may come in any order, and an operation belongs to a transaction only when its session
// is known: operations wait here until the line is read.
struct WaitingOp {
  enum class Kind : std::uint8_t {
    Read,
    ReadFrom,
    ReadList,
    Write,
    Insert,
    Append,
    Lock,
    BeginStatement,
    EndStatement
  };
  Kind kind = Kind::Read;
  KeyId x = {};
  LockMode mode = LockMode::Exclusive;  // of a Lock
  Value row = {};                       // of a Lock: the key whose row it is
  Value value = {};
  std::string_view writer = {};  // of a ReadFrom
  bool is_coarse = false;        // of a ReadFrom
  std::uint32_t elements = 0;    // of a ReadList: how many
  Place place = {};
};

class JsonlReader {
 public:
  JsonlReader(LineReader& in, RunNotes& notes) : in_(in), notes_(notes) {}

  Result<HistoryBuilder> gather() {
    std::string_view line;
    bool header_seen = false;
    while (in_.next(line)) {
      if (line.empty() || trimmed(line).empty()) continue;
      auto done = json_.open(line, in_.line_number());
      if (done)
        done = header_seen ? transaction() : read_jsonl_header(json_, b_, in_.line_number());
      if (done) done = json_.close();
      if (!done) {
        Error error = done.error();
        error.line = line;
        // Not left out silently: without its last transactions, a history may look violated.
        if (in_.is_cut() && !trimmed(line).ends_with('}'))
          error.hint = "the file ends within this line, as if its writer had been stopped";
        return error;
      }
      header_seen = true;
    }
    if (auto done = check_input(in_); !done) return done.error();
    return std::move(b_);
  }

 private:
  using Item = JsonText::Item;

  Result<void> transaction() {
    auto object = root_object(json_, "a transaction");
    if (!object) return object.error();
    std::string_view session;
    std::string_view id;
    std::string level;
    TxnNote note;
    RunNumbers numbers;
    TxnStatus status = TxnStatus::Committed;
    std::uint32_t seen = 0;
    ops_.clear();
    elements_.clear();
    auto done =
        for_each_member(json_, *object, kMembers, [&](std::size_t i, Item& item) -> Result<void> {
          seen |= 1U << i;
          if (kMembers[i] == "ops") return operations(item);
          if (is_run_member(i)) return run_member(item, kMembers[i], note, numbers);
          const char* start = json_.location();
          if (kMembers[i] == "at" && json_.first_sign(item) != '"') {
            auto at = json_.integer(item, "'at': a string, or");
            if (!at) return at.error();
            note.at = std::to_string(*at);
            return {};
          }
          auto text = json_.string(item, kMembers[i]);
          if (!text) return text.error();
          if (text->empty() && (kMembers[i] == "session" || kMembers[i] == "id"))
            return Error{.where = json_.place_of(start),
                         .what = fmt::format("the {} has no name", kMembers[i])};
          if (kMembers[i] == "session") {
            session = *text;
          } else if (kMembers[i] == "id") {
            id = *text;
          } else if (kMembers[i] == "status") {
            std::size_t s = 0;
            while (s < kStatuses.size() && kStatuses[s] != *text) ++s;
            if (s == kStatuses.size())
              return Error{.where = json_.place_of(start),
                           .what = fmt::format("unknown status '{}'", *text),
                           .hint = suggest(*text, kStatuses)};
            status = static_cast<TxnStatus>(s);
          } else if (kMembers[i] == "level") {
            level = lower_case(*text);
            if (!is_level_name(level))
              return Error{.where = json_.place_of(start),
                           .what = fmt::format("'{}' cannot be the name of a level", *text),
                           .hint = "names are like si, update-ser, pg-rc or cc@vis"};
          } else {
            (kMembers[i] == "sql" ? note.sql : note.at) = *text;
          }
          return {};
        });
    if (!done) return done;
    if (seen == 1U << (kMembers.size() - 1)) return {};
    for (std::size_t i = 0; i < 4; ++i) {
      if ((seen >> i & 1U) == 0)
        return Error{.where = {in_.line_number(), 1},
                     .what = fmt::format("this transaction lacks the member '{}'", kMembers[i]),
                     .hint = "session, id, status and ops must be there"};
    }
    const Place place{in_.line_number(), 1};
    if (id == "T0")
      return Error{.where = place,
                   .what = "T0 is the initial transaction",
                   .hint = R"(state initial values in the header: "init":{"x":5})"};
    const TxnId t = b_.begin(find_session(session), status, place);
    b_.set_name(t, id);
    if (!level.empty()) b_.set_level(t, level);
    if (note != TxnNote{}) b_.set_note(t, std::move(note));
    enter_operations(t);
    return enter_numbers(t, numbers);
  }

  // What mostly recorded runs have.
  struct RunNumbers {
    std::optional<std::int64_t> start = {};
    std::optional<std::int64_t> end = {};
    std::optional<std::int64_t> commit = {};
  };

  static bool is_run_member(std::size_t i) { return i >= 7; }
  Result<void> run_member(Item& item, std::string_view name, TxnNote& note, RunNumbers& numbers) {
    notes_.is_recorded = true;
    if (name == "raw") return {};
    if (name == "stmts") return read_run_statements(json_, item, note, notes_);
    if (name == "gaps") return read_run_gaps(json_, item, note, notes_);
    if (name == "error" || name == "isolation") {
      auto text = json_.string(item, name);
      if (!text) return text.error();
      (name == "error" ? note.error : note.isolation) = *text;
      return {};
    }
    auto number = json_.integer(item, name);
    if (!number) return number.error();
    (name == "start" ? numbers.start : name == "end" ? numbers.end : numbers.commit) = *number;
    return {};
  }

  Result<void> enter_numbers(TxnId t, const RunNumbers& numbers) {
    if (numbers.end && !numbers.start)
      return Error{.where = {in_.line_number(), 1},
                   .what = "this transaction has an end but no start",
                   .hint = R"("start" may stand alone, "end" may not)"};
    if (numbers.start)
      b_.set_times(t, {.start = *numbers.start, .end = numbers.end.value_or(TxnTimes::kOpen)});
    if (numbers.commit) b_.set_commit_number(t, *numbers.commit);
    return {};
  }

  SessionId find_session(std::string_view name) {
    if (name != last_session_name_ || last_session_.is_none()) {
      last_session_name_ = name;
      last_session_ = b_.session(name);
    }
    return last_session_;
  }

  Result<void> operations(Item& item) {
    JsonText::Array array;
    const Place place = json_.here();
    if (item.get_array().get(array) != SUCCESS)
      return Error{
          .where = place, .what = "expected 'ops', an array", .hint = std::string(kOpHint)};
    for (auto element : array) {
      JsonText::Array op;
      const Place op_place = json_.here();
      if (auto error = element.get_array().get(op); error != SUCCESS)
        return Error{.where = op_place,
                     .what = "expected an operation, an array",
                     .hint = std::string(kOpHint)};
      if (auto done = operation(op, op_place, true); !done) return done;
    }
    return {};
  }

  // One operation, or a list of them: a statement. A statement may have none.
  Result<void> operation(JsonText::Array& op, Place place, bool may_be_group) {
    WaitingOp waiting{.place = place};
    bool is_group = false;
    std::size_t parts = 0;
    char letter = '\0';
    for (auto part : op) {
      Item item;
      if (auto error = std::move(part).get(item); error != SUCCESS) return json_.syntax(error);
      if (is_group || (parts == 0 && may_be_group && json_.first_sign(item) == '[')) {
        if (!is_group) ops_.push_back({.kind = WaitingOp::Kind::BeginStatement, .place = place});
        is_group = true;
        JsonText::Array inner;
        const Place inner_place = json_.here();
        if (item.get_array().get(inner) != SUCCESS)
          return Error{.where = inner_place,
                       .what = "expected an operation of this statement, an array",
                       .hint = std::string(kOpHint)};
        if (auto done = operation(inner, inner_place, false); !done) return done;
        continue;
      }
      if (parts == 0) {
        auto kind = json_.string(item, "the kind of an operation");
        if (!kind) return kind.error();
        if (std::find(kOperations.begin(), kOperations.end(), *kind) == kOperations.end())
          return Error{.where = place,
                       .what = fmt::format("unknown operation '{}'", *kind),
                       .hint = std::string(kOpHint)};
        letter = (*kind)[0];
        if (*kind == "ls") waiting.mode = LockMode::Share;
        if (*kind == "lk") waiting.mode = LockMode::KeyShare;
      } else if (parts == 1 && letter == 'l') {
        const Place key_place = json_.here();
        auto row = jsonl_value(json_, b_, item);
        if (!row) return row.error();
        if (row->is_nil()) return Error{.where = key_place, .what = "expected a key to lock"};
        waiting.row = *row;
      } else if (parts == 1) {
        auto x = jsonl_key(json_, b_, item);
        if (!x) return x.error();
        waiting.x = *x;
      } else if (parts == 2 && letter != 'd' && letter != 'l') {
        if (auto done = operand(item, letter, waiting); !done) return done;
      } else {
        return Error{.where = place,
                     .what = "this operation has too many parts",
                     .hint = std::string(kOpHint)};
      }
      ++parts;
    }
    if (parts == 0 && may_be_group) {
      if (!is_group) ops_.push_back({.kind = WaitingOp::Kind::BeginStatement, .place = place});
      ops_.push_back({.kind = WaitingOp::Kind::EndStatement, .place = place});
      return {};
    }
    if (parts < (letter == 'd' || letter == 'l' ? 2U : 3U))
      return Error{
          .where = place, .what = "this operation has too few parts", .hint = std::string(kOpHint)};
    if (letter == 'd' || letter == 'w') waiting.kind = WaitingOp::Kind::Write;
    if (letter == 'i') waiting.kind = WaitingOp::Kind::Insert;
    if (letter == 'a') waiting.kind = WaitingOp::Kind::Append;
    if (letter == 'l') waiting.kind = WaitingOp::Kind::Lock;
    ops_.push_back(waiting);
    return {};
  }

  Result<void> operand(Item& item, char letter, WaitingOp& waiting) {
    const char sign = json_.first_sign(item);
    if (letter == 'r' && sign == '{') return writer_name(item, waiting);
    if (letter == 'r' && sign == '[') return list(item, waiting);
    const char* start = json_.location();
    auto value = jsonl_value(json_, b_, item);
    if (!value) return value.error();
    if (letter == 'a' && value->is_nil())
      return Error{.where = json_.place_of(start), .what = "null cannot be appended to a list"};
    waiting.value = *value;
    return {};
  }

  Result<void> writer_name(Item& item, WaitingOp& waiting) {
    constexpr std::array<std::string_view, 2> kFrom = {"from", "coarse"};
    JsonText::Object object;
    if (auto error = item.get_object().get(object); error != SUCCESS) return json_.syntax(error);
    waiting.kind = WaitingOp::Kind::ReadFrom;
    bool named = false;
    auto done =
        for_each_member(json_, object, kFrom, [&](std::size_t i, Item& name) -> Result<void> {
          if (i == 1) {
            const Place place = json_.here();
            if (name.get_bool().get(waiting.is_coarse) == SUCCESS) return {};
            return Error{.where = place, .what = "expected 'coarse', true or false"};
          }
          auto writer = json_.string(name, "the name of the writer");
          if (!writer) return writer.error();
          waiting.writer = *writer;
          named = true;
          return {};
        });
    if (done && !named)
      return Error{.where = waiting.place,
                   .what = "this read names no writer",
                   .hint = R"(["r","x",{"from":"T7"}])"};
    return done;
  }

  Result<void> list(Item& item, WaitingOp& waiting) {
    JsonText::Array array;
    if (auto error = item.get_array().get(array); error != SUCCESS) return json_.syntax(error);
    waiting.kind = WaitingOp::Kind::ReadList;
    for (auto element : array) {
      Item value_item;
      if (auto error = std::move(element).get(value_item); error != SUCCESS)
        return json_.syntax(error);
      const char* start = json_.location();
      auto value = jsonl_value(json_, b_, value_item);
      if (!value) return value.error();
      if (value->is_nil())
        return Error{.where = json_.place_of(start), .what = "a list cannot hold null"};
      elements_.push_back(*value);
      ++waiting.elements;
    }
    return {};
  }

  void enter_operations(TxnId t) {
    const Value* element = elements_.data();
    for (const WaitingOp& op : ops_) {
      switch (op.kind) {
        case WaitingOp::Kind::Read: b_.read(t, op.x, op.value, op.place); break;
        case WaitingOp::Kind::ReadFrom:
          b_.read_from(t, op.x, op.writer, op.place, op.is_coarse);
          break;
        case WaitingOp::Kind::ReadList:
          b_.read_list(t, op.x, {element, op.elements}, op.place);
          element += op.elements;
          break;
        case WaitingOp::Kind::Write: b_.write(t, op.x, op.value, op.place); break;
        case WaitingOp::Kind::Insert: b_.insert(t, op.x, op.value, op.place); break;
        case WaitingOp::Kind::Append: b_.append(t, op.x, op.value, op.place); break;
        case WaitingOp::Kind::Lock: b_.lock(t, op.row, op.mode, op.place); break;
        case WaitingOp::Kind::BeginStatement: b_.begin_statement(t); break;
        case WaitingOp::Kind::EndStatement: b_.end_statement(t); break;
      }
    }
  }

  LineReader& in_;
  RunNotes& notes_;
  JsonText json_;
  HistoryBuilder b_{InitialValues::ZeroOrNil};
  std::vector<WaitingOp> ops_;
  std::vector<Value> elements_;
  std::string last_session_name_;
  SessionId last_session_ = SessionId::none();
};

}  // namespace

Result<HistoryBuilder> gather_jsonl(LineReader& in, RunNotes* notes) {
  RunNotes own;
  RunNotes& told = notes != nullptr ? *notes : own;
  auto builder = JsonlReader(in, told).gather();
  // Who does not ask for gaps would take what is recorded for all that happened.
  if (builder && notes == nullptr && own.gaps > 0)
    return Error{.what = own.limit(), .hint = "check takes gaps into account", .is_limit = true};
  return builder;
}

Result<History> read_jsonl(LineReader& in, RunNotes* notes) {
  auto builder = gather_jsonl(in, notes);
  if (!builder) return builder.error();
  builder->set_initial_syntax(InitialSyntax::Member);
  return std::move(*builder).build_open(&in.budget());
}

}  // namespace isoscope
