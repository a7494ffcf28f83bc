#pragma once
// The steps of resolve() (resolve.h): which message of the log is of which statement and which
// transaction of the log is which of the recording (resolver.cpp), what statements read
// (resolver_reads.cpp), and what each transaction did, one after the other (resolver_events.cpp).
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "record/accesses.h"
#include "record/gatekeeper.h"
#include "record/resolve.h"

namespace isoscope::record {

class Resolver {
 public:
  // All but `txns` outlive it. `is_cut`: transactions were under way when the log ended.
  Resolver(std::vector<std::pair<std::string, RecordedTxn>> txns, const Catalog& catalog,
           Versions& versions, const DecodedLog& log, Matches& matches, Gatekeeper& gates,
           bool is_cut);

  // Hands on the transactions in the order in which they ended.
  void run(const ResolvedSink& sink);

 private:
  struct Work {
    ResolvedTxn out;
    std::uint64_t own = 0;  // its id in the log; 0 if it has none, or it is not known
    std::vector<std::shared_ptr<const Shape>> shapes;
    std::vector<const GateMessage*> messages;
    std::vector<std::vector<Access>> reads = {};
    std::vector<std::size_t> undone = {};             // by statement: undone_at()
    std::vector<std::set<std::string>> changed = {};  // by statement: the rows that it wrote
    std::vector<bool> knows_changed = {};
  };

  void find_shapes();
  void find_altered();
  void pair_messages();
  static void leave_out_unended(std::vector<const GateMessage*>& sent, std::size_t ended);
  void find_ids();
  void claim(Work& work);
  static std::string signature(const std::set<std::string>& tables);
  void match_the_rest();
  void add_strangers();

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
  void find_assigned(Work& work);
  void read(Work& work);

  static std::size_t writing_statement(const Work& work, std::uint64_t lsn);
  void write(Work& work, std::vector<Accesses::Written> written);
  void tell_reads(const Work& work, std::size_t i, Access::Phase phase,
                  std::vector<RunEvent>& events);
  void split(Work& work);

  const Catalog& catalog_;
  Versions& versions_;
  const DecodedLog& log_;
  Gatekeeper& gates_;
  bool is_cut_;
  Accesses accesses_;
  std::vector<Work> works_;
  std::set<std::uint64_t> claimed_;
  std::set<const Table*> altered_;
  std::map<std::uint64_t, std::string> names_;
  std::map<std::uint64_t, const Work*> by_id_;
};

}  // namespace isoscope::record
