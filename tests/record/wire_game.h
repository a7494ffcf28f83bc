#pragma once
// Any bytes as what client and server send to each other, without sockets: nothing crashes, what is
// handed on is what came (but for texts with gates and the places in errors, and the column that
// tells), and every transaction that is told is whole.
//
// The input is a list of chunks: a byte whose highest bit says who sends, whose other bits say how
// many bytes follow.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/appender.h"
#include "record/conversation.h"
#include "record/told_log.h"
#include "record/wire.h"
#include "support/assert.h"

namespace isoscope::record {

class WireGame {
 public:
  enum class Way : std::uint8_t { Passes, Gates, Appends };
  // What the first byte of an input says.
  static Way way_of(char first) {
    if ((first & 2) != 0) return Way::Appends;
    return (first & 1) != 0 ? Way::Gates : Way::Passes;
  }

  explicit WireGame(Way way)
      : appender_(
            Appender::of_parts("m:", catalog(), {{"u", "public.t"}, {"u", "public.p"}}, states())),
        gatekeeper_(way == Way::Appends ? &appender_ : nullptr) {
    conversation_ = std::make_unique<Conversation>(
        Transactions(1, Isolation::declared("read committed"),
                     [this](const Client&, RecordedTxn t) {
                       check(t);
                       txns_.emplace_back("s1", std::move(t));
                     }),
        [this] { return ++now_; }, way == Way::Passes ? nullptr : &gatekeeper_);
    conversation_->logs_in("u", false);
    if (way == Way::Appends)
      server_frames_ = Framer(Conversation::kFromTellingServer, kLargestMessage + 1);
  }

  struct Reached {
    std::size_t messages = 0;   // that were understood as such
    std::size_t stripped = 0;   // rows and descriptions without the column that tells
    std::size_t told_rows = 0;  // that are in the log which was put together
  };
  // Plays a whole input.
  Reached play(std::string_view input) {
    while (!input.empty()) {
      const auto head = static_cast<unsigned char>(input[0]);
      input.remove_prefix(1);
      const std::string_view chunk = input.substr(0, head & 0x7FU);
      input.remove_prefix(chunk.size());
      const bool is_server = (head & 0x80U) != 0;
      (is_server ? from_server_ : from_client_) += chunk;
      is_server ? hear_server() : hear_client();
      // What a client sent may have waited for that.
      if (is_server) hear_client();
    }
    if (conversation_) conversation_->ended();
    if (gatekeeper_.appender() != nullptr) put_log_together();
    return reached_;
  }

 private:
  void hear_client() {
    while (conversation_) {
      const Piece piece = client_frames_.next(from_client_);
      if (!is_piece(piece)) return;
      if (piece.kind == Piece::Kind::Message) {
        if (conversation_->must_wait(piece.type, piece.payload())) return;
        ++reached_.messages;
        const std::string replaced = conversation_->from_client(piece.type, piece.payload());
        if (!replaced.empty()) check_replaced(replaced, piece.type);
      } else if (piece.is_first) {
        conversation_->passing_client(piece.type);
      }
      from_client_.erase(0, piece.bytes.size());
    }
  }

  void hear_server() {
    while (conversation_) {
      const Piece piece = server_frames_.next(from_server_);
      if (!is_piece(piece)) return;
      if (piece.kind == Piece::Kind::Message) {
        ++reached_.messages;
        const auto replaced = conversation_->from_server(piece.type, piece.payload());
        if (replaced) check_answer(*replaced, piece);
      } else if (piece.is_first) {
        conversation_->passing_server(piece.type);
      }
      from_server_.erase(0, piece.bytes.size());
    }
  }

  bool is_piece(const Piece& piece) {
    if (piece.kind == Piece::Kind::Incomplete) return false;
    if (piece.kind != Piece::Kind::Broken) return true;
    conversation_->ended();
    conversation_.reset();
    return false;
  }

  static void check_replaced(std::string_view replaced, char type) {
    ISO_ASSERT(replaced[0] == type);
    Framer again(std::string_view(&type, 1));
    ISO_ASSERT(again.next(replaced).bytes.size() == replaced.size());
  }

  // An error has another place; rows and descriptions are what came, but for the last column.
  void check_answer(std::string_view replaced, const Piece& piece) {
    if (piece.type == 'E') return check_replaced(replaced, 'E');
    ISO_ASSERT(gatekeeper_.appender() != nullptr && (piece.type == 'T' || piece.type == 'D'));
    ++reached_.stripped;
    const std::uint16_t columns = Fields(piece.payload()).int16();
    ISO_ASSERT(columns > 0);
    if (replaced.empty()) return;
    if (piece.type == 'T' && replaced[0] == 'n') return check_replaced(replaced, 'n');
    check_replaced(replaced, piece.type);
    constexpr std::size_t kHeader = 5;
    ISO_ASSERT(Fields(replaced.substr(kHeader)).int16() + 1 == columns);
    ISO_ASSERT(piece.payload().substr(2).starts_with(replaced.substr(kHeader + 2)));
  }

  static void check(const RecordedTxn& txn) {
    ISO_ASSERT(txn.start <= txn.end);
    ISO_ASSERT(!txn.statements.empty() || !txn.gaps.empty());
    for (const Gap& gap : txn.gaps) ISO_ASSERT(gap.statement <= txn.statements.size());
  }

  // The tables t (id, v, b) and p (id, c, references t), as a server would describe them.
  static Catalog catalog() {
    Catalog catalog;
    catalog.tables["public.t"] = {.schema = "public",
                                  .name = "t",
                                  .columns = {"id", "v", "b"},
                                  .booleans = {2},
                                  .key = {0},
                                  .key_names = {"id"},
                                  .children = {{"public.p", {1}, true}},
                                  .unique_keys = {{1}}};
    catalog.tables["public.p"] = {.schema = "public",
                                  .name = "p",
                                  .columns = {"id", "c"},
                                  .key = {0},
                                  .key_names = {"id"},
                                  .foreign_keys = {{"public.t", {1}, true}}};
    return catalog;
  }
  static TableStates states() {
    TableState t{.name = "public.t", .writes = 5, .file = "17", .money = "C"};
    TableState p{.name = "public.p", .file = "18", .looks_the_same = false, .money = "C"};
    return {{"17", std::move(t)}, {"18", std::move(p)}};
  }

  // Every row that was told counts as one that the server counted, so that most logs are believed.
  void put_log_together() {
    TableStates after = states();
    for (const auto& [session, txn] : txns_) {
      for (const RecordedStatement& statement : txn.statements) {
        for (const std::string& text : statement.told) {
          const auto told = parse_told(text);
          if (told && after.contains(told->table)) ++after[told->table].writes;
        }
      }
    }
    const Catalog tables = catalog();
    const TableStates before = states();
    const DecodedLog log = told_log(
        txns_,
        {.catalog = tables, .before = before, .after = after, .status_of = [](std::uint64_t id) {
           return id % 3 == 0   ? TxnStatus::Committed
                  : id % 3 == 1 ? TxnStatus::Aborted
                                : TxnStatus::Unknown;
         }});
    std::set<std::uint64_t> gates;
    for (const GateMessage& message : log.messages) ISO_ASSERT(gates.insert(message.gate).second);
    for (const auto& [session, txn] : txns_) {
      check(txn);
      for (const RecordedStatement& statement : txn.statements)
        ISO_ASSERT(statement.gate == 0 || gates.contains(statement.gate));
    }
    for (const LogTxn& txn : log.txns) {
      ISO_ASSERT(txn.xid != 0);
      for (const LogChange& change : txn.changes) {
        ISO_ASSERT(change.values.size() == tables.tables.at(change.table).columns.size());
        ISO_ASSERT(!log.troubles.contains(change.table));
        ++reached_.told_rows;
      }
    }
  }

  Appender appender_;
  Gatekeeper gatekeeper_;
  Microseconds now_ = 0;
  std::string from_client_;
  std::string from_server_;
  Framer client_frames_{Conversation::kFromClient};
  Framer server_frames_{Conversation::kFromServer};
  std::unique_ptr<Conversation> conversation_;
  std::vector<std::pair<std::string, RecordedTxn>> txns_;
  Reached reached_;
};

}  // namespace isoscope::record
