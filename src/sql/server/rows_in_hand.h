#pragma once
// Expressions over row versions, and the query part of statements: what matches on a snapshot.
#include "sql/evaluate.h"
#include "sql/server/statement_run.h"

namespace isoscope::sql::server {

// One row for each source, as whole rows of values.
class RowsInHand final : public RowsInScope {
 public:
  RowsInHand() = default;
  explicit RowsInHand(ById<SourceId, const TableRow*> rows) : rows_(std::move(rows)) {}
  Value column(SourceId source, ColumnId column) override { return (*rows_[source])[column]; }
  ById<SourceId, const TableRow*>& rows() { return rows_; }

 private:
  ById<SourceId, const TableRow*> rows_;
};

// The values of a tuple of versions.
RowsInHand in_hand(const Storage& storage, const std::vector<Storage::Seen>& tuple);

// All tuples of rows that the view shows and that meet `where`, in the order of nested scans.
Result<std::vector<std::vector<Storage::Seen>>> matches(const Storage& storage,
                                                        const ById<SourceId, TableId>& sources,
                                                        const std::optional<Expr>& where,
                                                        std::span<const Value> variables,
                                                        const View& view);

// Puts tuples into the order of ORDER BY.
Result<void> sort(const Storage& storage, const Query& query, std::span<const Value> variables,
                  std::vector<std::vector<Storage::Seen>>& tuples);

// The rows of a query without locks, from all its matches in order.
Result<std::vector<std::vector<Value>>> rows_of(const Storage& storage, const Query& query,
                                                const QueryNeeds& needs,
                                                std::span<const Value> variables,
                                                const std::vector<std::vector<Storage::Seen>>& all,
                                                std::size_t max_rows, std::size_t offset);

}  // namespace isoscope::sql::server
