#include "explore/team.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <sstream>

#include "explore/team_member.h"
#include "support/assert.h"
#include "support/output.h"

namespace isoscope::explore {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kMagic = "isoscope-checkpoint/2\n";
constexpr std::chrono::microseconds kLookAlone{100'000};
// How long it waits for a piece that it asked for before it asks another member.
constexpr std::chrono::microseconds kPatience{2'000};

class Leader {
 public:
  Leader(const TeamOptions& options, Control& control, Pool& pool, Findings& findings)
      : options_(options),
        budget_(options.budget),
        control_(control),
        pool_(pool),
        findings_(findings),
        others_(options.transport != nullptr ? options.transport->size() : 1) {}

  Result<void> run(Piece root) {
    if (options_.checkpoint.resumes) {
      if (auto loaded = load(); !loaded) {
        control_.stop();
        finish();
        return loaded;
      }
    } else {
      pool_.give(std::move(root));
    }
    Result<void> written;
    auto last_written = Clock::now();
    while (written.ok() && !is_done() && !control_.is_stopped()) {
      pool_.wait(others_.size() > 1 ? kLook : kLookAlone);
      look();
      distribute();
      if (options_.checkpoint.path.empty()) continue;
      const bool is_over = budget_.expired_now();
      const std::chrono::duration<double> age = Clock::now() - last_written;
      if (!is_over && age.count() < options_.checkpoint.seconds) continue;
      written = write();
      last_written = Clock::now();
      if (is_over) control_.stop_undecided();
    }
    if (!written) control_.stop();
    // Whoever takes up a finished exploration has its answer.
    if (!options_.checkpoint.path.empty() && !control_.is_stopped()) written = write();
    finish();
    return written;
  }

 private:
  struct Other {
    std::uint64_t num_sent = 0;
    std::uint64_t num_received = 0;
    unsigned num_idle = 0;
    bool is_idle = true;
    std::string state = {};
    bool has_state = false;
  };

  bool is_done() {
    look();
    if (!pool_.news().is_idle) return false;
    for (std::size_t i = 1; i < others_.size(); ++i) {
      if (!others_[i].is_idle || others_[i].num_received != others_[i].num_sent) return false;
    }
    return true;
  }

  // Reads all messages.
  void look() {
    if (others_.size() == 1) return;
    while (auto incoming = options_.transport->receive()) hear(incoming->from, incoming->message);
    if (const auto bound = control_.new_bound()) tell_all(bound_message(*bound));
  }

  void hear(std::size_t from, const std::string& bytes) {
    Unpacker in(bytes);
    Other& other = others_[from];
    switch (static_cast<Message>(in.number())) {
      case Message::Status:
        other.num_received = in.number();
        other.num_idle = in.small();
        other.is_idle = in.number() != 0;
        if (in.number() != 0 && !control_.is_stopped()) control_.stop_undecided();
        break;
      case Message::Piece:
        (void)in.number();
        pool_.give(unpack_piece(in));
        break;
      case Message::Opened: {
        const JoinId id = in.number();
        pool_.put_join(id, {.num_missing = in.small()});
        break;
      }
      case Message::Arrival: {
        Arrival arrival{.join = in.number()};
        const bool is_rest = in.number() != 0;
        Piece piece = unpack_piece(in);
        if (is_rest) {
          arrival.rest = std::move(piece);
        } else {
          arrival.added = std::move(piece.added);
        }
        pool_.arrive(std::move(arrival));
        break;
      }
      case Message::Bound: control_.stop_behind(in.numbers()); break;
      case Message::State:
        other.state = in.text();
        other.has_state = true;
        break;
      default: ISO_ASSERT(false);
    }
    ISO_ASSERT(in.is_good());
  }

  // Sends pieces to those who have nothing to do, or asks for some.
  void distribute() {
    unsigned num_wanted = 0;
    for (std::size_t i = 1; i < others_.size(); ++i) {
      Other& other = others_[i];
      const std::uint64_t num_on_the_way = other.num_sent - other.num_received;
      for (std::uint64_t want = num_on_the_way; want < other.num_idle; ++want) {
        auto piece = pool_.take();
        if (!piece) {
          ++num_wanted;
          continue;
        }
        tell(i, piece_message(*piece, pool_.epoch()));
        ++other.num_sent;
      }
    }
    pool_.want(num_wanted);
    if (num_wanted > 0 || pool_.is_hungry()) ask_for_pieces();
  }

  void ask_for_pieces() {
    if (others_.size() == 1 || Clock::now() - last_asked_ < kPatience) return;
    last_asked_ = Clock::now();
    for (std::size_t i = 1; i < others_.size(); ++i) {
      next_asked_ = next_asked_ % (others_.size() - 1) + 1;
      if (others_[next_asked_].is_idle) continue;
      return tell(next_asked_, message(Message::Share).take());
    }
  }

  void tell(std::size_t to, std::string bytes) {
    options_.transport->send(static_cast<unsigned>(to), std::move(bytes));
  }
  void tell_all(const std::string& bytes) {
    for (std::size_t i = 1; i < others_.size(); ++i) tell(i, bytes);
  }

  // Waits until every member has sent what was found.
  void wait_for_states() {
    for (std::size_t i = 1; i < others_.size(); ++i) {
      while (!others_[i].has_state) {
        pool_.wait(kLook);
        look();
      }
      others_[i].has_state = false;
    }
  }

  // All members put back what is left to do; then all of it is written down, and they go on.
  Result<void> write() {
    pool_.drain();
    tell_all(message(Message::Drain).take());
    wait_for_states();
    while (!pool_.is_drained()) pool_.wait(kLook);
    Packer out;
    out.text(options_.checkpoint.identity).number(others_.size());
    out.text(findings_.packed());
    for (std::size_t i = 1; i < others_.size(); ++i) out.text(others_[i].state);
    pool_.pack_all(out);
    auto written = write_whole(options_.checkpoint.path, std::string(kMagic) + out.take());
    pool_.go_on();
    tell_all(message(Message::GoOn).take());
    return written;
  }

  Result<void> load() {
    const std::string& path = options_.checkpoint.path;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      return Error{.what = fmt::format("cannot open '{}'", path),
                   .hint = "without --resume the exploration begins anew"};
    }
    std::ostringstream text;
    text << file.rdbuf();
    const std::string bytes = std::move(text).str();
    if (!bytes.starts_with(kMagic)) return Error{.what = path + " is no checkpoint"};
    Unpacker in(std::string_view(bytes).substr(kMagic.size()));
    if (in.text() != options_.checkpoint.identity) {
      return Error{.what = path + " is the checkpoint of another exploration",
                   .hint = "--resume needs the same program, levels and options"};
    }
    bool is_good = true;
    for (std::size_t i = in.count(); i-- > 0 && is_good;)
      is_good = in.is_good() && findings_.merge(in.text());
    if (!is_good || !in.is_good() || !pool_.unpack_all(in))
      return Error{.what = path + " is damaged"};
    return {};
  }

  void finish() {
    tell_all(message(Message::Finish).take());
    wait_for_states();
    for (std::size_t i = 1; i < others_.size(); ++i) ISO_ASSERT(findings_.merge(others_[i].state));
    while (control_.is_stopped() && pool_.take()) {
    }
    while (!pool_.news().is_idle) pool_.wait(kLookAlone);
  }

  const TeamOptions& options_;
  Budget budget_;
  Control& control_;
  Pool& pool_;
  Findings& findings_;
  std::vector<Other> others_;  // by rank
  std::size_t next_asked_ = 0;
  Clock::time_point last_asked_ = {};
};

}  // namespace

Result<void> run_team(const TeamOptions& options, Control& control, Findings& findings, Piece root,
                      Pool::Work work) {
  const bool is_alone = options.transport == nullptr || options.transport->size() == 1;
  if (is_alone && options.threads <= 1 && options.checkpoint.path.empty()) {
    work(root);
    return {};
  }
  const unsigned rank = options.transport != nullptr ? options.transport->rank() : 0;
  Pool pool(options.threads, rank, std::move(work));
  control.share_with(pool);
  if (rank == 0) return Leader(options, control, pool, findings).run(std::move(root));
  TeamMember(*options.transport, control, pool, findings).run();
  return {};
}

}  // namespace isoscope::explore
