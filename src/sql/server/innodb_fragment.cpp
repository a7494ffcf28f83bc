#include "sql/server/innodb_fragment.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql/server/innodb_run.h"

namespace isoscope::sql::server {
namespace {

class FragmentCheck {
 public:
  explicit FragmentCheck(const Application& app) : app_(app) {}

  void check(const Function& function) {
    function_ = &function;
    check_body(function.body);
  }

  // The first reason against it.
  const std::optional<Error>& error() const { return error_; }

  std::vector<Note> notes() {
    // A deleted row stays in the index until it is purged, and locks on it with it.
    for (const auto& [table, place] : deleted_) {
      if (!locked_.contains(table)) continue;
      note(place, "",
           fmt::format("rows of {} that were deleted are taken to stay in the index, as they do "
                       "until MariaDB purges them: from then on locks are others",
                       app_.table(table).name));
    }
    return std::move(notes_);
  }

 private:
  void refuse(Place where, std::string what, std::string hint) {
    if (!error_) error_ = Error{.where = where, .what = std::move(what), .hint = std::move(hint)};
  }
  void note(Place where, std::string function, std::string what) {
    if (told_.insert({function, what}).second)
      notes_.push_back({where, std::move(function), std::move(what), NoteKind::Gap});
  }

  void check_body(std::span<const Statement> body) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      const Statement& s = body[i];
      check_kind(s);
      if (s.is_sql()) check_sql(s);
      for_each_expr(s, [&](const Expr& expr) { check_expr(expr, s.place); });
      // Parts of one statement: sub-queries and what uses them, or rows of one INSERT.
      const bool is_group = s.continues && s.is_sql() && i > 0 && body[i - 1].is_sql();
      if (is_group && (changes(s) || changes(body[i - 1])) &&
          (!s.is<Insert>() || !body[i - 1].is<Insert>()))
        refuse(s.place,
               "sub-queries of a statement that writes or locks are not executed as "
               "MariaDB does: they lock, too",
               "select into a variable first");
      check_body(s.body());
      check_body(s.otherwise());
    }
  }

  static bool changes(const Statement& s) { return !is_plain_read(s); }

  void check_kind(const Statement& s) {
    const auto missing = [&](std::string_view what) {
      refuse(s.place, fmt::format("{} is not executed as MariaDB does", what),
             "--server postgres can execute it");
    };
    if (s.advisory() != nullptr) return missing("an advisory lock of PostgreSQL");
    if (s.draws()) return missing("nextval");
    if (s.catches()) return missing("an EXCEPTION block");
    if (s.is<EndTransaction>()) return missing("COMMIT or ROLLBACK in a procedure");
    if (s.is<Block>()) return missing("a call of another function, or a trigger,");
    const auto* insert = s.find<Insert>();
    const auto* update = s.find<Update>();
    if ((s.searched() != nullptr && s.searched()->once) ||
        (update != nullptr && !update->raises.empty()))
      return missing("this statement");
    if (insert != nullptr && insert->conflict != OnConflict::Fail) return missing("ON CONFLICT");
    if (s.write() == nullptr || s.write()->returning.empty()) return;
    missing(update != nullptr ? "UPDATE … RETURNING" : "RETURNING");
  }

  void check_sql(const Statement& s) {
    const Query* query = s.query();
    if (query != nullptr) {
      for (const TableId table : query->sources) check_table(table, s);
      if (!changes(s)) return check_plain(s, *query);
      check_locking_query(s, *query);
    } else {
      check_table(s.write()->table, s);
      check_written(s);
    }
    if (error_ || s.is<Insert>()) return;
    const TableId table = query != nullptr ? query->sources.front() : s.write()->table;
    locked_.insert(table);
    const auto& where = query != nullptr ? query->where : s.searched()->where;
    if (!key_of_where(app_.table(table), where) || repeats_known_column(where))
      refuse(
          s.place,
          fmt::format("which rows of {} MariaDB locks here depends on its plan",
                      app_.table(table).name),
          "statements that lock or write are executed if WHERE names one row by its primary key");
  }

  void check_locking_query(const Statement& s, const Query& query) {
    const auto missing = [&](std::string_view what) {
      refuse(s.place, fmt::format("{} is not executed as MariaDB does", what),
             "FOR UPDATE and FOR SHARE (LOCK IN SHARE MODE) of one row are");
    };
    if (query.lock == Lock::KeyShare) return missing("FOR KEY SHARE");
    if (query.lock == Lock::NoKeyUpdate) return missing("FOR NO KEY UPDATE");
    if (query.wait != LockWait::Wait) return missing("NOWAIT or SKIP LOCKED");
    if (query.sources.size() != 1) return missing("a lock on rows of several tables");
    if (query.limit || query.offset || query.distinct || query.is_aggregate())
      return missing("a lock with LIMIT, DISTINCT or an aggregate");
  }

  void check_written(const Statement& s) {
    const TableId id = s.write()->table;
    const Table& table = app_.table(id);
    const auto refuse_table = [&](std::string_view what) {
      refuse(s.place,
             fmt::format("{} has {}, whose locks on MariaDB are not modelled", table.name, what),
             "--server postgres can execute it");
    };
    if (!table.unique.empty()) return refuse_table("a further unique key");
    if (!table.exclusions.empty()) return refuse_table("an EXCLUDE constraint");
    if (!table.foreign_keys.empty()) return refuse_table("a foreign key");
    for (const Table& other : app_.tables) {
      for (const ForeignKey& key : other.foreign_keys) {
        if (key.target == id) return refuse_table("a foreign key that refers to it");
      }
    }
    for (const Column& column : table.columns) {
      if (column.is_fresh || column.is_hidden)
        return refuse_table("a column that the database fills");
      if (column.generated) return refuse_table("a generated column");
      if (column.default_value) check_expr(*column.default_value, column.place);
    }
    for (const Expr& constraint : table.checks) check_expr(constraint, table.place);
    if (const auto* update = s.find<Update>()) {
      for (const SetColumn& set : update->sets) {
        if (table.is_key_column(set.column))
          return refuse(s.place, "a change of the primary key is not executed as MariaDB does",
                        "--server postgres can execute it");
      }
    }
    if (s.is<Delete>()) deleted_.insert({id, s.place});
    if (s.is<Insert>()) locked_.insert(id);
  }

  void check_table(TableId id, const Statement& s) {
    const Table& table = app_.table(id);
    for (const ColumnId column : table.primary_key) {
      if (table.columns[column].type != Type::Integer)
        refuse(s.place, fmt::format("the primary key of {} is no whole number", table.name),
               "others are compared as a collation does, which is not modelled");
    }
  }

  void check_plain(const Statement& s, const Query& query) {
    if (repeats_known_column(query.where))
      note(s.place, function_->name,
           "whether this takes a snapshot on MariaDB depends on its optimizer");
    for (const OrderBy& by : query.order_by) {
      const bool is_set =
          by.expr.op == ExprOp::Column &&
          app_.table(query.sources[by.expr.source]).columns[by.expr.column].not_null;
      if (!is_set)
        note(s.place, function_->name, "NULL is the greatest value here, on MariaDB the least");
    }
  }

  void check_expr(const Expr& expr, Place where) {
    const auto differs = [&](std::string_view what) {
      note(expr.place.line > 0 ? expr.place : where, function_->name,
           fmt::format("{} may mean another thing on MariaDB", what));
    };
    switch (expr.op) {
      case ExprOp::Divide: differs("/"); break;
      case ExprOp::Modulo: differs("% by zero"); break;
      case ExprOp::Concat: differs("||"); break;
      case ExprOp::Opaque: differs(expr.text); break;
      case ExprOp::Least:
      case ExprOp::Greatest: differs("LEAST or GREATEST of NULL"); break;
      case ExprOp::Decimal:
      case ExprOp::ToNumeric:
      case ExprOp::ToInteger:
      case ExprOp::Round: differs("a decimal number"); break;
      case ExprOp::Element:
      case ExprOp::Cardinality:
      case ExprOp::ArrayOf:
      case ExprOp::InArray: differs("an array"); break;
      case ExprOp::Equal:
      case ExprOp::NotEqual:
      case ExprOp::Less:
      case ExprOp::LessEqual:
      case ExprOp::Greater:
      case ExprOp::GreaterEqual:
        if (expr.args[0].type == Type::Text) differs("a comparison of texts");
        break;
      case ExprOp::Null:
      case ExprOp::Integer:
      case ExprOp::Text:
      case ExprOp::Boolean:
      case ExprOp::Variable:
      case ExprOp::Column:
      case ExprOp::Not:
      case ExprOp::Negate:
      case ExprOp::IsNull:
      case ExprOp::Add:
      case ExprOp::Subtract:
      case ExprOp::Multiply:
      case ExprOp::And:
      case ExprOp::Or:
      case ExprOp::If:
      case ExprOp::Coalesce:
      case ExprOp::Abs: break;
    }
    for (const Expr& arg : expr.args) check_expr(arg, where);
  }

  template <class Visit>
  static void for_each_expr(const Statement& s, const Visit& visit) {
    if (!s.is_sql()) return;  // what a function computes by itself is ours
    if (const SearchedWrite* write = s.searched(); write != nullptr && write->where)
      visit(*write->where);
    if (const auto* insert = s.find<Insert>()) {
      for (const SetColumn& set : insert->sets) visit(set.value);
    }
    if (const auto* update = s.find<Update>()) {
      for (const SetColumn& set : update->sets) visit(set.value);
    }
    const Query* query = s.query();
    if (query == nullptr) return;
    if (query->where) visit(*query->where);
    for (const Output& output : query->outputs) visit(output.expr);
  }

  const Application& app_;
  const Function* function_ = nullptr;
  std::optional<Error> error_;
  std::vector<Note> notes_;
  std::set<std::pair<std::string, std::string>> told_;
  std::set<TableId> locked_;
  std::map<TableId, Place> deleted_;
};

}  // namespace

Result<std::vector<Note>> check_innodb(const SqlProgram& program) {
  FragmentCheck check(program.app());
  for (std::uint32_t call = 0; call < program.outline().calls.size(); ++call)
    check.check(program.function(CallId{call}));
  if (check.error()) return *check.error();
  return check.notes();
}

}  // namespace isoscope::sql::server
