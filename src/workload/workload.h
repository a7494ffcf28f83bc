#pragma once
// Benchmarks as transactional programs, written as .txn text (docs/programs.md): Smallbank, Voter,
// TPC-C, Wikipedia, Courseware, Twitter and Shopping Cart. Each is a text in workloads/, which
// workload_file.h reads.
//
// A program has the benchmark's transactions in key-value form, the rows at the start, sessions
// of calls drawn by a seed, and claims that hold in every serial run. A smaller program is a
// prefix of a larger one: every call is drawn from the seed, its session and its place there, so
// nothing but the number of calls and the claims about them depends on the sizes.
//
// A table becomes keys: table[i] says whether row i is there, column[i] is a cell, and
// table_rest[i, k] stands for the cells that no transaction looks at. How a statement that names
// a row by its key finds it is a choice:
//
//     RowAccess::Scan   reads every cell of every row, as a store without indexes does. Traces have
//                       about the sizes of [GengBlanasBondWang-PLDI'24], Table 3.
//     RowAccess::Point  reads the cells that it needs, of the row it needs.
//
// Papers   [GengBlanasBondWang-PLDI'24], section 7.1; [BouajjaniEneaRoman-PLDI'23], section 7.2.
// Cost     Linear in the text.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace isoscope {

enum class RowAccess : std::uint8_t { Scan, Point };

// A size of a workload's tables: --accounts 5.
struct TableSize {
  std::string_view name;
  std::string_view help;
  std::int64_t initially = 1;
  std::int64_t least = 1;
  std::int64_t most = 1'000;
};

// What the help of the command line says about a workload.
struct WorkloadInfo {
  std::string_view name;  // smallbank, shopping-cart
  std::string_view summary;
  RowAccess access = RowAccess::Point;  // unless the plan says otherwise
  std::span<const TableSize> sizes;
  bool can_audit = false;
};
std::vector<WorkloadInfo> workloads();

struct WorkloadPlan {
  std::string workload = "smallbank";
  std::int64_t sessions = 3;
  std::int64_t txns = 4;  // a session
  std::uint64_t seed = 1;
  std::optional<RowAccess> access = {};
  bool audit = false;  // a session more, which adds up everything; Smallbank only
  std::map<std::string, std::int64_t, std::less<>> sizes = {};  // those that are not the default
};

// Calls of a program, so that it compiles in a moment.
inline constexpr std::int64_t kMaxWorkloadCalls = 5'000;

// The text of the program, which parses. An Error names the size that is wrong.
Result<std::string> generate_program(const WorkloadPlan& plan);

}  // namespace isoscope
