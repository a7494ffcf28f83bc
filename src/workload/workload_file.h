#pragma once
// Reads a workload: a text that says which tables there are, how they are filled, which
// transactions there are, how calls of them are drawn, and what is claimed of the finished run.
//
//     workload voter: a telephone vote        name: what help says of it
//     access scan                             by default; or point
//     audit                                   it takes --audit
//     size callers = 1 in 1..1000: callers    --callers, its default and range
//     table area[a in 1..areas] (state) rest 1    columns, and how many other cells a row has
//     mix vote 3, look 1                      how often each transaction is called
//     rows { … }                              a script (script.h) whose writes are the rows
//     calls { … }                             a script whose locals are the arguments, by name
//     part find(c) { … }                      lines that transactions share (template.h)
//     transactions { … }                      a template with statements (statements.h)
//     claims { … }                            a template with claims (claims.h)
//
// Scripts and templates see the sizes by their names, and scan and audit (1 or 0); calls also see
// client and number (the session and the place of the call) and under the name of each transaction
// whether it is the one that is called; claims see how many sessions there are. The `}` of a block
// stands at the beginning of its line. docs/workloads.md says more.
#include <string>
#include <string_view>
#include <vector>

#include "workload/script.h"
#include "workload/statements.h"
#include "workload/template.h"
#include "workload/workload.h"

namespace isoscope {

struct MixedTxn {
  std::string name;
  std::int64_t weight = 1;
};

struct WorkloadFile {
  WorkloadInfo info = {};  // without the sizes; views of the text
  std::vector<TableSize> sizes = {};
  std::vector<Table> tables = {};
  std::vector<MixedTxn> mix = {};
  TemplateParts parts = {};
  std::vector<SourceLine> rows = {};
  std::vector<SourceLine> calls = {};
  std::vector<SourceLine> transactions = {};
  std::vector<SourceLine> claims = {};
};

// Valid as long as the text. Errors have a place and no file.
Result<WorkloadFile> parse_workload(std::string_view text);

// The blocks of a workload, to be run: apart from the rest, which the command line needs at every
// start.
struct WorkloadCode {
  Script rows;
  Script calls;
  Template transactions;
  Template claims;
};
Result<WorkloadCode> compile_workload(const WorkloadFile& file);

// generate_program() of a workload that need not be among those of the program.
Result<std::string> generate_program(const WorkloadFile& file, const WorkloadPlan& plan);

}  // namespace isoscope
