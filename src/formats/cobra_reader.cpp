#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "formats/byte_cursor.h"
#include "formats/cobra.h"
#include "formats/scan.h"
#include "history/builder.h"
#include "support/input.h"

namespace isoscope {

namespace {

constexpr std::uint64_t kInitialId = 0xbebeebee;
constexpr std::uint64_t kNullId = 0xdeadbeef;
constexpr std::uint64_t kAnyId = 0xabddefee;
constexpr std::uint64_t kFenceTrue = 0x23332333;
constexpr std::uint64_t kFenceFalse = 0x66666666;

bool is_fence(std::uint64_t write_id) { return write_id == kFenceTrue || write_id == kFenceFalse; }
bool is_initial(std::uint64_t id) { return id == kInitialId || id == kNullId; }

// The n of `Tn.log`.
std::optional<std::int64_t> log_number(std::string_view name) {
  if (!name.starts_with('T') || !name.ends_with(".log")) return {};
  return canonical_int(name.substr(1, name.size() - 5));
}

struct Operation {
  bool is_read;
  std::uint64_t writer;
  std::uint64_t write_id;
  std::uint64_t key;
  std::uint64_t value;
  Place place;
};

// What a read says that does not name its writer.
struct UnnamedVersion {
  std::uint64_t key;
  std::uint64_t write_id;
  std::uint64_t value;
  friend auto operator<=>(const UnnamedVersion&, const UnnamedVersion&) = default;
};

class CobraReader {
 public:
  explicit CobraReader(const Budget& budget) : budget_(budget) {}

  Result<History> read(std::span<const CobraLog> logs) {
    for (const CobraLog& log : logs) {
      if (auto done = scan(log); !done) return done.error().in(log.name);
    }
    b_.count_records();
    if (has_unnamed_) collect_versions();
    for (const Txn& txn : txns_) {
      if (budget_.expired_now()) return limit_error("reading the input");
      enter(txn);
    }
    return std::move(b_).build_open(&budget_);
  }

 private:
  struct Txn {
    std::uint64_t id;
    const CobraLog* log;
    Place place;
    bool committed = false;
    std::vector<Operation> operations = {};
  };

  // First pass: the records, and whether write ids are unique.
  Result<void> scan(const CobraLog& log) {
    ByteCursor in(log.bytes);
    bool open = false;
    bool fence = false;
    Place place{0, 1};  // of the record at hand: its number, and where it begins
    while (!in.at_end()) {
      ++place.line;
      place.column = static_cast<std::uint32_t>(in.offset() + 1);
      if (budget_.expired()) return limit_error("reading the input");
      const ByteCursor record = in;
      std::uint8_t kind = 0;
      in.take_byte(kind);
      if ((kind == 'S') == open && (kind == 'S' || kind == 'C' || kind == 'R' || kind == 'W'))
        return record.error(open ? "a transaction starts inside another"
                                 : "a record stands outside of a transaction");
      std::uint64_t numbers[4] = {};
      const int count = kind == 'S' || kind == 'C' ? 1 : kind == 'W' ? 3 : kind == 'R' ? 4 : 0;
      if (count == 0)
        return record.error(fmt::format("unknown record {}, instead of S, R, W or C",
                                        show_byte(static_cast<char>(kind))));
      for (int i = 0; i < count; ++i) {
        if (!in.take_big_endian(numbers[i])) return record.error("this record is cut off");
      }
      if (kind == 'S') {
        open = true;
        fence = false;
        if (auto done = start(numbers[0], log, record, place); !done) return done;
      } else if (kind == 'C') {
        Txn& txn = txns_.back();
        if (numbers[0] != txn.id)
          return record.error(
              fmt::format("transaction {} commits inside transaction {}", numbers[0], txn.id));
        txn.committed = true;
        open = false;
        if (fence && txn.operations.empty()) txns_.pop_back();
      } else {
        const Operation op =
            kind == 'R' ? Operation{true, numbers[0], numbers[1], numbers[2], numbers[3], place}
                        : Operation{false, 0, numbers[0], numbers[1], numbers[2], place};
        if (is_fence(op.write_id)) {
          fence = true;
          continue;
        }
        if (op.is_read && is_initial(op.writer) && !is_initial(op.write_id))
          return record.error("a read from the initial state has the write id of another writer");
        has_unnamed_ = has_unnamed_ || (op.is_read && op.writer == kAnyId);
        txns_.back().operations.push_back(op);
        if (!op.is_read) claim(op.write_id, txns_.back().id);
      }
    }
    return {};
  }

  Result<void> start(std::uint64_t id, const CobraLog& log, const ByteCursor& record, Place place) {
    const auto [entry, fresh] = logs_of_.try_emplace(id, &log);
    if (!fresh)
      return record.error(
          fmt::format("transaction {} starts here and in {}", id, entry->second->name));
    txns_.push_back({id, &log, place});
    return {};
  }

  void claim(std::uint64_t write_id, std::uint64_t txn) {
    const auto [entry, fresh] = owner_of_.try_emplace(write_id, txn);
    if (!fresh && entry->second != txn) unique_ids_ = false;
  }

  Value version(std::uint64_t txn, std::uint64_t write_id) {
    const auto owner = owner_of_.find(write_id);
    if (unique_ids_ && owner != owner_of_.end() && owner->second == txn)
      return Value::of(static_cast<std::int64_t>(write_id));
    return b_.text(fmt::format("{}:{}", txn, write_id));
  }

  // Where some reads do not name their writers, versions are told by write id and value. One that
  // no log writes is in the initial state: the first such that is read of each key.
  void collect_versions() {
    for (const Txn& txn : txns_) {
      for (const Operation& op : txn.operations) {
        const UnnamedVersion version{op.key, op.write_id, op.value};
        if (op.is_read) continue;
        written_.insert(version);
        named_.emplace(txn.id, version);
      }
    }
    for (const Txn& txn : txns_) {
      for (const Operation& op : txn.operations) {
        const UnnamedVersion version{op.key, op.write_id, op.value};
        if (op.is_read && op.writer == kAnyId && !written_.contains(version))
          initial_.try_emplace(op.key, version);
      }
    }
  }

  Value unnamed_version(const Operation& op) {
    if (op.write_id == kAnyId) return Value::of(static_cast<std::int64_t>(op.value));
    return b_.text(fmt::format("{}:{}", op.write_id, op.value));
  }

  void enter_read(TxnId t, KeyId x, const Operation& op) {
    const UnnamedVersion told{op.key, op.write_id, op.value};
    const auto initial = initial_.find(op.key);
    const bool is_loaded =
        op.writer == kAnyId && initial != initial_.end() && initial->second == told;
    if (is_initial(op.writer) || is_loaded) {
      b_.read_from(t, x, "T0", op.place);
    } else if (!has_unnamed_) {
      b_.read(t, x, version(op.writer, op.write_id), op.place);
    } else if (op.writer == kAnyId) {
      b_.read(t, x, unnamed_version(op), op.place);
    } else if (named_.contains({op.writer, told})) {
      b_.read_from(t, x, fmt::format("t{}", op.writer), op.place);
    } else {
      b_.read(t, x, b_.text(fmt::format("{}:{}", op.writer, op.write_id)), op.place);
    }
  }

  // Second pass: events, with values that distinguish versions.
  void enter(const Txn& txn) {
    const auto number = log_number(txn.log->name);
    const SessionId s = number ? b_.session(*number) : b_.session(txn.log->name);
    const TxnId t =
        b_.begin(s, txn.committed ? TxnStatus::Committed : TxnStatus::Unknown, txn.place);
    b_.set_name(t, static_cast<std::int64_t>(txn.id));
    for (const Operation& op : txn.operations) {
      const KeyId x = b_.key(static_cast<std::int64_t>(op.key));
      if (op.is_read) {
        enter_read(t, x, op);
      } else {
        b_.write(t, x, has_unnamed_ ? unnamed_version(op) : version(txn.id, op.write_id), op.place);
      }
    }
  }

  Budget budget_;
  HistoryBuilder b_{InitialValues::Zero};
  std::vector<Txn> txns_;
  std::unordered_map<std::uint64_t, const CobraLog*> logs_of_;  // by transaction
  std::unordered_map<std::uint64_t, std::uint64_t> owner_of_;   // of a write id
  bool unique_ids_ = true;
  bool has_unnamed_ = false;                                  // does some read not name its writer?
  std::set<UnnamedVersion> written_;                          // if so: what the logs write,
  std::set<std::pair<std::uint64_t, UnnamedVersion>> named_;  // by whom,
  std::map<std::uint64_t, UnnamedVersion> initial_;  // and by key what they read and do not write
};

}  // namespace

Result<History> read_cobra_logs(std::span<const CobraLog> logs, const Budget& budget) {
  return CobraReader(budget).read(logs);
}

Result<History> read_cobra(const std::string& directory, const Budget& budget) {
  namespace fs = std::filesystem;
  std::vector<CobraLog> logs;
  std::error_code failure;
  for (fs::directory_iterator it(directory, failure), end; !failure && it != end;
       it.increment(failure)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with('T') && name.ends_with(".log")) logs.push_back({name, {}});
  }
  if (failure)
    return Error{.what = fmt::format("cannot read the directory: {}", failure.message()),
                 .file = directory};
  if (logs.empty())
    return Error{.what = "this directory holds no T*.log",
                 .hint = "a directory is read as the logs of Cobra, one T*.log per session",
                 .file = directory};
  std::sort(logs.begin(), logs.end(), [](const CobraLog& a, const CobraLog& b) {
    return std::pair(log_number(a.name), a.name) < std::pair(log_number(b.name), b.name);
  });
  for (CobraLog& log : logs) {
    auto bytes = read_whole(directory + "/" + log.name, budget);
    if (!bytes) return bytes.error();
    log.bytes = std::move(*bytes);
  }
  auto history = read_cobra_logs(logs, budget);
  if (history) return history;
  Error error = history.error();
  error.file = error.file.empty() ? directory : directory + "/" + error.file;
  return error;
}

}  // namespace isoscope
