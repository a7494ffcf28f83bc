#pragma once
// Sockets that do not block, with what is to be written to them.
#include <memory>
#include <string>
#include <utility>

#include "record/server_address.h"
#include "record/tls.h"
#include "support/result.h"

namespace isoscope::record {

// One end of a connection. Moves, closes itself, never blocks.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        unsent_(std::move(other.unsent_)),
        tls_(std::move(other.tls_)) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket() { close(); }

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  void close();

  // Appends what has arrived; false when the other side is gone.
  bool receive(std::string& into);
  void send(std::string_view bytes);
  // From here on, TLS. What was sent before goes out as it is.
  void start_tls(const TlsContext& context);
  const TlsSession* tls() const { return tls_.get(); }
  // Writes what can be written; false when the other side is gone.
  bool flush();
  bool has_unsent() const { return !unsent_.empty(); }
  // Is so much waiting that its source should not be read?
  bool is_full() const { return unsent_.size() > kFull; }

 private:
  static constexpr std::size_t kFull = std::size_t{256} << 10U;

  int descriptor_ = -1;
  std::string unsent_;
  std::unique_ptr<TlsSession> tls_;
};

// Starts to connect; the socket can be written to once that is done.
Result<Socket> connect_to(const ServerAddress& server);
// Listens on a TCP port; 0 takes any. `port` becomes the one that was taken.
Result<Socket> listen_on(const std::string& host, int& port);
// The next client, or a closed socket if none waits.
Socket accept_from(const Socket& listener);

}  // namespace isoscope::record
