#pragma once
// TLS on one end of a connection, over memory: bytes of the wire go in and come out, and whoever
// has the socket sends and receives them.
//
// Towards clients the recorder shows a certificate that it was given (--tls-cert, --tls-key); to
// the server it speaks as sslmode, sslrootcert, sslcert and sslkey of --dsn say, as libpq
// understands them: require encrypts, verify-ca and verify-full also verify the identity of the
// server.
#include <memory>
#include <string>
#include <string_view>

#include "support/result.h"

struct ssl_ctx_st;
struct ssl_st;

namespace isoscope::record {

// What a connection string says about TLS.
struct TlsRequest {
  bool is_wanted = false;    // sslmode=require, verify-ca, verify-full
  bool verifies = false;     // the server's certificate must come from a known authority
  bool checks_name = false;  // and bear its name
  std::string host = {};
  std::string root_file = {};
  std::string certificate_file = {};  // our own, if the server asks
  std::string key_file = {};
};

// Settings that sessions share.
class TlsContext {
 public:
  // Shows this certificate, a chain in PEM, to clients.
  static Result<TlsContext> for_clients(const std::string& certificate_file,
                                        const std::string& key_file);
  static Result<TlsContext> for_server(const TlsRequest& request);

  // The certificate that is shown, as DER; empty if there is none.
  std::string certificate() const;

 private:
  friend class TlsSession;
  std::shared_ptr<ssl_ctx_st> context_;
  std::string host_;  // that the other side's certificate must bear; empty: any
  bool accepts_ = false;
};

class TlsSession {
 public:
  explicit TlsSession(const TlsContext& context);

  // Takes bytes from the wire, and appends the text that they carry. False: this is not TLS, or the
  // identity of the other side could not be verified; trouble() says which.
  bool receive(std::string_view wire, std::string& plain);
  // The text is kept until the handshake is complete.
  void send(std::string_view plain);
  // Appends the bytes that are to be sent on the wire.
  void take_wire(std::string& out);

  bool is_ready() const { return is_ready_; }
  const std::string& trouble() const { return trouble_; }
  // The certificate of the other side, as DER; empty if it showed none.
  std::string peer_certificate() const;

 private:
  bool advance();
  void encrypt();
  bool fail(const char* what);

  struct Free {
    void operator()(ssl_st* session) const;
  };
  std::unique_ptr<ssl_st, Free> session_;
  std::string waiting_;  // plain text that is to be encrypted
  bool is_ready_ = false;
  std::string trouble_;
};

}  // namespace isoscope::record
