#pragma once
// Who decides when a client's requests go on to the server.
//
// A proxy with a TurnKeeper asks it about every message of a client, in order. One that may not
// pass yet stays where it is, and so do those behind it; the proxy asks again at each of its
// steps. The keeper also hears what the server answers, so that it knows when a statement is over.
// Logins and cancel requests are not held. Force (src/force) plays schedules of unmodified clients
// this way.
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace isoscope::record {

class TurnKeeper {
 public:
  TurnKeeper() = default;
  virtual ~TurnKeeper() = default;
  TurnKeeper(const TurnKeeper&) = delete;
  TurnKeeper& operator=(const TurnKeeper&) = delete;

  // A client has come through one of the proxy's doors (ProxyOptions::doors).
  virtual void came(std::uint32_t connection, std::size_t door) = 0;
  // May this message go on now? It does if so.
  virtual bool lets_pass(std::uint32_t connection, char type, std::string_view payload) = 0;
  // What the server says, before the client hears it. Data rows are not reported.
  virtual void heard(std::uint32_t connection, char type, std::string_view payload) = 0;
  // The connection is over; what was held of it is dropped.
  virtual void left(std::uint32_t connection) = 0;
};

}  // namespace isoscope::record
