#include "sql/run/modify.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/run/constraints.h"
#include "sql/run/matcher.h"

namespace isoscope::sql {
namespace {

// The row that is there, and the row to insert, as ON CONFLICT DO UPDATE sees them.
class ConflictingRows final : public RowsInScope {
 public:
  ConflictingRows(StatementView& view, TableId table, const RowKey& there, NewRow& excluded)
      : view_(view), table_(table), there_(there), excluded_(excluded) {}
  Value column(SourceId source, ColumnId column) override {
    return source == SourceId{0} ? view_.column(table_, there_, column) : excluded_.column(column);
  }

 private:
  StatementView& view_;
  TableId table_;
  const RowKey& there_;
  NewRow& excluded_;
};

class Modification {
 public:
  Modification(CallState& call, const Write& write)
      : call_(call), write_(write), table_(call.app.table(write.table)), view_(call) {}

  Result<Modified> run(const Insert& insert) {
    NewRow row(call_, write_.table);
    bool has_fresh_key = false;
    if (auto filled = fill(row, insert.sets, has_fresh_key); !filled) return filled.error();
    if (auto valid = check_values(call_, row); !valid) return valid.error();
    // The key that ON CONFLICT names goes first: a row that is there by it decides.
    for (const bool named : {true, false}) {
      for (const auto& key : keys(!has_fresh_key)) {
        if (insert.names_key(key) != named) continue;
        if (const auto there = find_double(call_, row, key))
          return conflict(insert, row, *there, named);
      }
    }
    if (auto valid = check_references(call_, row); !valid) return valid.error();
    put(row);
    return finished(row);
  }

  Result<Modified> run(const Update& update) {
    if (auto searched = search(update); !searched) return searched.error();
    std::vector<NewRow> rows;
    Matcher matcher(view_, {update.table}, update.where ? &*update.where : nullptr);
    auto matched = matcher.for_each([&](Tuple& tuple) -> Result<bool> {
      const RowKey& key = tuple.keys().front();
      if (update.once && !call_.changed_rows.insert({update.table, key}).second) return true;
      NewRow row(view_, write_.table, key);
      for (const Expr& expr : write_.returning) {
        // The row before is read before it is changed.
        for (const ColumnId column : columns_of(expr, SourceId{1}))
          view_.column(write_.table, key, column);
      }
      if (auto fired = fire_before(update, tuple); !fired) return fired.error();
      if (auto done = set_all(row, update.sets, tuple); !done) return done.error();
      rows.push_back(std::move(row));
      return true;
    });
    if (!matched) return matched.error();
    for (NewRow& row : rows) {
      if (auto done = replace(row); !done) return done.error();
      if (auto done = finish(row); !done) return done.error();
    }
    return modified_;
  }

  // What BEFORE triggers raise.
  Result<void> fire_before(const Update& update, Tuple& tuple) {
    for (std::size_t i = 0; i < update.raises.size(); ++i) {
      auto holds = tuple.value(update.raises[i]);
      if (!holds) return holds.error();
      if (!is_true(*holds)) continue;
      auto state = tuple.value(update.raised_states[i]);
      if (!state) return state.error();
      call_.sqlstate = std::get<std::string>(state->data);
      return Error{.what = "a trigger raises an exception"};
    }
    return {};
  }

  Result<Modified> run(const Delete& remove, bool counts) {
    const auto searched = search(remove);
    if (!searched) return searched.error();
    Matcher matcher(view_, {remove.table}, remove.where ? &*remove.where : nullptr);
    const bool must_look =
        *searched || counts || !write_.returning.empty() || is_referenced(call_.app, write_.table);
    if (!must_look) {
      auto by_key = matcher.only_key();
      if (!by_key) return by_key.error();
      if (*by_key) {
        if ((*by_key)->key) call_.database.set_present(write_.table, *(*by_key)->key, false);
        return modified_;
      }
    }
    std::vector<RowKey> keys;
    std::vector<TableRow> old;
    auto matched = matcher.for_each([&](Tuple& tuple) -> Result<bool> {
      keys.push_back(tuple.keys().front());
      old.push_back(referenced_values(keys.back()));
      if (auto done = add_returning(tuple); !done) return done.error();
      return true;
    });
    if (!matched) return matched.error();
    for (const RowKey& key : keys) call_.database.set_present(write_.table, key, false);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      auto valid = check_not_referenced(call_, write_.table, keys[i], old[i], true);
      if (!valid) return valid.error();
    }
    modified_.num_rows = keys.size();
    return modified_;
  }

 private:
  Result<bool> search(const SearchedWrite& write) {
    return Matcher::search_first(call_, {write.table}, write.where ? &*write.where : nullptr);
  }

  // Gives every column of a new row its value.
  Result<void> fill(NewRow& row, const std::vector<SetColumn>& sets, bool& has_fresh_key) {
    for (const SetColumn& set : sets) {
      auto value = evaluate(set.value, call_.variables);
      if (!value) return value.error();
      row.set(set.column, *std::move(value));
    }
    for (const ColumnId c : table_.columns.ids()) {
      const Column& column = table_.columns[c];
      if (row.is_set(c)) continue;
      if (column.is_fresh) {
        if (column.drawn_from && call_.database.may_meet_rows(*column.drawn_from))
          return call_.limit(may_be_taken(call_.app, *column.drawn_from));
        row.set(c, call_.database.fresh(write_.table, c));
        has_fresh_key = has_fresh_key || table_.is_key_column(c);
      } else if (column.default_value) {
        auto value = evaluate(*column.default_value, {});
        if (!value) return value.error();
        row.set(c, *std::move(value));
      } else {
        row.set(c, Value());
      }
    }
    return {};
  }

  // The keys of the table: the primary key, if it matters, and the UNIQUE ones.
  std::vector<std::vector<ColumnId>> keys(bool with_primary) const {
    std::vector<std::vector<ColumnId>> all;
    if (with_primary) all.push_back(table_.primary_key);
    all.insert(all.end(), table_.unique.begin(), table_.unique.end());
    return all;
  }

  Error is_there(NewRow& row, const RowKey& there) const {
    return {.what = fmt::format("{} has a row {}{} already", table_.name, print(there),
                                there == row.key() ? "" : " with the same unique values")};
  }

  Result<Modified> conflict(const Insert& insert, NewRow& row, const RowKey& there,
                            bool is_handled) {
    if (!is_handled) return is_there(row, there);
    if (insert.conflict == OnConflict::Nothing) return modified_;
    ConflictingRows both(view_, write_.table, there, row);
    if (insert.conflict_where) {
      auto applies = evaluate(*insert.conflict_where, call_.variables, both);
      if (!applies) return applies.error();
      if (!is_true(*applies)) return modified_;
    }
    NewRow changed(view_, write_.table, there);
    for (const SetColumn& set : insert.conflict_sets) {
      auto value = evaluate(set.value, call_.variables, both);
      if (!value) return value.error();
      changed.set(set.column, *std::move(value));
    }
    if (auto done = replace(changed); !done) return done.error();
    return finished(changed);
  }

  Result<void> set_all(NewRow& row, const std::vector<SetColumn>& sets, Tuple& tuple) {
    for (const SetColumn& set : sets) {
      auto value = tuple.value(set.value);
      if (!value) return value.error();
      row.set(set.column, *std::move(value));
    }
    return {};
  }

  // Writes a row that was not there.
  void put(NewRow& row) {
    const RowKey key = row.key();
    call_.database.set_present(write_.table, key, true);
    for (const ColumnId c : table_.columns.ids()) {
      if (!table_.is_key_column(c)) call_.database.write(write_.table, key, c, row.column(c));
    }
  }

  // Writes what becomes of a row that was there.
  Result<void> replace(NewRow& row) {
    if (auto valid = check_values(call_, row); !valid) return valid;
    const RowKey old_key = *row.old_key();
    const RowKey key = row.key();
    const bool moves = key != old_key;
    for (const auto& unique : keys(moves)) {
      if (const auto there = find_double(call_, row, unique)) return is_there(row, *there);
    }
    if (auto valid = check_references(call_, row); !valid) return valid;
    const bool loses_references = changes_referenced_value(row);
    const TableRow old = loses_references ? referenced_values(old_key) : TableRow();
    if (moves) {
      for (const ColumnId c : table_.columns.ids()) row.set(c, row.column(c));
      call_.database.set_present(write_.table, old_key, false);
      put(row);
    } else {
      for (const ColumnId c : table_.columns.ids()) {
        if (row.is_set(c) && !table_.is_key_column(c))
          call_.database.write(write_.table, key, c, row.column(c));
      }
    }
    if (!loses_references) return {};
    return check_not_referenced(call_, write_.table, old_key, old, false);
  }

  // The columns that foreign keys of any table target, in a row that is there; others are NULL.
  TableRow referenced_values(const RowKey& key) {
    TableRow values(table_.columns.size());
    for_each_target(
        [&](ColumnId column) { values[column] = view_.column(write_.table, key, column); });
    return values;
  }

  bool changes_referenced_value(NewRow& row) {
    bool changes = false;
    for_each_target([&](ColumnId column) {
      changes =
          changes || (row.is_set(column) &&
                      row.column(column) != view_.column(write_.table, *row.old_key(), column));
    });
    return changes;
  }

  template <class Visit>
  void for_each_target(const Visit& visit) {
    for (const Table& other : call_.app.tables) {
      for (const ForeignKey& foreign : other.foreign_keys) {
        if (foreign.target != write_.table) continue;
        for (const ColumnId column : foreign.target_columns) visit(column);
      }
    }
  }

  Result<void> add_returning(RowsInScope& row) {
    if (write_.returning.empty()) return {};
    auto& values = modified_.returning.emplace_back();
    for (const Expr& expr : write_.returning) {
      auto value = evaluate(expr, call_.variables, row);
      if (!value) return value.error();
      values.push_back(*std::move(value));
    }
    return {};
  }

  Result<void> finish(NewRow& row) {
    ++modified_.num_rows;
    return add_returning(row);
  }

  Result<Modified> finished(NewRow& row) {
    if (auto done = finish(row); !done) return done.error();
    return modified_;
  }

  CallState& call_;
  const Write& write_;
  const Table& table_;
  StatementView view_;
  Modified modified_;
};

}  // namespace

Result<Modified> run_modification(CallState& call, const Statement& statement, bool counts) {
  Modification modification(call, *statement.write());
  if (const auto* insert = statement.find<Insert>()) return modification.run(*insert);
  if (const auto* update = statement.find<Update>()) return modification.run(*update);
  return modification.run(statement.as<Delete>(), counts);
}

}  // namespace isoscope::sql
