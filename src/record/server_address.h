#pragma once
// Where the server is, from a connection string as libpq reads it.
#include <string>
#include <utility>
#include <vector>

#include "record/tls.h"
#include "support/result.h"

namespace isoscope::record {

struct ServerAddress {
  std::string
      host;  // a name, an address, or the folder of a Unix-domain socket ("/run/postgresql")
  int port = 5432;
  bool is_socket_folder() const { return host.starts_with('/'); }
};

struct ConnectionString {
  std::string text;  // as given
  ServerAddress server;
  std::string user;
  std::string database;
  TlsRequest tls = {};  // towards the server
};

// Takes what is not said from the environment (PGHOST, …) and libpq's defaults.
Result<ConnectionString> read_connection_string(const std::string& text);

// PGHOST, PGPORT, DATABASE_URL and what keeps libpq from asking for TLS, for a command that is to
// speak to the proxy. The URL holds no password.
std::vector<std::pair<std::string, std::string>> client_environment(const ConnectionString& dsn,
                                                                    const std::string& host,
                                                                    int port);

}  // namespace isoscope::record
