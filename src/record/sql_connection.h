#pragma once
// A connection of our own to the server, beside those that are recorded.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/run.h"
#include "support/result.h"

struct pg_conn;
struct pg_result;

namespace isoscope::record {

using Cell = std::optional<std::string>;  // nothing is NULL
using Row = std::vector<Cell>;

class SqlConnection {
 public:
  static Result<SqlConnection> open(const std::string& dsn);

  // The rows of the answer, as text.
  Result<std::vector<Row>> query(const std::string& sql);
  // The same with parameters as a client sent them.
  Result<std::vector<Row>> query(const std::string& sql, const std::vector<Parameter>& parameters,
                                 const std::vector<std::uint32_t>& types);
  // Calls `line` for each line that COPY … TO STDOUT prints, newline included; returns how many.
  Result<std::size_t> copy_out(const std::string& copy,
                               const std::function<void(std::string_view)>& line);
  // Copies rows into a table: COPY … FROM STDIN; and lines as COPY prints them.
  Result<void> copy_in(const std::string& copy, const std::vector<Row>& rows,
                       const std::vector<std::string>& lines = {});

 private:
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  explicit SqlConnection(pg_conn* connection) : connection_(connection) {}
  Error error() const;
  Result<std::vector<Row>> rows_of(pg_result* answer);

  std::unique_ptr<pg_conn, Close> connection_;
};

// What COPY prints as `field`.
std::string unescaped_copy(std::string_view field);
// "name" for SQL.
std::string quoted_name(const std::string& name);

}  // namespace isoscope::record
