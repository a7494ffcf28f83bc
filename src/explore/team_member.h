#pragma once
// What the processes of a team say to each other, and what those do that do not lead.
#include <chrono>
#include <string>

#include "explore/team.h"
#include "support/assert.h"

namespace isoscope::explore {

// How long a process sleeps between two looks at its messages.
inline constexpr std::chrono::microseconds kLook{300};

enum class Message : std::uint8_t {
  Status,
  Piece,
  Opened,
  Arrival,
  Bound,
  State,
  Share,
  Drain,
  GoOn,
  Finish,
  Ready,
  Agreed,
};

inline Packer message(Message kind) {
  Packer out;
  out.number(static_cast<std::uint64_t>(kind));
  return out;
}

inline std::string piece_message(const Piece& piece, std::uint32_t epoch) {
  Packer out = message(Message::Piece);
  out.number(epoch);
  pack(out, piece);
  return out.take();
}

inline std::string bound_message(const Path& path) {
  return message(Message::Bound).numbers(path).take();
}

// What a process other than the leader does: work, report, obey.
class TeamMember {
 public:
  TeamMember(Transport& transport, Control& control, Pool& pool, Findings& findings)
      : transport_(transport), control_(control), pool_(pool), findings_(findings) {}

  void run() {
    while (!is_finished_) {
      pool_.wait(kLook);
      while (auto incoming = transport_.receive()) obey(incoming->message);
      if (is_finished_) return;
      tell_news();
      if (must_drain_ && pool_.is_drained()) put_all_back();
    }
  }

 private:
  void obey(const std::string& bytes) {
    Unpacker in(bytes);
    switch (static_cast<Message>(in.number())) {
      case Message::Piece:
        pool_.set_epoch(in.small());
        pool_.give(unpack_piece(in));
        ++num_received_;
        break;
      case Message::Share: pool_.want(1); break;
      case Message::Bound:
        control_.stop_behind(in.numbers());
        (void)control_.new_bound();  // the leader knows it
        break;
      case Message::Drain:
        pool_.drain();
        must_drain_ = true;
        break;
      case Message::GoOn: pool_.go_on(); break;
      case Message::Finish:
        control_.stop();
        while (!pool_.news().is_idle && pool_.take()) {
        }
        pool_.wait(std::chrono::seconds(600));
        tell_state();
        is_finished_ = true;
        break;
      default: ISO_ASSERT(false);
    }
  }

  void tell_news() {
    Pool::News news = pool_.news();
    for (const Pool::Opened& opened : news.opened)
      tell(message(Message::Opened).number(opened.join).number(opened.num_parts));
    for (const Arrival& arrival : news.arrivals) {
      Packer out = message(Message::Arrival);
      out.number(arrival.join).number(arrival.rest ? 1 : 0);
      Piece piece = arrival.rest.value_or(Piece{});
      if (!arrival.rest) piece.added = arrival.added;
      pack(out, piece);
      tell(std::move(out));
    }
    for (const Piece& piece : news.to_others)
      transport_.send(0, piece_message(piece, pool_.epoch()));
    if (const auto bound = control_.new_bound()) transport_.send(0, bound_message(*bound));
    const bool is_stopped = control_.is_stopped();
    std::string status = message(Message::Status)
                             .number(num_received_)
                             .number(news.num_idle)
                             .number(news.is_idle ? 1 : 0)
                             .number(is_stopped ? 1 : 0)
                             .take();
    if (status == last_status_) return;
    transport_.send(0, status);
    last_status_ = std::move(status);
  }

  void put_all_back() {
    tell_news();
    while (const auto piece = pool_.take())
      transport_.send(0, piece_message(*piece, pool_.epoch()));
    tell_news();
    tell_state();
    must_drain_ = false;
  }

  void tell(Packer out) { transport_.send(0, out.take()); }
  void tell_state() { tell(message(Message::State).text(findings_.packed())); }

  Transport& transport_;
  Control& control_;
  Pool& pool_;
  Findings& findings_;
  std::uint64_t num_received_ = 0;
  std::string last_status_;
  bool must_drain_ = false;
  bool is_finished_ = false;
};

}  // namespace isoscope::explore
