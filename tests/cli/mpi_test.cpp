// `explore --mpi` with real processes of mpirun, and one of them that dies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_isoscope.h"
#include "support/paths.h"
#include "support/temp_folder.h"

namespace isoscope {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Messages of mpirun itself about exit codes are not ours.
std::string mpirun(int processes) {
  return "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
         "OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader,tcp mpirun -q "
         "--oversubscribe -n " +
         std::to_string(processes) + " ";
}

// What the answer is, whatever the time it took.
json answer_of(const Ran& ran) {
  json answer = json::parse(ran.out);
  answer.erase("seconds");
  if (answer.contains("stats")) answer["stats"].erase("seconds");
  return answer;
}

TEST(CliMpi, TellsTheSameForAnyNumberOfProcessesAndThreads) {
  const TempFolder folder;
  const std::string program = folder.at("smallbank.txn");
  ASSERT_EQ(
      run_isoscope("generate program smallbank -s 3 -t 3 --seed 2 --access point -o " + program)
          .exit_code,
      0);
  for (const char* level : {"cc", "si", "ser", "psi"}) {
    const std::string arguments =
        "explore " + program + " --json --outcomes --violations 5 --level " + level;
    const Ran one = run_isoscope(arguments);
    for (const int processes : {1, 2, 4}) {
      for (const int threads : {1, 2, 4}) {
        const Ran many = run_shell(mpirun(processes) + isoscope_binary() + " " + arguments +
                                   " --mpi --threads " + std::to_string(threads));
        ASSERT_EQ(many.exit_code, one.exit_code) << level << many.err;
        ASSERT_EQ(answer_of(many), answer_of(one)) << level << processes << threads;
      }
    }
  }
}

TEST(CliMpi, SaysOnceWhatIsWrong) {
  const Ran ran =
      run_shell(mpirun(3) + isoscope_binary() + " explore no-such.txn --level cc --mpi");
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("no-such.txn"));
  EXPECT_EQ(ran.err.find("no-such.txn"), ran.err.rfind("no-such.txn"));
  EXPECT_EQ(ran.out, "");
}

// Nobody answers when a process dies; the next run goes on from the last checkpoint.
TEST(CliMpi, HasNoVerdictWhenAProcessDiesAndGoesOnLater) {
  const TempFolder folder;
  const std::string program = folder.at("big.txn");
  ASSERT_EQ(
      run_isoscope("generate program smallbank -s 7 -t 2 --seed 1 --access point -o " + program)
          .exit_code,
      0);
  const std::string arguments = "explore " + program + " --json --violations 0 --level si";
  const json one = answer_of(run_isoscope(arguments));
  const std::string shared = arguments + " --mpi --checkpoint " + folder.at("c");
  // The child of mpirun with rank 1 is killed as soon as there is a checkpoint.
  const Ran killed =
      run_shell("{ " + mpirun(2) + "sh -c 'echo $$ > " + folder.at("pid") +
                ".$OMPI_COMM_WORLD_RANK; exec " + isoscope_binary() + " " + shared +
                " --checkpoint-every 0.05' & job=$!; while ! test -s " + folder.at("c") +
                "; do sleep 0.02; done; kill -9 $(cat " + folder.at("pid") + ".1); wait $job; }");
  EXPECT_NE(killed.exit_code, 0);
  EXPECT_EQ(killed.out, "");
  const Ran resumed = run_shell(mpirun(3) + isoscope_binary() + " " + shared + " --resume");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(answer_of(resumed), one);
}

}  // namespace
}  // namespace isoscope
