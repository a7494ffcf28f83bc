#pragma once
// What the program returns to the shell: the one place that maps outcomes to exit codes.
//
//   0  the good answer: consistent, nothing found, done
//   1  the interesting one: violated, found
//   2  the input is bad
//   3  unknown: a limit was reached, or what is asked is not known
#include <cstdint>
#include <string_view>

namespace isoscope {

enum ExitCode : int { kGood = 0, kInteresting = 1, kBadInput = 2, kUnknown = 3 };

enum class Outcome : std::uint8_t;
enum class SynthOutcome : std::uint8_t;
namespace audit {
enum class AuditOutcome : std::uint8_t;
}
namespace explore {
enum class ExploreOutcome : std::uint8_t;
}
namespace force {
enum class ForceVerdict : std::uint8_t;
}
namespace predict {
enum class PredictOutcome : std::uint8_t;
}

int exit_code(Outcome outcome);
int exit_code(SynthOutcome outcome);
int exit_code(audit::AuditOutcome outcome);
int exit_code(explore::ExploreOutcome outcome);
int exit_code(force::ForceVerdict verdict);
int exit_code(predict::PredictOutcome outcome);
// Of a report whose verdict is only a word: that of run, probe, explore and run on a server.
int exit_code(std::string_view verdict);

}  // namespace isoscope
