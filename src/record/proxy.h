#pragma once
// Stands between clients and a PostgreSQL server, hands every byte on, and reads along.
//
//     client  <--socket-->  Proxy  <--socket-->  server
//                             |
//                       Conversation  ->  transactions, one by one, to the sink
//
// One thread and poll(): a socket is read only while the other side takes what was read, so memory
// is bounded by a few buffers a connection. Logins pass through: trust, passwords in clear, MD5 and
// SCRAM-SHA-256 are between client and server, and no password is looked at. A client that asks for
// TLS gets it if the recorder has a certificate, and else "no", as from a server without it; GSSAPI
// encryption is always answered with "no". Towards the server there is TLS if the connection string
// asks for it. A cancel request opens a connection of its own and is handed to the server, whose
// key it bears. What does not follow the protocol passes unchanged, and is a gap of the recording.
//
// Channel binding (SCRAM-SHA-256-PLUS) ties a login to the certificate that the client sees. Where
// that is not the server's own it cannot succeed: a client without TLS is not offered it, and one
// with TLS that chooses it is told why.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "record/run.h"
#include "record/server_address.h"
#include "record/tls.h"
#include "support/result.h"

namespace isoscope::record {

class Gatekeeper;
class TurnKeeper;

struct ProxyOptions {
  ServerAddress server;
  std::string listen_host = "127.0.0.1";
  int listen_port = 0;  // 0: any that is free
  Isolation default_isolation = Isolation::of(sql::server::PgLevel::ReadCommitted);
  std::optional<TlsContext> client_tls = {};  // what is shown to clients that ask for TLS
  std::optional<TlsContext> server_tls = {};
  bool requires_tls = false;    // clients without it are refused
  Gatekeeper* gates = nullptr;  // who gates statements; null: every byte is handed on as it is
  // How many ports are listened at, to distinguish clients. The first is `listen_port`, the others
  // are any that are free.
  std::size_t doors = 1;
  TurnKeeper* turns = nullptr;  // who holds requests (turns.h); null: they go on at once
};

struct ProxyNumbers {
  std::uint64_t connections = 0;
  std::uint64_t cancels = 0;
  std::uint64_t refused = 0;  // the server could not be reached
  std::uint64_t opaque = 0;   // connections that stopped to speak the protocol, or replicate
};

class Proxy {
 public:
  static Result<std::unique_ptr<Proxy>> listen(ProxyOptions options, TxnSink sink);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  int port(std::size_t door = 0) const;
  // Works for at most so many milliseconds, or until something happened.
  void step(int milliseconds);
  // Takes no further connections.
  void stop_listening();
  bool has_connections() const;
  // Ends all connections; what they had open is reported to the sink.
  void close_all();
  Microseconds now() const;
  const ProxyNumbers& numbers() const;

 private:
  struct State;
  explicit Proxy(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace isoscope::record
