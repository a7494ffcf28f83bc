#include "record/sockets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace isoscope::record {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses addresses_of(const std::string& host, int port, int flags, std::string& why_not) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failure != 0) why_not = ::gai_strerror(failure);
  return Addresses(failure == 0 ? found : nullptr, ::freeaddrinfo);
}

void send_at_once(int descriptor) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Result<Socket> connect_to_folder(const ServerAddress& server) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("{}/.s.PGSQL.{}", server.host, server.port);
  if (path.size() >= sizeof address.sun_path)
    return Error{.what = fmt::format("the name of the socket is too long: {}", path)};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return Error{.what = fmt::format("cannot connect to {}: {}", path, std::strerror(errno))};
  return socket;
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    unsent_ = std::move(other.unsent_);
    tls_ = std::move(other.tls_);
  }
  return *this;
}

void Socket::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  unsent_.clear();
  tls_.reset();
}

void Socket::send(std::string_view bytes) {
  if (tls_ == nullptr) {
    unsent_ += bytes;
    return;
  }
  tls_->send(bytes);
  tls_->take_wire(unsent_);
}

void Socket::start_tls(const TlsContext& context) {
  tls_ = std::make_unique<TlsSession>(context);
  tls_->take_wire(unsent_);
}

bool Socket::receive(std::string& into) {
  char buffer[std::size_t{64} << 10U];
  const ssize_t size = ::recv(descriptor_, buffer, sizeof buffer, 0);
  if (size > 0 && tls_ != nullptr) {
    const bool goes_on = tls_->receive({buffer, static_cast<std::size_t>(size)}, into);
    tls_->take_wire(unsent_);
    return goes_on;
  }
  if (size > 0) into.append(buffer, static_cast<std::size_t>(size));
  return size > 0 || (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

bool Socket::flush() {
  std::size_t sent = 0;
  bool is_there = true;
  while (sent < unsent_.size()) {
    const ssize_t size =
        ::send(descriptor_, unsent_.data() + sent, unsent_.size() - sent, MSG_NOSIGNAL);
    if (size < 0) {
      is_there = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOTCONN;
      break;
    }
    sent += static_cast<std::size_t>(size);
  }
  unsent_.erase(0, sent);
  return is_there;
}

Result<Socket> connect_to(const ServerAddress& server) {
  if (server.is_socket_folder()) return connect_to_folder(server);
  std::string why_not = "no address";
  const Addresses addresses = addresses_of(server.host, server.port, 0, why_not);
  for (const addrinfo* a = addresses.get(); a != nullptr; a = a->ai_next) {
    Socket socket(::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.is_open()) continue;
    send_at_once(socket.descriptor());
    if (::connect(socket.descriptor(), a->ai_addr, a->ai_addrlen) == 0 || errno == EINPROGRESS)
      return socket;
    why_not = std::strerror(errno);
  }
  return Error{.what =
                   fmt::format("cannot connect to {}:{}: {}", server.host, server.port, why_not)};
}

Result<Socket> listen_on(const std::string& host, int& port) {
  std::string why_not = "no address";
  const Addresses addresses = addresses_of(host, port, AI_PASSIVE, why_not);
  for (const addrinfo* a = addresses.get(); a != nullptr; a = a->ai_next) {
    Socket socket(::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(socket.descriptor(), a->ai_addr, a->ai_addrlen) != 0 ||
        ::listen(socket.descriptor(), 128) != 0) {
      why_not = std::strerror(errno);
      continue;
    }
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &size);
    port =
        ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                            : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
    return socket;
  }
  return Error{.what = fmt::format("cannot listen on {}:{}: {}", host, port, why_not)};
}

Socket accept_from(const Socket& listener) {
  Socket client(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (client.is_open()) send_at_once(client.descriptor());
  return client;
}

}  // namespace isoscope::record
