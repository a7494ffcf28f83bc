#pragma once
// The steps of resolve() (resolve.h), each of which goes through the whole run once:
//
//   survey     which rows are written, which questions are asked, which tables were altered, and
//              how messages go with statements (resolver_survey.cpp)
//   identify   which transaction of the log is which of the recording (resolver.cpp)
//   hand_on    what statements read (resolver_reads.cpp) and what each transaction did
//              (resolver_events.cpp), one after the other
//
// Beyond the part of the run that is looked at (run_source.h), memory holds the versions that
// statements may still see (versions.h), and some words for each transaction.
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "record/accesses.h"
#include "record/gatekeeper.h"
#include "record/pairing.h"
#include "record/resolve.h"
#include "record/run_source.h"

namespace isoscope::record {

class Resolver {
 public:
  // All outlive it. `is_cut`: transactions were under way when the log ended.
  Resolver(RunSource& source, const Catalog& catalog, Versions& versions, Matches& matches,
           Gatekeeper& gates, bool is_cut);

  // Calls `sink` for the transactions in the order in which they ended. An Error comes before any.
  Result<void> run(const ResolvedSink& sink);

 private:
  struct Work {
    ResolvedTxn out;
    std::uint64_t own = 0;  // its id in the log; 0 if it has none, or it is not known
    std::vector<std::shared_ptr<const Shape>> shapes = {};
    std::vector<std::optional<GateMessage>> messages = {};
    std::vector<std::vector<Access>> reads = {};
    std::vector<std::size_t> undone = {};             // by statement: undone_at()
    std::vector<std::set<std::string>> changed = {};  // by statement: the rows that it wrote
    std::vector<bool> knows_changed = {};

    const GateMessage* message(std::size_t i) const {
      return messages[i] ? &*messages[i] : nullptr;
    }
  };
  // A transaction of the log that changed rows.
  struct Logged {
    std::uint64_t xid = 0;
    std::size_t place = 0;
    // Of the transaction of the recording that it is: when its first statement was sent, and its
    // number, from 1; 0 if it did not go through the proxy, or could not be identified.
    Microseconds first_sent = 0;
    std::uint32_t number = 0;
    std::uint32_t tables = 0;  // those that it changed, by number
  };
  // A transaction of the recording whose id was recorded.
  struct Claim {
    std::uint64_t xid = 0;
    Microseconds first_sent = 0;
    std::uint32_t number = 0;
  };

  Result<void> survey();
  void find_altered(const RecordedStatement& statement);
  void find_renamed_functions(const std::string& sql);
  std::shared_ptr<const Shape> shape_of(const RecordedStatement& statement);

  Result<void> identify();
  void find_logged(const DecodedLog& part);
  void find_claim(RecordedTxn& txn, std::uint32_t number, std::size_t places_before,
                  Pairing& pairing);
  void join_claims();
  std::string tables_written(const RecordedTxn& txn);
  void match_the_rest();
  const Logged* logged(std::uint64_t xid) const;
  std::string name_of(std::uint64_t xid) const;

  Result<void> hand_on(const ResolvedSink& sink);
  Result<void> hand_on_part(const ResolvedSink& sink, const DecodedLog& part);
  Result<void> hand_on_unread(const ResolvedSink& sink);
  void hand_on_unmatched(const Logged& logged, const ResolvedSink& sink);
  void forget_part(std::size_t part);
  void settle_prepared(Work& work) const;
  Work work_of(const std::string& session, RecordedTxn txn, std::uint32_t number, Pairing& pairing);

  // May it call functions that are not to be seen?
  bool calls_unseen(const Implied& implied) const;
  std::string obstacle(const Work& work, std::size_t i, const Table*& table) const;
  std::string unreadable(const Work& work, std::size_t i, const std::string& schema,
                         const std::string& name, const Table*& table) const;
  std::optional<std::set<std::string>> lost_rows(const Work& work, std::size_t i,
                                                 const Table& table) const;
  bool is_later(const RecordedStatement& ended, const Version& version) const;
  static const GateMessage* next_snapshot(const Work& work, std::size_t i);
  void find_window(const Work& work, std::size_t i, Execution& run) const;
  std::vector<Versions::Assigned> assigned_by(const Work& work) const;
  void read(Work& work);

  std::size_t writing_statement(const Work& work, const Accesses::Written& written) const;
  void write(Work& work, std::vector<Accesses::Written> written);
  void tell_reads(const Work& work, std::size_t i, Access::Phase phase,
                  std::vector<RunEvent>& events);
  void split(Work& work);

  RunSource& source_;
  const Catalog& catalog_;
  Versions& versions_;
  Gatekeeper& gates_;
  Accesses accesses_;
  GateCounts counts_;
  GateRules rules_;
  std::set<const Table*> altered_;
  std::set<std::string> changed_functions_;  // that were made, altered or dropped
  Microseconds last_end_ = 0;                // of a transaction
  // By part: snapshots of this part and later ones see every transaction before this one.
  std::vector<std::uint64_t> horizons_;

  std::vector<std::uint64_t> owns_;  // ids, by the numbers of transactions
  std::vector<Logged> logged_;       // by id
  std::vector<Claim> claims_;
  std::map<std::string, std::uint32_t> table_sets_;
  std::map<std::uint32_t, std::vector<Claim>> unclaimed_;   // that wrote, by tables
  std::unordered_map<std::uint64_t, std::size_t> unowned_;  // places of ids that are not told yet
  // Of transactions that are in an earlier part of the log than of the recording.
  std::vector<Versions::Assigned> late_;

  std::optional<Pairing> assigning_;
  std::optional<Pairing> reading_;
  std::uint32_t handed_on_ = 0;                                 // the last number
  std::vector<std::pair<std::uint32_t, std::size_t>> pending_;  // numbers and places
};

}  // namespace isoscope::record
