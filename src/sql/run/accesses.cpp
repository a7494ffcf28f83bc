#include "sql/run/accesses.h"

#include <algorithm>

#include "sql/run/call_state.h"

namespace isoscope::sql {
namespace {

class Collector {
 public:
  explicit Collector(const Application& app) : app_(app) {}

  void add(std::span<const Statement> statements) {
    for (const Statement& s : statements) {
      if (const Query* query = s.query()) add(*query);
      if (const Write* write = s.write()) add_modified(write->table);
      if (const auto* insert = s.find<Insert>()) {
        add_whole(accesses.writes, insert->table);
        add_sets(insert->table, insert->conflict_sets);
      } else if (const auto* update = s.find<Update>()) {
        add_sets(update->table, update->sets);
      } else if (const auto* remove = s.find<Delete>()) {
        accesses.writes.insert({remove->table, std::nullopt});
      }
      add(s.body());
      add(s.otherwise());
      add(s.handler());
    }
  }

  Accesses accesses;

 private:
  void add(const Query& query) {
    if (query.rows) return;
    for (const TableId table : query.sources) accesses.reads.insert({table, std::nullopt});
    const auto mentioned = [&](const Expr& expr) {
      for_each_column(expr, [&](SourceId source, ColumnId column) {
        accesses.reads.insert({query.sources[source], column});
      });
    };
    if (query.where) mentioned(*query.where);
    for (const Output& output : query.outputs) mentioned(output.expr);
    for (const OrderBy& by : query.order_by) mentioned(by.expr);
  }

  void add_whole(std::set<Location>& locations, TableId table) {
    locations.insert({table, std::nullopt});
    for (const ColumnId c : app_.table(table).columns.ids()) locations.insert({table, c});
  }

  // WHERE, the values to set and the constraints may look at any column of the table, and of those
  // that foreign keys link with it.
  void add_modified(TableId table) {
    add_whole(accesses.reads, table);
    for (std::uint32_t t = 0; t < app_.tables.size(); ++t) {
      for (const ForeignKey& foreign : app_.tables[t].foreign_keys) {
        if (TableId{t} == table) add_whole(accesses.reads, foreign.target);
        if (foreign.target == table) add_whole(accesses.reads, TableId{t});
      }
    }
  }

  void add_sets(TableId table, const std::vector<SetColumn>& sets) {
    for (const SetColumn& set : sets) {
      accesses.writes.insert({table, set.column});
      if (app_.table(table).is_key_column(set.column)) add_whole(accesses.writes, table);
    }
  }

  const Application& app_;
};

}  // namespace

Accesses accesses_of(const Application& app, const Function& function) {
  Collector collector(app);
  collector.add(function.body);
  return std::move(collector.accesses);
}

}  // namespace isoscope::sql
