// TLS towards client and server, with libpq (psql's library) as the client and a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "record/gatekeeper.h"
#include "record/running_proxy.h"
#include "support/postgres_server.h"

namespace isoscope::record {
namespace {

using testing::HasSubstr;

struct Identity {
  std::string certificate;  // PEM
  std::string key;
};

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return text;
}

// A certificate that vouches for itself, for 127.0.0.1.
Identity self_signed(const std::string& name) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  for (const auto& [id, value] : {std::pair{NID_subject_alt_name, "IP:127.0.0.1"},
                                  std::pair{NID_basic_constraints, "critical,CA:TRUE"}}) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  X509_sign(certificate, key, EVP_sha256());
  Identity made;
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  made.certificate = text_of(bio);
  bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  made.key = text_of(bio);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return made;
}

// A server with TLS, a user who logs in by SCRAM and one who must come with TLS; and a folder of
// certificates.
class RecordTls : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "isoscope-tls-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    servers_ = self_signed("server");
    ours_ = self_signed("recorder");
    write("server.crt", servers_.certificate);
    write("server.key", servers_.key);
    write("ours.crt", ours_.certificate);
    write("ours.key", ours_.key);
    std::string why_not;
    server_ = PostgresServer::start(
        why_not, {.settings = {"ssl=on", "ssl_cert_file=server.crt", "ssl_key_file=server.key"},
                  .hba = "host all scram 127.0.0.1/32 scram-sha-256\n"
                         "hostssl all onlytls 127.0.0.1/32 scram-sha-256\n"
                         "host all onlytls 127.0.0.1/32 reject\n"
                         "host all md5user 127.0.0.1/32 md5\n",
                  .files = {{"server.crt", servers_.certificate}, {"server.key", servers_.key}}});
    if (!server_) GTEST_SKIP() << why_not;
    PGconn* connection = PQconnectdb((server_->dsn() + " sslmode=disable").c_str());
    PQclear(PQexec(connection,
                   "CREATE ROLE scram LOGIN PASSWORD 'secret'; CREATE ROLE onlytls LOGIN PASSWORD "
                   "'secret'; SET password_encryption = 'md5'; CREATE ROLE md5user LOGIN PASSWORD "
                   "'secret'; CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1);"
                   "GRANT SELECT ON t TO PUBLIC"));
    PQfinish(connection);
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
  }

  // A proxy that shows this certificate ("": none) and speaks TLS to the server, or not.
  ProxyOptions options(const std::string& shown, bool to_server) {
    ProxyOptions made{.server = {"127.0.0.1", server_->port()}, .gates = &gates_};
    if (!shown.empty())
      made.client_tls = *TlsContext::for_clients(file(shown + ".crt"), file(shown + ".key"));
    if (to_server)
      made.server_tls = *TlsContext::for_server({.is_wanted = true,
                                                 .verifies = true,
                                                 .checks_name = true,
                                                 .host = "127.0.0.1",
                                                 .root_file = file("server.crt")});
    return made;
  }

  // Logs in through the proxy and reads a row: "1", or the error.
  static std::string read(const RunningProxy& proxy, const std::string& words) {
    const std::string dsn = "host=127.0.0.1 port=" + std::to_string(proxy.port()) +
                            " dbname=postgres password=secret connect_timeout=20 " + words;
    PGconn* connection = PQconnectdb(dsn.c_str());
    std::string answer = PQerrorMessage(connection);
    if (PQstatus(connection) == CONNECTION_OK) {
      PGresult* result = PQexec(connection, "SELECT id FROM t WHERE id = 1");
      answer = PQntuples(result) == 1 ? PQgetvalue(result, 0, 0) : PQerrorMessage(connection);
      PQclear(result);
    }
    PQfinish(connection);
    return answer;
  }

  std::string folder_;
  Identity servers_;
  Identity ours_;
  std::unique_ptr<PostgresServer> server_;
  Gatekeeper gates_;
};

TEST_F(RecordTls, IsGivenToClientsThatAskForIt) {
  RunningProxy proxy(options("ours", false));
  EXPECT_EQ(read(proxy, "user=scram sslmode=disable"), "1");
  EXPECT_EQ(read(proxy, "user=scram sslmode=prefer"), "1");
  EXPECT_EQ(read(proxy, "user=scram sslmode=require"), "1");
  EXPECT_EQ(read(proxy, "user=md5user sslmode=require"), "1");
  EXPECT_EQ(read(proxy, "user=scram sslmode=verify-full sslrootcert=" + file("ours.crt")), "1");
  EXPECT_THAT(read(proxy, "user=scram sslmode=verify-full sslrootcert=" + file("server.crt")),
              HasSubstr("certificate verify failed"));
  EXPECT_THAT(read(proxy, "user=scram sslmode=require channel_binding=require"),
              HasSubstr("channel binding"));
  EXPECT_THAT(read(proxy, "user=onlytls sslmode=require"), HasSubstr("pg_hba.conf rejects"));
}

TEST_F(RecordTls, IsSpokenToTheServer) {
  RunningProxy proxy(options("", true));
  EXPECT_EQ(read(proxy, "user=scram sslmode=disable"), "1");
  EXPECT_EQ(read(proxy, "user=scram sslmode=prefer"), "1");
  EXPECT_EQ(read(proxy, "user=onlytls sslmode=disable"), "1");
  EXPECT_THAT(read(proxy, "user=scram sslmode=require"), HasSubstr("does not support SSL"));
}

TEST_F(RecordTls, BindsChannelsWithTheServersOwnCertificateOnly) {
  {
    RunningProxy proxy(options("server", true));
    EXPECT_EQ(read(proxy, "user=scram sslmode=require channel_binding=require"), "1");
    EXPECT_EQ(read(proxy, "user=onlytls sslmode=verify-full sslrootcert=" + file("server.crt")),
              "1");
  }
  RunningProxy proxy(options("ours", true));
  EXPECT_EQ(read(proxy, "user=scram sslmode=require channel_binding=disable"), "1");
  EXPECT_EQ(read(proxy, "user=md5user sslmode=require"), "1");
  for (const char* binding : {"prefer", "require"})
    EXPECT_THAT(read(proxy, std::string("user=scram sslmode=require channel_binding=") + binding),
                HasSubstr("give it the server's own certificate and key"));
}

TEST_F(RecordTls, IsRequiredWhereItMustBe) {
  ProxyOptions strict = options("ours", false);
  strict.requires_tls = true;
  RunningProxy proxy(std::move(strict));
  EXPECT_EQ(read(proxy, "user=scram sslmode=require"), "1");
  EXPECT_THAT(read(proxy, "user=scram sslmode=disable"), HasSubstr("TLS is required here"));
}

TEST_F(RecordTls, RefusesAServerThatIsNotWhoItShouldBe) {
  ProxyOptions wrong = options("", false);
  wrong.server_tls =
      *TlsContext::for_server({.is_wanted = true, .verifies = true, .root_file = file("ours.crt")});
  {
    RunningProxy proxy(wrong);
    EXPECT_THAT(read(proxy, "user=scram sslmode=disable"), HasSubstr("TLS could not be agreed on"));
  }
  std::string why_not;
  auto plain = PostgresServer::start(why_not);
  ASSERT_TRUE(plain) << why_not;
  wrong.server = {"127.0.0.1", plain->port()};
  RunningProxy proxy(wrong);
  EXPECT_THAT(read(proxy, "user=postgres sslmode=disable"),
              HasSubstr("the server does not speak TLS"));
}

// A cancel request comes without TLS, on a connection of its own.
TEST_F(RecordTls, HandsCancelRequestsOn) {
  RunningProxy proxy(options("server", true));
  const std::string dsn = "host=127.0.0.1 port=" + std::to_string(proxy.port()) +
                          " dbname=postgres user=scram password=secret sslmode=require";
  PGconn* connection = PQconnectdb(dsn.c_str());
  ASSERT_EQ(PQstatus(connection), CONNECTION_OK) << PQerrorMessage(connection);
  ASSERT_EQ(PQsendQuery(connection, "SELECT pg_sleep(60)"), 1);
  PGcancel* cancel = PQgetCancel(connection);
  char why[256] = "";
  EXPECT_EQ(PQcancel(cancel, why, sizeof why), 1) << why;
  PQfreeCancel(cancel);
  PGresult* result = PQgetResult(connection);
  EXPECT_STREQ(PQresultErrorField(result, PG_DIAG_SQLSTATE), "57014");
  PQclear(result);
  PQfinish(connection);
}

}  // namespace
}  // namespace isoscope::record
