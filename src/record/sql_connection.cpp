#include "record/sql_connection.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>

namespace isoscope::record {

void SqlConnection::Close::operator()(pg_conn* connection) const { PQfinish(connection); }

Error SqlConnection::error() const {
  std::string why = PQerrorMessage(connection_.get());
  while (why.ends_with('\n')) why.pop_back();
  std::replace_if(
      why.begin(), why.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return Error{.what = why};
}

Result<SqlConnection> SqlConnection::open(const std::string& dsn) {
  SqlConnection made(PQconnectdb((dsn).c_str()));
  if (PQstatus(made.connection_.get()) != CONNECTION_OK)
    return Error{.what = fmt::format("cannot connect to the server: {}", made.error().what),
                 .hint = "--dsn is read as psql reads it"};
  PQsetNoticeProcessor(
      made.connection_.get(), [](void*, const char*) {}, nullptr);
  return made;
}

Result<std::vector<Row>> SqlConnection::rows_of(pg_result* answer) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(answer, PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return error();
  std::vector<Row> rows(static_cast<std::size_t>(PQntuples(result.get())));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (int j = 0; j < PQnfields(result.get()); ++j) {
      const int row = static_cast<int>(i);
      if (PQgetisnull(result.get(), row, j) != 0) {
        rows[i].emplace_back();
      } else {
        rows[i].emplace_back(
            std::string(PQgetvalue(result.get(), row, j),
                        static_cast<std::size_t>(PQgetlength(result.get(), row, j))));
      }
    }
  }
  return rows;
}

Result<std::vector<Row>> SqlConnection::query(const std::string& sql) {
  return rows_of(PQexec(connection_.get(), sql.c_str()));
}

Result<std::vector<Row>> SqlConnection::query(const std::string& sql,
                                              const std::vector<Parameter>& parameters,
                                              const std::vector<std::uint32_t>& types) {
  std::vector<Oid> oids(parameters.size());
  std::vector<const char*> values(parameters.size());
  std::vector<int> lengths(parameters.size());
  std::vector<int> formats(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    oids[i] = i < types.size() ? types[i] : 0;
    values[i] = parameters[i].is_null ? nullptr : parameters[i].bytes.c_str();
    lengths[i] = static_cast<int>(parameters[i].bytes.size());
    formats[i] = parameters[i].is_binary ? 1 : 0;
  }
  return rows_of(PQexecParams(connection_.get(), sql.c_str(), static_cast<int>(parameters.size()),
                              oids.data(), values.data(), lengths.data(), formats.data(), 0));
}

Result<std::size_t> SqlConnection::copy_out(const std::string& copy,
                                            const std::function<void(std::string_view)>& line) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> begin(PQexec(connection_.get(), copy.c_str()),
                                                            PQclear);
  if (PQresultStatus(begin.get()) != PGRES_COPY_OUT) return error();
  std::size_t lines = 0;
  char* data = nullptr;
  for (int size = 0; (size = PQgetCopyData(connection_.get(), &data, 0)) > 0; ++lines) {
    const std::unique_ptr<char, decltype(&PQfreemem)> owner(data, PQfreemem);
    line(std::string_view(data, static_cast<std::size_t>(size)));
  }
  std::optional<Error> failure;
  while (PGresult* answer = PQgetResult(connection_.get())) {
    if (PQresultStatus(answer) != PGRES_COMMAND_OK) failure = error();
    PQclear(answer);
  }
  if (failure) return *failure;
  return lines;
}

std::string unescaped_copy(std::string_view field) {
  std::string out;
  out.reserve(field.size());
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\' || i + 1 == field.size()) {
      out += field[i];
      continue;
    }
    constexpr std::string_view kLetters = "bfnrtv";
    constexpr std::string_view kSigns = "\b\f\n\r\t\v";
    const std::size_t sign = kLetters.find(field[++i]);
    out += sign == std::string_view::npos ? field[i] : kSigns[sign];
  }
  return out;
}

Result<void> SqlConnection::copy_in(const std::string& copy, const std::vector<Row>& rows,
                                    const std::vector<std::string>& lines) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> begin(PQexec(connection_.get(), copy.c_str()),
                                                            PQclear);
  if (PQresultStatus(begin.get()) != PGRES_COPY_IN) return error();
  std::string text;
  for (const std::string& line : lines) text += line;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += '\t';
      if (!row[i]) {
        text += "\\N";
        continue;
      }
      for (const char c : *row[i]) {
        if (c == '\\')
          text += "\\\\";
        else if (c == '\t')
          text += "\\t";
        else if (c == '\n')
          text += "\\n";
        else if (c == '\r')
          text += "\\r";
        else
          text += c;
      }
    }
    text += '\n';
    if (text.size() < std::size_t{64} << 10U) continue;
    if (PQputCopyData(connection_.get(), text.data(), static_cast<int>(text.size())) != 1)
      return error();
    text.clear();
  }
  if (!text.empty() &&
      PQputCopyData(connection_.get(), text.data(), static_cast<int>(text.size())) != 1)
    return error();
  if (PQputCopyEnd(connection_.get(), nullptr) != 1) return error();
  Result<void> outcome;
  while (PGresult* answer = PQgetResult(connection_.get())) {
    if (PQresultStatus(answer) != PGRES_COMMAND_OK) outcome = error();
    PQclear(answer);
  }
  return outcome;
}

std::string quoted_name(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace isoscope::record
