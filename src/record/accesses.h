#pragma once
// What one statement read, computed from its snapshot and the versions of the rows.
//
// Keys (docs/record.md): a row's presence is `t[7]`, a cell `t[7].v`. A lookup by the whole primary
// key reads the presence of its row and the cells that it shows. Any other condition reads, of
// every row of the table, the answer to its question, `t[7]{where v < 5 select v}`: does the row
// match, and what is shown of it if it does. Who changed that answer last is its writer; so a row
// that comes to match, a phantom, is an ordinary write.
//
// A plain read sees, of each row, the last version that its snapshot sees, or that its own
// transaction wrote before. UPDATE, DELETE and locking reads then take the current version of the
// rows that match: at READ COMMITTED that may be a later one, the last that others had committed
// when the transaction took the row. Every answer is compared with the number of rows that the
// server told; where they differ, the statement is a gap.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "record/matches.h"
#include "record/run_file.h"

namespace isoscope::record {

// An execution of a statement, with what the log says of it.
struct Execution {
  const RecordedStatement* statement = nullptr;
  const Shape* shape = nullptr;
  const TableVersions* table = nullptr;  // null: a query of several tables
  const GateMessage* message = nullptr;
  std::uint64_t own = 0;      // id of its transaction; 0 if it has none
  std::size_t own_place = 0;  // of it in the order of commits; 0 if it wrote nothing
  // Of its transaction; nothing if it is not known.
  std::optional<sql::server::PgLevel> level = {};
  bool is_committed = false;  // and what it wrote was not rolled back to a savepoint
  // The snapshot of a later statement of its transaction, taken while the rows that this one locked
  // were locked still: no transaction changed them between. Null if there is none.
  const GateMessage* next = nullptr;
  // Rows of its table that its transaction had written then, and of which the log has nothing,
  // since that was rolled back later.
  const std::set<std::string>* lost = nullptr;
  // Was the version certainly written after the statement had ended?
  std::function<bool(const Version&)> is_later = [](const Version&) { return false; };
  // Changes of its transaction between these places of the log are its own.
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

// A read: of the key, what the transaction of that id wrote (kInitialXid: the initial one). Or a
// lock on the row `key`.
struct Access {
  std::string key;
  std::uint64_t writer = kInitialXid;
  RunEvent::Kind kind = RunEvent::Kind::Read;
  // A statement that waited looked for its rows before, in its snapshot; a foreign key is checked
  // after it, in a newer one, or at the end. Such reads are statements of their own.
  enum class Phase : std::uint8_t { Before, Within, After, AtCommit } phase = Phase::Within;
  // The statement may not depend on it: of several tables, what a row has to do with the answer is
  // known only as far as it has or could have partners.
  bool is_coarse = false;
};

class Accesses {
 public:
  Accesses(const Catalog& catalog, const Versions& versions, Matches& matches)
      : catalog_(catalog), versions_(versions), matches_(matches) {}

  // What the statement read. Returns why that is not known, or an empty text. `changed`: the rows
  // that it wrote, by primary key.
  std::string read(const Execution& run, std::vector<Access>& reads,
                   std::set<std::string>& changed);

  // The questions that statements will ask: they are announced before the first read, since what
  // transactions wrote includes the answers. announce() says which tables must keep all versions
  // for that; then, when these are there, settle() asks the server.
  void announce(const std::shared_ptr<const Shape>& shape, const RecordedStatement& statement,
                Versions& versions);
  // What a deleted row asks of those that refer to it.
  void announce_deleted(const LogChange& change, Versions& versions);
  void settle();

  // What a transaction wrote, as far as it may be read: presence, cells, and the answers to
  // all questions that are asked.
  struct Written {
    std::string key;
    bool deletes = false;
    bool inserts = false;
    std::string value;
    std::uint64_t lsn = 0;         // of the last change of the row by that transaction
    const Table* table = nullptr;  // null of a unique key
    std::string row = {};          // its primary key
  };
  std::vector<Written> writes_of(std::uint64_t xid, std::size_t place) const;
  // What T0 wrote to the keys of rows that are written during the recording. Call it before
  // versions are dropped.
  using EachValue = std::function<void(const std::string& key, const std::string& value)>;
  void initial_values(const EachValue& each) const;

 private:
  struct Question;  // what a statement asks of each row
  class RowSearch;
  struct Answers {
    std::vector<bool> matching = {};     // by Version::id
    std::set<std::size_t> columns = {};  // that an answer shows
    bool matches(const Version* version) const { return exists(version) && matching[version->id]; }
    bool is_same(const Version* a, const Version* b) const;
    // "no", or what is shown of a row that matches.
    std::string text(const Version* version) const;
    // Does the row match, and did its writer set one of the columns that are shown? Then the
    // answer was written, though it may be the same.
    bool is_assigned(const RowChain& chain, const Version& last) const;
    // Who gave a row the answer that it has in the i-th version.
    std::uint64_t writer(const RowChain& chain, std::size_t i);

   private:
    struct Known {
      std::uint32_t edition = 0;  // of the chain
      std::vector<std::uint64_t> writers = {};
    };
    std::unordered_map<const RowChain*, Known> writers_ = {};  // of long chains
  };
  // What a statement on one table asks, without the answers; nothing if the table lacks a column.
  std::optional<Question> asked_of_rows(const Shape& shape, const RecordedStatement& statement,
                                        const TableVersions& versions) const;
  // The same for a table of a block.
  Question asked_of_block(const Shape& shape, std::size_t block, std::size_t i,
                          const RecordedStatement& statement, const TableVersions& versions) const;
  // Finds the answers; false if the question was not announced.
  bool find_answers(const TableVersions& versions, Question& asked);
  std::string read_rows(const Execution& run, std::vector<Access>& reads,
                        std::set<std::string>& changed);
  std::string read_query(const Execution& run, std::vector<Access>& reads);
  std::string read_block_table(const Execution& run, std::size_t block, std::size_t i,
                               std::vector<Access>& reads);
  // Of the i-th table of a block: which versions would be in the answer, with the other tables as
  // the statement saw them? Null if that is not known.
  const std::vector<bool>* in_answer(const Execution& run, std::size_t block, std::size_t i);
  const TableVersions* find(const BlockTable& table) const;
  void answer(const TableVersions& versions, const Question& asked);
  // A row that is deleted, and a table that refers to it.
  struct Reference {
    const TableVersions* children = nullptr;
    std::vector<std::size_t> columns;  // of the child
    std::vector<Cell> values;
    std::string question() const;
    bool matches(const Version& version) const;
  };
  std::optional<Reference> reference(const Table& table, const ChildTable& child,
                                     const std::vector<Cell>& deleted) const;
  std::string read_inserted(const Execution& run, std::vector<Access>& reads,
                            std::set<std::string>& changed);
  // INSERT in a transaction that was rolled back: the log does not have its rows.
  std::string read_undone_insert(const Execution& run, std::vector<Access>& reads,
                                 std::set<std::string>& changed);
  // INSERT of a key that is there (23505).
  std::string read_refused_insert(const Execution& run, std::vector<Access>& reads);
  // The primary key of the row that INSERT … VALUES of one row inserts, if the text states it.
  std::optional<std::string> inserted_key(const Execution& run);
  // `before`: the version that was replaced; null if there was none.
  std::string read_parents(const Execution& run, const Version* before, const Version& version,
                           bool is_last, std::vector<Access>& reads);
  std::string read_children(const Execution& run, const Version& deleted,
                            std::vector<Access>& reads);
  // What changing a row reads besides it: parents, children, unique keys.
  std::string read_constraints(const Execution& run, const std::string& row, const RowChain& chain,
                               std::vector<Access>& reads);
  void write_unique_keys(const TableVersions& versions, std::uint64_t xid, std::size_t place,
                         std::vector<Written>& all) const;
  void write_row(const TableVersions& versions, const std::string& row, const RowChain& chain,
                 std::size_t place, std::vector<Written>& all) const;
  std::string read_ignored(const Execution& run, std::vector<Access>& reads);
  void read_unique(const Execution& run, const Version* before, const Version& version,
                   std::vector<Access>& reads);
  // Of a value of a unique key: who put it there and took it away, in the order of commits.
  struct Holding {
    std::size_t place = 0;  // of the commit
    std::uint64_t lsn = 0;
    std::uint64_t xid = kInitialXid;
    bool begins = true;
  };
  using Holdings = std::map<std::string, std::vector<Holding>>;  // by key
  const Holdings& holdings(const TableVersions& versions) const;

  const Catalog& catalog_;
  const Versions& versions_;
  Matches& matches_;
  mutable std::map<const TableVersions*, Holdings> holdings_;
  std::map<const TableVersions*, std::map<std::string, Answers>> answers_;  // by question
  // What settle() asks: a statement for each new question, and references.
  struct Announced {
    std::shared_ptr<const Shape> shape;
    RecordedStatement statement;
  };
  std::vector<Announced> announced_;
  std::map<const TableVersions*, std::map<std::string, Reference>> references_;  // by question
};

}  // namespace isoscope::record
