#pragma once
// A PostgreSQL server for the tests of one suite. Where none can be started they are skipped, or
// fail where servers are required.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "support/postgres_server.h"

namespace isoscope {

class WithServer : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = PostgresServer::start(why_not_); }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (server_ == nullptr) GTEST_SKIP() << why_not_;
  }

  static inline std::unique_ptr<PostgresServer> server_;
  static inline std::string why_not_;
};

}  // namespace isoscope
