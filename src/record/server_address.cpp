#include "record/server_address.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace isoscope::record {
namespace {

using Options = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

std::string option(const Options& options, const char* name) {
  for (const PQconninfoOption* o = options.get(); o != nullptr && o->keyword != nullptr; ++o) {
    if (std::strcmp(o->keyword, name) == 0) return o->val != nullptr ? o->val : "";
  }
  return {};
}

// The first of a list: a recorder has one server.
std::string first_of(const std::string& list) { return list.substr(0, list.find(',')); }

std::string url_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

Result<ConnectionString> read_connection_string(const std::string& text) {
  char* message = nullptr;
  const Options given(PQconninfoParse(text.c_str(), &message), PQconninfoFree);
  if (given == nullptr) {
    Error error{.what = fmt::format("this is no connection string: {}",
                                    message != nullptr ? message : "it cannot be read"),
                .hint = R"(write --dsn "host=127.0.0.1 dbname=shop", or a URL postgresql://…)"};
    PQfreemem(message);
    while (error.what.ends_with('\n')) error.what.pop_back();
    return error;
  }
  const Options defaults(PQconndefaults(), PQconninfoFree);
  const auto value = [&](const char* name) {
    const std::string own = option(given, name);
    return own.empty() ? option(defaults, name) : own;
  };
  ConnectionString dsn;
  dsn.text = text;
  dsn.user = value("user");
  dsn.database = value("dbname");
  const std::string address = first_of(value("hostaddr"));
  dsn.server.host = address.empty() ? first_of(value("host")) : address;
  if (dsn.server.host.empty()) dsn.server.host = "/var/run/postgresql";
  if (dsn.database.empty()) dsn.database = dsn.user;
  const std::string port = first_of(value("port"));
  std::from_chars(port.data(), port.data() + port.size(), dsn.server.port);
  const std::string mode = value("sslmode");
  dsn.tls.root_file = value("sslrootcert");
  // As libpq does: who names an authority and asks for encryption wants that to be checked too.
  dsn.tls.verifies =
      mode.starts_with("verify-") || (mode == "require" && !dsn.tls.root_file.empty());
  dsn.tls.is_wanted = mode == "require" || dsn.tls.verifies;
  dsn.tls.checks_name = mode == "verify-full";
  const std::string name = first_of(value("host"));
  dsn.tls.host = name.empty() ? address : name;
  dsn.tls.certificate_file = value("sslcert");
  dsn.tls.key_file = value("sslkey");
  if (const char* home = std::getenv("HOME"); dsn.tls.root_file.empty() && home != nullptr)
    dsn.tls.root_file = std::string(home) + "/.postgresql/root.crt";
  if (dsn.tls.is_wanted && dsn.server.is_socket_folder()) dsn.tls.is_wanted = false;
  return dsn;
}

std::vector<std::pair<std::string, std::string>> client_environment(const ConnectionString& dsn,
                                                                    const std::string& host,
                                                                    int port) {
  return {
      {"PGHOST", host},
      {"PGHOSTADDR", ""},
      {"PGPORT", std::to_string(port)},
      {"PGUSER", dsn.user},
      {"PGDATABASE", dsn.database},
      {"DATABASE_URL", fmt::format("postgresql://{}@{}:{}/{}", url_quoted(dsn.user), host, port,
                                   url_quoted(dsn.database))},
  };
}

}  // namespace isoscope::record
