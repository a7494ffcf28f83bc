#include "record/tls.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace isoscope::record {
namespace {

std::string why() {
  std::string text;
  for (unsigned long code = 0; (code = ERR_get_error()) != 0;) {
    char line[200];
    ERR_error_string_n(code, line, sizeof line);
    const char* reason = ERR_reason_error_string(code);
    if (text.empty()) text = reason != nullptr ? reason : line;
  }
  return text.empty() ? "no reason is given" : text;
}

std::string der_of(X509* certificate) {
  if (certificate == nullptr) return {};
  unsigned char* bytes = nullptr;
  const int size = i2d_X509(certificate, &bytes);
  if (size <= 0) return {};
  std::string der(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return der;
}

std::shared_ptr<SSL_CTX> new_context(const SSL_METHOD* method) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(method), SSL_CTX_free);
  if (context == nullptr) return nullptr;
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // Sessions are not resumed: each connection is one of its own.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  return context;
}

Result<void> show(SSL_CTX* context, const std::string& certificate, const std::string& key) {
  if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1)
    return Error{.what = fmt::format("cannot use the certificate {}: {}", certificate, why())};
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1)
    return Error{.what = fmt::format("cannot use the key {}: {}", key, why())};
  return {};
}

}  // namespace

Result<TlsContext> TlsContext::for_clients(const std::string& certificate_file,
                                           const std::string& key_file) {
  TlsContext made;
  made.accepts_ = true;
  made.context_ = new_context(TLS_server_method());
  if (made.context_ == nullptr) return Error{.what = "no TLS: " + why()};
  if (auto shown = show(made.context_.get(), certificate_file, key_file); !shown)
    return shown.error();
  return made;
}

Result<TlsContext> TlsContext::for_server(const TlsRequest& request) {
  TlsContext made;
  made.context_ = new_context(TLS_client_method());
  if (made.context_ == nullptr) return Error{.what = "no TLS: " + why()};
  SSL_CTX* context = made.context_.get();
  if (!request.certificate_file.empty()) {
    if (auto shown = show(context, request.certificate_file, request.key_file); !shown)
      return shown.error();
  }
  if (request.verifies) {
    if (SSL_CTX_load_verify_locations(context, request.root_file.c_str(), nullptr) != 1)
      return Error{
          .what = fmt::format("cannot read the authorities in {}: {}", request.root_file, why()),
          .hint = "sslrootcert in --dsn names the file"};
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  if (request.checks_name) made.host_ = request.host;
  return made;
}

std::string TlsContext::certificate() const {
  return der_of(SSL_CTX_get0_certificate(context_.get()));
}

void TlsSession::Free::operator()(ssl_st* session) const { SSL_free(session); }

TlsSession::TlsSession(const TlsContext& context) : session_(SSL_new(context.context_.get())) {
  SSL* session = session_.get();
  SSL_set_bio(session, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  if (context.accepts_) {
    SSL_set_accept_state(session);
    return;
  }
  SSL_set_connect_state(session);
  if (!context.host_.empty()) {
    X509_VERIFY_PARAM* wanted = SSL_get0_param(session);
    if (X509_VERIFY_PARAM_set1_ip_asc(wanted, context.host_.c_str()) != 1) {
      SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
      SSL_set1_host(session, context.host_.c_str());
    }
  }
  if (context.host_.find_first_not_of("0123456789.:") != std::string::npos)
    SSL_set_tlsext_host_name(session, context.host_.c_str());
  advance();  // it is the client who speaks first
}

bool TlsSession::fail(const char* what) {
  const long verified = SSL_get_verify_result(session_.get());
  trouble_ = fmt::format("{}: {}", what,
                         verified != X509_V_OK ? X509_verify_cert_error_string(verified) : why());
  ERR_clear_error();
  return false;
}

// Goes on with the handshake as far as it gets.
bool TlsSession::advance() {
  if (is_ready_) return true;
  ERR_clear_error();
  const int done = SSL_do_handshake(session_.get());
  if (done == 1) {
    is_ready_ = true;
    encrypt();
    return true;
  }
  const int state = SSL_get_error(session_.get(), done);
  return state == SSL_ERROR_WANT_READ || state == SSL_ERROR_WANT_WRITE ||
         fail("TLS could not be agreed on");
}

void TlsSession::encrypt() {
  // A memory BIO takes everything.
  while (!waiting_.empty()) {
    const int size = static_cast<int>(std::min(waiting_.size(), std::size_t{1} << 20U));
    const int taken = SSL_write(session_.get(), waiting_.data(), size);
    if (taken <= 0) return;
    waiting_.erase(0, static_cast<std::size_t>(taken));
  }
}

void TlsSession::send(std::string_view plain) {
  waiting_ += plain;
  if (is_ready_) encrypt();
}

bool TlsSession::receive(std::string_view wire, std::string& plain) {
  BIO_write(SSL_get_rbio(session_.get()), wire.data(), static_cast<int>(wire.size()));
  if (!advance()) return false;
  if (!is_ready_) return true;
  char buffer[std::size_t{16} << 10U];
  for (;;) {
    ERR_clear_error();
    const int size = SSL_read(session_.get(), buffer, sizeof buffer);
    if (size > 0) {
      plain.append(buffer, static_cast<std::size_t>(size));
      continue;
    }
    const int state = SSL_get_error(session_.get(), size);
    if (state == SSL_ERROR_WANT_READ || state == SSL_ERROR_WANT_WRITE) return true;
    if (state == SSL_ERROR_ZERO_RETURN) return false;  // it said good-bye
    return fail("TLS broke");
  }
}

void TlsSession::take_wire(std::string& out) {
  char buffer[std::size_t{16} << 10U];
  for (int size = 0; (size = BIO_read(SSL_get_wbio(session_.get()), buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<std::size_t>(size));
}

std::string TlsSession::peer_certificate() const {
  return der_of(SSL_get0_peer_certificate(session_.get()));
}

}  // namespace isoscope::record
