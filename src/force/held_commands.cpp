#include "force/held_commands.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "record/wire.h"

namespace isoscope::force {
namespace {

constexpr int kLookMilliseconds = 10;
// How long what a command leaves behind may go on speaking when the command itself has ended.
constexpr auto kGrace = std::chrono::seconds(2);
constexpr std::size_t kLongestOutput = std::size_t{1} << 16U;

}  // namespace

Result<std::unique_ptr<HeldCommands>> HeldCommands::open(const Options& options,
                                                         std::vector<HeldCommand> commands) {
  std::unique_ptr<HeldCommands> made(new HeldCommands);
  made->options_ = options;
  made->if_killed_ = CleanupIfKilled::of_processes(marked_environment());
  auto monitor = PgMonitor::open(options.dsn.text);
  if (!monitor) return monitor.error();
  made->monitor_ = std::move(*monitor);
  auto recorder =
      RunRecorder::open({.dsn = options.dsn, .doors = commands.size(), .turns = made.get()});
  if (!recorder) return recorder.error();
  made->recorder_ = std::move(*recorder);
  for (HeldCommand& command : commands) {
    Actor actor{.command = std::move(command)};
    actor.has_begun = actor.command.begins_with.empty();
    made->actors_.push_back(std::move(actor));
  }
  return made;
}

HeldCommands::~HeldCommands() {
  close();
  for (const Actor& a : actors_)
    if (a.output >= 0) ::close(a.output);
}

Result<void> HeldCommands::launch(ActorId actor) {
  Actor& a = actors_[actor];
  a.output = static_cast<int>(::memfd_create("isoscope-output", MFD_CLOEXEC));
  auto environment =
      record::client_environment(options_.dsn, "127.0.0.1", recorder_->proxy().port(actor.index));
  environment.emplace_back("ISOSCOPE_SESSION", a.command.name);
  environment.push_back(mark_of_commands());
  auto started = record::CommandProcess::start({"/bin/sh", "-c", a.command.text}, environment,
                                               {.has_own_group = true, .output = a.output});
  if (!started) return started.error();
  a.process = std::move(*started);
  return {};
}

Result<void> HeldCommands::start(Budget& budget) {
  for (const ActorId actor : actors_.ids()) {
    if (auto launched = launch(actor); !launched) return launched;
    while (state(actor) == ActorState::Thinking && !budget.expired_now()) {
      if (auto pumped = pump(kLookMilliseconds); !pumped) return pumped;
      auto waiting = waits();
      if (!waiting) return waiting.error();
      // Only what is not held can be out, and it waits for one that is held.
      const auto stuck =
          std::ranges::find_if(*waiting, [](const Wait& wait) { return !wait.holders.empty(); });
      if (stuck == waiting->end()) continue;
      return Error{.what = fmt::format("session {} waits for session {} before the statement that "
                                       "the plan begins with",
                                       actors_[stuck->actor].command.name,
                                       actors_[stuck->holders.front()].command.name),
                   .hint = "the commands must not depend on each other before that"};
    }
  }
  return {};
}

Result<void> HeldCommands::run_freely(ActorId actor, Budget& budget) {
  actors_[actor].is_free = true;
  if (auto launched = launch(actor); !launched) return launched;
  while (state(actor) != ActorState::Done && !budget.expired_now())
    if (auto pumped = pump(kLookMilliseconds); !pumped) return pumped;
  return {};
}

bool HeldCommands::is_over(const Actor& a, ActorId actor) const {
  return a.exit_code && std::ranges::none_of(connections_, [&](const auto& entry) {
           return entry.second.actor == actor;
         });
}

ActorState HeldCommands::state(ActorId actor) const {
  const Actor& a = actors_[actor];
  bool is_held = false;
  for (const auto& [number, c] : connections_) {
    if (c.actor != actor) continue;
    if (c.turn.is_open) return ActorState::Busy;
    is_held |= c.held.has_value();
  }
  if (is_held || a.credit > 0) return ActorState::Ready;
  return is_over(a, actor) ? ActorState::Done : ActorState::Thinking;
}

HeldCommands::Connection* HeldCommands::held_of(ActorId actor) {
  for (auto& [number, c] : connections_)
    if (c.actor == actor && c.held) return &c;
  return nullptr;
}

Result<void> HeldCommands::release(ActorId actor) {
  Actor& a = actors_[actor];
  if (a.credit > 0) {
    --a.credit;
    a.turns.push_back(a.sent.ids().back());
    return {};
  }
  Choice choice{.chosen = actor};
  // Whose turn it could be is only known when none is between statements.
  const auto thinks = [&](ActorId other) { return state(other) == ActorState::Thinking; };
  while (!options_.gives_credit && std::ranges::any_of(actors_.ids(), thinks) &&
         !options_.budget.expired_now())
    if (auto pumped = pump(kLookMilliseconds); !pumped) return pumped;
  for (const ActorId other : actors_.ids())
    if (state(other) == ActorState::Ready) choice.ready.push_back(other);
  choices_.push_back(std::move(choice));
  Connection* c = held_of(actor);
  ISO_ASSERT(c != nullptr);
  a.turns.push_back(a.sent.next_id());
  a.sent.push_back(std::move(*c->held));
  c->held.reset();
  c->turn = {.is_open = true};
  if (options_.gives_credit && !a.sent.back().steps.empty())
    a.credit = a.sent.back().steps.size() - 1;
  return {};
}

Result<void> HeldCommands::pump(int milliseconds) {
  recorder_->proxy().step(milliseconds);
  reap();
  return {};
}

void HeldCommands::reap() {
  for (Actor& a : actors_) {
    if (!a.process) continue;
    if (!a.exit_code) {
      a.exit_code = a.process->exit_code();
      if (a.exit_code) a.ended = Budget::Clock::now();
    } else if (a.ended && Budget::Clock::now() - *a.ended > kGrace) {
      a.process->send(SIGKILL);  // what the command has left behind
      a.ended.reset();
    }
  }
}

Result<std::vector<Wait>> HeldCommands::waits() {
  // The monitor is asked about connections, of which an actor may have several.
  ById<ActorId, int> pids;
  for (const auto& [number, c] : connections_) pids.push_back(c.pid);
  const auto connection_of = [&](ActorId asked) -> const Connection& {
    return std::next(connections_.begin(), static_cast<std::ptrdiff_t>(asked.index))->second;
  };
  auto found = monitor_->waits(pids);
  if (!found) return found.error();
  std::vector<Wait> waits;
  for (const Wait& wait : *found) {
    const Connection& connection = connection_of(wait.actor);
    if (connection.unanswered == 0) continue;
    Wait told{.actor = connection.actor, .is_outside = wait.is_outside};
    for (const ActorId holder : wait.holders) told.holders.push_back(connection_of(holder).actor);
    if (connection.turn.is_open) actors_[told.actor].sent.back().has_waited = true;
    waits.push_back(std::move(told));
  }
  return waits;
}

void HeldCommands::came(std::uint32_t connection, std::size_t door) {
  const ActorId actor{static_cast<std::uint32_t>(door)};
  connections_[connection].actor = actor;
  actor_of_[connection] = actor;
}

void HeldCommands::left(std::uint32_t connection) {
  const auto gone = connections_.find(connection);
  if (gone == connections_.end()) return;
  // A client that was killed leaves its statement at work: the server does not look for it.
  const Connection& c = gone->second;
  if (c.unanswered > 0 && c.pid != 0) cancel_statement(options_.dsn.server, c.pid, c.secret);
  connections_.erase(gone);
}

std::string HeldCommands::text_of(const Connection& c, char type, std::string_view payload) const {
  record::Fields fields(payload);
  if (type == 'Q') return std::string(fields.string());
  if (type == 'F') return "(function call)";
  fields.string();  // of P the statement's name, of B the portal's
  const std::string_view text = fields.string();
  if (type == 'P') return std::string(text);
  const auto known = c.prepared.find(text);
  return known == c.prepared.end() ? std::string() : known->second;
}

void HeldCommands::note_passing(Connection& c, char type) {
  c.turn.has_execute |= type == 'Q' || type == 'E' || type == 'F';
  const bool is_request = type == 'Q' || type == 'S' || type == 'F';
  if (!is_request) return;
  ++c.unanswered;
  if (c.turn.is_open && c.turn.has_execute) c.turn.is_sealed = true;
}

// Sets what is held if it does not.
bool HeldCommands::passes_by_itself(Connection& c, char type, std::string_view payload) {
  Actor& a = actors_[c.actor];
  SentRequest request{.text = text_of(c, type, payload)};
  request.steps =
      type == 'F' ? steps_of("CALL f()", c.is_in_block) : steps_of(request.text, c.is_in_block);
  if (request.steps.empty()) return true;
  if (!a.has_begun) {
    a.has_begun = std::ranges::any_of(request.steps, [&](const RequestStep& step) {
      return step.shape == a.command.begins_with;
    });
    if (!a.has_begun) return true;
  }
  c.held = std::move(request);
  return false;
}

bool HeldCommands::lets_pass(std::uint32_t connection, char type, std::string_view payload) {
  Connection& c = connections_[connection];
  if (c.held) return false;
  const bool opens = type == 'Q' || type == 'P' || type == 'B' || type == 'F';
  const bool is_inside = c.turn.is_open && !c.turn.is_sealed;
  // A request that was sent ahead waits until the one before it is over, and then for its turn.
  if (opens && c.turn.is_open && c.turn.is_sealed) return false;
  if (opens && !is_inside && !actors_[c.actor].is_free && !passes_by_itself(c, type, payload))
    return false;
  if (type == 'P') {
    record::Fields fields(payload);
    const std::string name(fields.string());
    c.prepared[name] = fields.string();
  }
  note_passing(c, type);
  return true;
}

void HeldCommands::heard(std::uint32_t connection, char type, std::string_view payload) {
  Connection& c = connections_[connection];
  Actor& a = actors_[c.actor];
  record::Fields fields(payload);
  if (type == 'K') {
    c.pid = static_cast<int>(fields.int32());
    c.secret = fields.int32();
    pids_.push_back(c.pid);
    c.if_killed = CleanupIfKilled::of_statement(options_.dsn.server, c.pid, c.secret);
  } else if (type == 'C' && c.turn.is_open) {
    a.sent.back().tag = fields.string();
  } else if (type == 'E' && c.turn.is_open) {
    a.sent.back().error = record::error_field(payload, 'C');
  } else if (type == 'Z') {
    c.is_in_block = fields.byte() != 'I';
    if (c.unanswered > 0) --c.unanswered;
    if (c.turn.is_sealed && c.unanswered == 0) c.turn = {};
  }
}

std::string HeldCommands::output(ActorId actor) const {
  const int file = actors_[actor].output;
  if (file < 0) return {};
  std::string text(kLongestOutput, '\0');
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

void HeldCommands::close() {
  if (is_closed_) return;
  is_closed_ = true;
  for (const auto& [number, c] : connections_)
    if (c.unanswered > 0 && c.pid != 0) cancel_statement(options_.dsn.server, c.pid, c.secret);
  for (const Actor& a : actors_)
    if (a.process) a.process->send(SIGKILL);
  while (std::ranges::any_of(actors_, [](const Actor& a) { return a.process && !a.exit_code; })) {
    reap();
    ::poll(nullptr, 0, 1);
  }
  kill_processes(marked_environment());  // those that have left their group
  if (recorder_ != nullptr) recorder_->close();
  if (monitor_ == nullptr || pids_.empty()) return;
  for (int i = 0; i < 500; ++i) {
    auto left = monitor_->query(fmt::format(
        "SELECT 1 FROM pg_stat_activity WHERE pid = ANY (ARRAY[{}])", fmt::join(pids_, ",")));
    if (!left || left->empty()) return;
    ::poll(nullptr, 0, 4);
  }
}

RecordedRun HeldCommands::judge(Budget& budget) {
  // The first connection of a command is its session; further ones have names of their own.
  std::map<ActorId, std::vector<std::uint32_t>> connections;
  for (const auto& [client, txn] : recorder_->txns()) {
    auto& known = connections[actor_of_[client.connection]];
    if (std::ranges::find(known, client.connection) == known.end())
      known.push_back(client.connection);
  }
  return recorder_->judge(
      [&](const record::Client& client) {
        const ActorId actor = actor_of_[client.connection];
        const auto& known = connections[actor];
        const auto place = std::ranges::find(known, client.connection) - known.begin();
        const std::string& name = actors_[actor].command.name;
        return place == 0 ? name : fmt::format("{}/{}", name, place + 1);
      },
      budget);
}

}  // namespace isoscope::force
