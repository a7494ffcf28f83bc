#include "record/proxy.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "record/conversation.h"
#include "record/gatekeeper.h"
#include "record/sockets.h"
#include "record/turns.h"
#include "record/wire.h"

namespace isoscope::record {
namespace {

// What a server says that cannot be reached: the client shows it to its user.
std::string refusal(const std::string& why) {
  std::string payload = "SFATAL";
  payload += '\0';
  payload += "VFATAL";
  payload += '\0';
  payload += "C08001";
  payload += '\0';
  payload += "Misoscope record: " + why;
  payload += '\0';
  payload += '\0';
  return message_of('E', payload);
}

}  // namespace

// How much of a client's requests is kept while they are held.
constexpr std::size_t kMostHeld = std::size_t{1} << 20U;

// One client, and the connection to the server that is made for it.
struct Link {
  std::size_t door = 0;
  std::uint32_t connection = 0;  // once its protocol is known
  bool is_held = false;          // a request waits for its turn
  Socket client;
  Socket server;
  std::string from_client;  // what is not handed on yet
  std::string from_server;
  Framer client_frames{Conversation::kFromClient};
  Framer server_frames{Conversation::kFromServer};
  std::unique_ptr<Conversation> conversation;  // none: bytes pass without being looked at
  bool is_starting = true;                     // before the start packet
  bool is_asking_tls = false;                  // the server was asked, and has not answered
  std::string first;                           // what it gets then
  std::string server_trouble;                  // what is wrong with its TLS
  bool is_logging_in = true;                   // until the server says that the client is in
  bool has_answered = false;                   // the server, at least once
  bool is_closing = false;  // one side is gone: the other gets what is left, then it is closed
  bool is_over = false;

  // Is the way to the server still being made? What it is to get then waits.
  bool is_opening() const {
    return is_asking_tls || (server.tls() != nullptr && !server.tls()->is_ready());
  }
};

struct Proxy::State {
  ProxyOptions options;
  TxnSink sink;
  std::vector<Socket> listeners;  // by door
  std::vector<int> ports;
  std::list<Link> links;
  ProxyNumbers numbers;
  std::uint32_t next_connection = 1;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  Microseconds now() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                                 began)
        .count();
  }
  void accept(std::size_t door);
  void connect(Link& link);
  void start(Link& link);
  bool start_packet(Link& link, const Piece& packet);
  void answer_tls(Link& link);
  bool tell_binding(Link& link, const Piece& piece);
  std::optional<std::string> without_binding(Link& link, const Piece& piece) const;
  void refuse(Link& link, const std::string& why);
  void forward_client(Link& link);
  void forward_server(Link& link);
  void go_blind(Link& link);
  void leave(Link& link);
  void work(Link& link, short client_events, short server_events);
  void finish(Link& link);
};

void Proxy::State::accept(std::size_t door) {
  for (;;) {
    Socket client = accept_from(listeners[door]);
    if (!client.is_open()) return;
    links.emplace_back().client = std::move(client);
    links.back().door = door;
    ++numbers.connections;
  }
}

void Proxy::State::connect(Link& link) {
  auto server = connect_to(options.server);
  if (!server) return refuse(link, server.error().what);
  link.server = std::move(*server);
  if (!options.server_tls) return;
  std::string request;
  append_int32(request, 8);
  append_int32(request, kTlsRequest);
  link.server.send(request);
  link.is_asking_tls = true;
}

void Proxy::State::refuse(Link& link, const std::string& why) {
  ++numbers.refused;
  link.client.send(refusal(why));
  link.is_closing = true;
  link.is_asking_tls = false;
}

// The server says in one byte whether it speaks TLS; an error is handed on.
void Proxy::State::answer_tls(Link& link) {
  const char answer = link.from_server[0];
  if (answer == 'E') {
    link.is_asking_tls = false;
    return;
  }
  // Bytes that follow in clear were not sent by who is asked.
  if (answer != 'S' || link.from_server.size() > 1)
    return refuse(link, "the server does not speak TLS, and sslmode in --dsn asks for it");
  link.from_server.clear();
  link.is_asking_tls = false;
  link.has_answered = false;
  link.server.start_tls(*options.server_tls);
  link.server.send(link.first);
  link.first.clear();
}

// What is no protocol of ours is handed on without being looked at.
void Proxy::State::go_blind(Link& link) {
  ++numbers.opaque;
  if (link.conversation) link.conversation->ended();
  link.conversation.reset();
  leave(link);
}

void Proxy::State::leave(Link& link) {
  if (options.turns != nullptr && link.connection != 0) options.turns->left(link.connection);
  link.connection = 0;
  link.is_held = false;
}

// Returns whether another start packet may follow.
bool Proxy::State::start_packet(Link& link, const Piece& packet) {
  Fields fields(packet.payload());
  const std::uint32_t code = fields.int32();
  if (code == kTlsRequest && options.client_tls && link.client.tls() == nullptr) {
    // Bytes that follow in clear were not sent by the client that asked.
    if (link.from_client.size() > packet.bytes.size()) {
      refuse(link, "unencrypted bytes after the request for TLS");
      return false;
    }
    link.client.send("S");
    link.client.start_tls(*options.client_tls);
    return true;
  }
  if (code == kTlsRequest || code == kGssRequest) {
    link.client.send("N");
    return true;
  }
  if (options.requires_tls && link.client.tls() == nullptr && code != kCancelRequest) {
    link.is_starting = false;
    refuse(link, "TLS is required here; connect with sslmode=require");
    return false;
  }
  link.is_starting = false;
  connect(link);
  if (!link.server.is_open()) return false;
  if (link.is_asking_tls) {
    link.first = packet.bytes;
  } else {
    link.server.send(packet.bytes);
  }
  if (code == kCancelRequest) {
    ++numbers.cancels;
    return false;
  }
  if (code >> 16U != kProtocol3 >> 16U) {
    go_blind(link);
    return false;
  }
  std::string application;
  std::string user;
  bool has_own_role = false;
  bool replicates = false;
  while (!fields.has_failed()) {
    const std::string_view name = fields.string();
    if (name.empty()) break;
    const std::string_view value = fields.string();
    if (name == "application_name") application = value;
    if (name == "user") user = value;
    // The role may be among the settings of a login.
    has_own_role |= name == "role" || name == "session_authorization" ||
                    (name == "options" && (value.find("role") != std::string_view::npos ||
                                           value.find("auth") != std::string_view::npos));
    replicates |= name == "replication" && value != "false" && value != "off" && value != "0";
  }
  if (replicates) {
    go_blind(link);
    return false;
  }
  link.connection = next_connection++;
  link.conversation = std::make_unique<Conversation>(
      Transactions(link.connection, options.default_isolation, sink), [this] { return now(); },
      options.gates);
  if (options.turns != nullptr) options.turns->came(link.connection, link.door);
  link.conversation->called(std::move(application));
  link.conversation->logs_in(std::move(user), has_own_role);
  if (options.gates != nullptr && options.gates->appender() != nullptr)
    link.server_frames = Framer(Conversation::kFromTellingServer, kLargestMessage + 1);
  return false;
}

void Proxy::State::start(Link& link) {
  while (link.is_starting && !link.is_closing) {
    const Piece packet = Framer::next_start_packet(link.from_client);
    if (packet.kind == Piece::Kind::Incomplete) return;
    if (packet.kind == Piece::Kind::Broken) {
      link.is_starting = false;
      if (options.requires_tls && link.client.tls() == nullptr)
        return refuse(link, "TLS is required here; connect with sslmode=require");
      connect(link);
      go_blind(link);
      return;
    }
    const std::size_t size = packet.bytes.size();
    start_packet(link, packet);
    link.from_client.erase(0, size);
  }
}

void Proxy::State::forward_client(Link& link) {
  if (link.is_starting) start(link);
  if (link.is_starting || link.is_asking_tls || link.is_closing || !link.server.is_open()) return;
  std::size_t taken = 0;
  while (link.conversation) {
    const Piece piece = link.client_frames.next(std::string_view(link.from_client).substr(taken));
    if (piece.kind == Piece::Kind::Incomplete) break;
    if (piece.kind == Piece::Kind::Broken) {
      go_blind(link);
      break;
    }
    if (link.is_logging_in && piece.type == 'p' && tell_binding(link, piece)) return;
    if (piece.kind == Piece::Kind::Message) {
      link.is_held = options.turns != nullptr &&
                     !options.turns->lets_pass(link.connection, piece.type, piece.payload());
      link.is_held |= link.conversation->must_wait(piece.type, piece.payload());
      if (link.is_held) break;
      const std::string replaced = link.conversation->from_client(piece.type, piece.payload());
      link.server.send(replaced.empty() ? piece.bytes : replaced);
    } else {
      if (piece.is_first) link.conversation->passing_client(piece.type);
      link.server.send(piece.bytes);
    }
    taken += piece.bytes.size();
  }
  link.from_client.erase(0, taken);
  if (!link.conversation) {
    link.server.send(link.from_client);
    link.from_client.clear();
  }
}

// Has the client chosen to bind its login to a certificate that is not the server's? Then it is
// told.
bool Proxy::State::tell_binding(Link& link, const Piece& piece) {
  if (link.client.tls() == nullptr || link.server.tls() == nullptr) return false;
  constexpr std::size_t kHeader = 5;
  if (!piece.bytes.substr(std::min(kHeader, piece.bytes.size())).starts_with("SCRAM-SHA-256-PLUS"))
    return false;
  if (options.client_tls->certificate() == link.server.tls()->peer_certificate()) return false;
  refuse(link,
         "SCRAM-SHA-256-PLUS binds the login to the server's certificate, and the recorder shows "
         "another: give it the server's own certificate and key (--tls-cert, --tls-key), or "
         "connect with channel_binding=disable");
  return true;
}

// A client without TLS that is offered channel binding ends: it is offered the rest.
std::optional<std::string> Proxy::State::without_binding(Link& link, const Piece& piece) const {
  constexpr std::uint32_t kSasl = 10;
  Fields fields(piece.payload());
  if (link.client.tls() != nullptr || link.server.tls() == nullptr || fields.int32() != kSasl)
    return std::nullopt;
  std::string payload;
  append_int32(payload, kSasl);
  bool has_binding = false;
  for (std::string_view name = fields.string(); !name.empty(); name = fields.string()) {
    if (name == "SCRAM-SHA-256-PLUS") {
      has_binding = true;
    } else {
      payload += name;
      payload += '\0';
    }
  }
  payload += '\0';
  return has_binding ? std::optional(message_of('R', payload)) : std::nullopt;
}

void Proxy::State::forward_server(Link& link) {
  if (link.is_asking_tls && !link.from_server.empty()) answer_tls(link);
  if (link.is_asking_tls || (link.is_closing && !link.client.is_open())) return;
  std::size_t taken = 0;
  while (link.conversation) {
    const Piece piece = link.server_frames.next(std::string_view(link.from_server).substr(taken));
    if (piece.kind == Piece::Kind::Incomplete) break;
    if (piece.kind == Piece::Kind::Broken) {
      go_blind(link);
      break;
    }
    if (piece.kind == Piece::Kind::Message) {
      if (options.turns != nullptr)
        options.turns->heard(link.connection, piece.type, piece.payload());
      std::optional<std::string> replaced;
      if (piece.type == 'R') {
        replaced = without_binding(link, piece);
      } else {
        replaced = link.conversation->from_server(piece.type, piece.payload());
      }
      link.is_logging_in &= piece.type != 'Z';
      link.client.send(replaced ? std::string_view(*replaced) : piece.bytes);
    } else {
      if (piece.is_first) link.conversation->passing_server(piece.type);
      link.client.send(piece.bytes);
    }
    taken += piece.bytes.size();
  }
  link.from_server.erase(0, taken);
  if (!link.conversation) {
    link.client.send(link.from_server);
    link.from_server.clear();
  }
}

void Proxy::State::finish(Link& link) {
  if (link.conversation) link.conversation->ended();
  link.conversation.reset();
  leave(link);
  link.client.close();
  link.server.close();
  link.is_over = true;
}

void Proxy::State::work(Link& link, short client_events, short server_events) {
  constexpr short kIncoming = POLLIN | POLLHUP | POLLERR;
  bool client_there = true;
  bool server_there = true;
  if ((client_events & kIncoming) != 0) {
    client_there = link.client.receive(link.from_client);
    forward_client(link);
  }
  if (link.server.is_open() && (server_events & kIncoming) != 0) {
    server_there = link.server.receive(link.from_server);
    if (link.server.tls() != nullptr) link.server_trouble = link.server.tls()->trouble();
    link.has_answered |= !link.from_server.empty();
    const bool was_asking = link.is_asking_tls;
    forward_server(link);
    // What the client sent while the server was asked for TLS.
    if (was_asking && !link.is_asking_tls) forward_client(link);
  }
  if (link.client.is_open() && !link.client.flush()) client_there = false;
  if (link.server.is_open() && !link.server.flush()) server_there = false;
  if (!client_there) {
    // What the client sent before it left still takes effect, unless its turn has not come.
    link.client.close();
    link.is_closing = true;
    if (link.is_held) link.from_client.clear();
    if (!link.from_client.empty() && link.server.is_open() && !link.is_asking_tls) {
      link.server.send(link.from_client);
      link.from_client.clear();
      link.server.flush();
    }
  }
  if (!server_there) {
    if (!link.from_server.empty() && link.client.is_open()) link.client.send(link.from_server);
    link.from_server.clear();
    link.server.close();
    link.is_closing = true;
    if (!link.has_answered && link.conversation && link.client.is_open()) {
      ++numbers.refused;
      link.client.send(refusal(link.server_trouble.empty() ? "the server does not answer"
                                                           : link.server_trouble));
    }
    if (link.client.is_open()) link.client.flush();
  }
  if (!link.is_closing) return;
  const bool waits = (link.client.is_open() && link.client.has_unsent()) ||
                     (link.server.is_open() && (link.server.has_unsent() || link.is_opening()));
  if (!waits) finish(link);
}

Proxy::Proxy(std::unique_ptr<State> state) : state_(std::move(state)) {}
Proxy::~Proxy() = default;

Result<std::unique_ptr<Proxy>> Proxy::listen(ProxyOptions options, TxnSink sink) {
  auto state = std::make_unique<State>();
  for (std::size_t door = 0; door < options.doors; ++door) {
    int port = door == 0 ? options.listen_port : 0;
    auto listener = listen_on(options.listen_host, port);
    if (!listener) return listener.error();
    state->listeners.push_back(std::move(*listener));
    state->ports.push_back(port);
  }
  state->options = std::move(options);
  state->sink = std::move(sink);
  return std::unique_ptr<Proxy>(new Proxy(std::move(state)));
}

int Proxy::port(std::size_t door) const { return state_->ports.at(door); }
Microseconds Proxy::now() const { return state_->now(); }
const ProxyNumbers& Proxy::numbers() const { return state_->numbers; }
void Proxy::stop_listening() {
  for (Socket& listener : state_->listeners) listener.close();
}
bool Proxy::has_connections() const { return !state_->links.empty(); }

void Proxy::close_all() {
  for (Link& link : state_->links) state_->finish(link);
  state_->links.clear();
}

void Proxy::step(int milliseconds) {
  State& s = *state_;
  for (Link& link : s.links) {
    if (!link.is_held) continue;
    s.forward_client(link);
    if (link.server.is_open()) link.server.flush();
  }
  std::vector<pollfd> polled;
  for (const Link& link : s.links) {
    const auto events = [&](const Socket& self, const Socket& other, bool may_read) {
      short wanted = self.has_unsent() ? POLLOUT : 0;
      if (may_read && !other.is_full()) wanted = static_cast<short>(wanted | POLLIN);
      return wanted;
    };
    polled.push_back(
        {link.client.descriptor(),
         events(link.client, link.server,
                !link.is_closing && !(link.is_held && link.from_client.size() > kMostHeld)),
         0});
    polled.push_back({link.server.descriptor(),
                      events(link.server, link.client, !link.is_closing || link.is_opening()), 0});
  }
  const std::size_t first_listener = polled.size();
  for (const Socket& listener : s.listeners) polled.push_back({listener.descriptor(), POLLIN, 0});
  if (::poll(polled.data(), polled.size(), milliseconds) <= 0) return;
  std::size_t i = 0;
  for (Link& link : s.links) {
    s.work(link, polled[i].revents, polled[i + 1].revents);
    i += 2;
  }
  s.links.remove_if([](const Link& link) { return link.is_over; });
  for (std::size_t door = 0; door < s.listeners.size(); ++door)
    if (polled[first_listener + door].revents != 0) s.accept(door);
}

}  // namespace isoscope::record
