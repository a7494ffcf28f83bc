#pragma once
// Knows the statements of every text it has seen, with their shapes (shape.h), and numbers gates.
//
// Texts that differ in constants only share what was found about the first of them (literals.h), so
// that a client which writes its values into its statements costs no more than one that prepares
// them: PostgreSQL's parser is asked once per text without constants.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "record/shape.h"

namespace isoscope::record {

class Appender;

struct KnownStatement {
  StatementText text;
  std::shared_ptr<const Shape> shape;  // null of kinds that have none
};

class Gatekeeper {
 public:
  // `appender`: statements tell what they read and wrote by a column (appending.h), and not by
  // gates. Outlives it.
  explicit Gatekeeper(Appender* appender = nullptr) : appender_(appender) {}

  // The statements of a text, which outlives the result.
  std::vector<KnownStatement> statements(std::string_view text);
  // A shape that was read from this very statement.
  std::shared_ptr<const Shape> exact_shape(std::string_view statement, StatementKind kind);
  std::uint64_t next_gate() { return ++last_; }
  Appender* appender() const { return appender_; }

 private:
  static constexpr std::size_t kMostCached = 10'000;
  struct Found {
    StatementText text;  // without the text itself
    Range place = {};
    std::shared_ptr<const Shape> shape = {};
  };
  struct Entry {
    std::vector<Range> literals;
    std::vector<Found> statements;
    bool is_exact = false;  // constants matter: ask by the whole text
  };
  const Entry& entry_of(std::string_view text, const TextKey& key);
  Entry read(std::string_view text, const TextKey& key) const;

  Appender* appender_;
  std::uint64_t last_ = 0;
  std::unordered_map<std::string, Entry> texts_;        // by key
  std::unordered_map<std::string, Entry> exact_texts_;  // by the text itself
  std::unordered_map<std::string, std::shared_ptr<const Shape>> exact_shapes_;
};

// Has a statement of this kind a shape?
constexpr bool has_shape(StatementKind kind) {
  return kind == StatementKind::Select || kind == StatementKind::Insert ||
         kind == StatementKind::Update || kind == StatementKind::Delete;
}

// Does a statement of this kind write rows?
constexpr bool writes_rows(StatementKind kind) {
  return kind == StatementKind::Insert || kind == StatementKind::Update ||
         kind == StatementKind::Delete;
}

// Where a character of `sent` (counted from 1) was before the edits that made it; of what an edit
// inserted, the place of the edit.
std::size_t place_before_edits(std::string_view sent, const std::vector<Splice>& edits,
                               std::size_t place);

}  // namespace isoscope::record
