// Which runs of a probe are its anomaly.
#include <gtest/gtest.h>

#include "force/probe_run.h"

namespace isoscope::force {
namespace {

// A server that ends a transaction promises nothing of what it had read: SERIALIZABLE of PostgreSQL
// shows the first half of an anomaly to a reader that it then aborts.
TEST(ProbeOutcome, WhatAnAbortedTransactionReadIsNoAnomaly) {
  const auto probe = read_probe(
      "probe P \"p\"\ninit x=0 y=0\na: w(x,1) w(y,1)\nb: r(x) r(y)\nanomaly b.1=0 b.2=1\n");
  ASSERT_TRUE(probe.ok());
  ProbeRun run;
  run.is_committed = {true, true};
  run.reads = {{}, {{.value = 0, .is_committed = true}, {.value = 1, .is_committed = true}}};
  EXPECT_TRUE(is_anomalous(*probe, run));
  for (ProbeRead& read : run.reads[{1}]) read.is_committed = false;
  EXPECT_FALSE(is_anomalous(*probe, run));
}

// Of a session with two transactions, the first may have committed although the second has not.
TEST(ProbeOutcome, EachReadGoesWithItsOwnTransaction) {
  const auto probe =
      read_probe("probe P \"p\"\ninit x=0\na: w(x,1)\nb: r(x) commit r(x)\nanomaly b.1=1\n");
  ASSERT_TRUE(probe.ok());
  ProbeRun run;
  run.is_committed = {true, false};
  run.reads = {{}, {{.value = 1, .txn = {0}, .is_committed = true}, {.value = 1, .txn = {1}}}};
  EXPECT_TRUE(is_anomalous(*probe, run));
}

}  // namespace
}  // namespace isoscope::force
