#pragma once
// Any bytes as what client and server send to each other, without sockets: nothing crashes, what is
// handed on is what came (but for texts with gates and the places in errors), and every transaction
// that is told is whole.
//
// The input is a list of chunks: a byte whose highest bit says who sends, whose other bits say how
// many bytes follow.
#include <cstdint>
#include <string>
#include <string_view>

#include "record/conversation.h"
#include "record/wire.h"
#include "support/assert.h"

namespace isoscope::record {

class WireGame {
 public:
  explicit WireGame(bool gates) {
    conversation_ = std::make_unique<Conversation>(
        Transactions(1, "read committed", [](const Client&, const RecordedTxn& t) { told(t); }),
        [this] { return ++now_; }, gates ? &gatekeeper_ : nullptr);
  }

  // Plays a whole input. Returns how many messages were understood as such.
  std::size_t play(std::string_view input) {
    while (!input.empty()) {
      const auto head = static_cast<unsigned char>(input[0]);
      input.remove_prefix(1);
      const std::string_view chunk = input.substr(0, head & 0x7FU);
      input.remove_prefix(chunk.size());
      side((head & 0x80U) != 0, chunk);
    }
    if (conversation_) conversation_->ended();
    return messages_;
  }

 private:
  void side(bool is_server, std::string_view bytes) {
    std::string& unread = is_server ? from_server_ : from_client_;
    Framer& frames = is_server ? server_frames_ : client_frames_;
    unread += bytes;
    while (conversation_) {
      const Piece piece = frames.next(unread);
      if (piece.kind == Piece::Kind::Incomplete) return;
      if (piece.kind == Piece::Kind::Broken) {
        conversation_->ended();
        conversation_.reset();
        return;
      }
      if (piece.kind == Piece::Kind::Message) {
        ++messages_;
        const std::string replaced =
            is_server ? conversation_->from_server(piece.type, piece.payload()).value_or("")
                      : conversation_->from_client(piece.type, piece.payload());
        if (!replaced.empty()) {
          ISO_ASSERT(replaced[0] == piece.type);
          Framer again("QPE");
          ISO_ASSERT(again.next(replaced).bytes.size() == replaced.size());
        }
      } else if (piece.is_first && is_server) {
        conversation_->passing_server(piece.type);
      } else if (piece.is_first) {
        conversation_->passing_client(piece.type);
      }
      unread.erase(0, piece.bytes.size());
    }
  }

  static void told(const RecordedTxn& txn) {
    ISO_ASSERT(txn.start <= txn.end);
    ISO_ASSERT(!txn.statements.empty() || !txn.gaps.empty());
    for (const Gap& gap : txn.gaps) ISO_ASSERT(gap.statement <= txn.statements.size());
  }

  Gatekeeper gatekeeper_;
  Microseconds now_ = 0;
  std::string from_client_;
  std::string from_server_;
  Framer client_frames_{Conversation::kFromClient};
  Framer server_frames_{Conversation::kFromServer};
  std::unique_ptr<Conversation> conversation_;
  std::size_t messages_ = 0;
};

}  // namespace isoscope::record
