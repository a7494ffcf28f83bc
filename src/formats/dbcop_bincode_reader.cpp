#include "formats/byte_cursor.h"
#include "formats/dbcop.h"
#include "formats/line_scanner.h"

namespace isoscope {

namespace {

class BincodeReader {
 public:
  BincodeReader(std::string_view bytes, const Budget& budget) : in_(bytes), budget_(budget) {}

  Result<History> read() {
    std::uint64_t ignored = 0;
    for (int i = 0; i < 5; ++i) {
      if (!in_.take_little_endian(ignored)) return in_.error("the header is cut off");
    }
    for (int i = 0; i < 3; ++i) {
      std::uint64_t length = 0;
      if (!in_.take_little_endian(length) || !in_.skip(length))
        return in_.error("a string of the header is longer than the file");
    }
    auto sessions = count(8, "sessions");
    if (!sessions) return sessions.error();
    for (std::uint64_t s = 0; s < *sessions; ++s) {
      auto txns = count(9, "transactions");
      if (!txns) return txns.error();
      for (std::uint64_t i = 0; i < *txns; ++i) {
        if (auto done = transaction(static_cast<std::int64_t>(s) + 1); !done) return done.error();
      }
    }
    if (!in_.at_end()) return in_.error("unexpected bytes behind the history");
    b_.count_records();
    return std::move(b_).build_open(&budget_);
  }

 private:
  // A number of items, none of which is smaller than `least` bytes.
  Result<std::uint64_t> count(std::uint64_t least, std::string_view what) {
    std::uint64_t number = 0;
    if (!in_.take_little_endian(number))
      return in_.error(fmt::format("the number of {} is cut off", what));
    if (number > in_.remaining() / least)
      return in_.error(fmt::format("{} {} do not fit in the rest of the file", number, what));
    return number;
  }

  Result<bool> flag(std::string_view what) {
    std::uint8_t byte = 0;
    if (!in_.take_byte(byte)) return in_.error(fmt::format("{} is cut off", what));
    if (byte > 1) return in_.error(fmt::format("{} is neither 0 nor 1", what));
    return byte == 1;
  }

  Result<void> transaction(std::int64_t session) {
    auto events = count(18, "events");
    if (!events) return events.error();
    const SessionId s = b_.session(session);
    const TxnId t = b_.begin(s, TxnStatus::Committed, {record_ + 1, here()});
    failed_.clear();
    for (std::uint64_t i = 0; i < *events; ++i) {
      if (budget_.expired()) return limit_error("reading the input");
      const Place place{++record_, here()};
      auto is_write = flag("the kind of an event");
      if (!is_write) return is_write.error();
      std::uint64_t variable = 0;
      std::uint64_t value = 0;
      if (!in_.take_little_endian(variable) || !in_.take_little_endian(value))
        return in_.error("an event is cut off");
      auto success = flag("the success of an event");
      if (!success) return success.error();
      const KeyId x = unsigned_key(b_, variable);
      const Value v = unsigned_value(b_, value);
      if (*is_write && *success) {
        b_.write(t, x, v, place);
      } else if (*is_write) {
        failed_.push_back({x, v, place});
      } else if (*success) {
        b_.read(t, x, v, place);
      }
    }
    auto success = flag("the success of a transaction");
    if (!success) return success.error();
    if (!*success) b_.set_status(t, TxnStatus::Aborted);
    for (const auto& [x, v, place] : failed_) {
      const TxnId writer = *success ? b_.begin(s, TxnStatus::Aborted, place) : t;
      b_.write(writer, x, v, place);
    }
    return {};
  }

  struct FailedWrite {
    KeyId x;
    Value value;
    Place place;
  };

  // Where the cursor is, as the column of a place.
  std::uint32_t here() const { return static_cast<std::uint32_t>(in_.offset() + 1); }

  ByteCursor in_;
  Budget budget_;
  HistoryBuilder b_{InitialValues::Zero};
  std::vector<FailedWrite> failed_;  // of the transaction at hand
  std::uint32_t record_ = 0;         // events so far
};

}  // namespace

Result<History> read_dbcop_bincode(std::string_view bytes, const Budget& budget) {
  return BincodeReader(bytes, budget).read();
}

}  // namespace isoscope
