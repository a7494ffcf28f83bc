// What gates are on the server, and what they report.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "force/gates.h"

namespace isoscope::force {

std::string gate_functions(const std::string& schema) {
  constexpr const char* kFunctions = R"(
CREATE SEQUENCE @.isoscope_execution;
CREATE FUNCTION @.isoscope_value(v anyelement) RETURNS text LANGUAGE sql STABLE AS $gate$
SELECT CASE
  WHEN v IS NOT NULL AND pg_catalog.pg_typeof(v) IN
    ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype)
    THEN CASE WHEN v::text LIKE '-%' THEN '(' || v::text || ')' ELSE v::text END
  ELSE pg_catalog.quote_nullable(v::text) || '::' ||
    CASE pg_catalog.pg_typeof(v)::text WHEN 'character' THEN 'bpchar' WHEN 'bit' THEN 'varbit'
      ELSE pg_catalog.pg_typeof(v)::text END
  END
$gate$;
CREATE FUNCTION @.isoscope_gate(statement int, vals text[]) RETURNS boolean
LANGUAGE plpgsql AS $gate$
DECLARE
  n int := 0;
  c int := coalesce(nullif(current_setting('isoscope.actor', true), ''), '0')::int;
  x bigint;
BEGIN
  IF c > 0 THEN
    -- A sequence, since an EXCEPTION block does not take its numbers back.
    n := pg_catalog.nextval(('@.isoscope_gate_' || c)::regclass);
    PERFORM pg_catalog.pg_advisory_xact_lock(c, n);
  END IF;
  x := pg_catalog.nextval('@.isoscope_execution');
  PERFORM pg_catalog.set_config('isoscope.execution', x::text, false);
  RAISE INFO '%', 'isoscope gate ' || pg_catalog.json_build_array(statement, n, x,
    (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint,
    pg_catalog.to_json(vals))::text;
  RETURN true;
END
$gate$;
CREATE FUNCTION @.isoscope_done(statement int, n bigint) RETURNS boolean
LANGUAGE plpgsql AS $gate$
BEGIN
  RAISE INFO '%', 'isoscope rows ' || pg_catalog.json_build_array(statement, n,
    (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint)::text;
  RETURN true;
END
$gate$;
)";
  std::string text = kFunctions;
  for (int actor = 0; actor < kMostGatedActors; ++actor)
    text += fmt::format("CREATE SEQUENCE @.isoscope_gate_{} MINVALUE 0 START 0;\n",
                        kFirstGateClass + actor);
  for (std::size_t i = 0; (i = text.find('@', i)) != std::string::npos; i += schema.size())
    text.replace(i, 1, schema);
  return text;
}

std::vector<GateNotice> read_notices(const std::vector<std::string>& notices) {
  using nlohmann::json;
  std::vector<GateNotice> read;
  for (const std::string& notice : notices) {
    const bool is_gate = notice.starts_with(kGateNotice);
    if (!is_gate && !notice.starts_with(kRowsNotice)) continue;
    const json told =
        json::parse(notice.substr(kGateNotice.size()), nullptr, /*allow_exceptions=*/false);
    if (!told.is_array() || told.size() < 3) continue;
    if (!is_gate) {
      // The statements of functions that it calls have told theirs in between.
      const auto open = std::find_if(read.rbegin(), read.rend(), [&](const GateNotice& one) {
        return !one.rows && told[0] == one.statement.index;
      });
      if (open == read.rend()) continue;
      open->rows = told[1].get<std::uint64_t>();
      open->end = told[2].get<std::int64_t>();
      continue;
    }
    GateNotice one{.statement = {told[0].get<std::uint32_t>()},
                   .turn = {told[1].get<std::uint32_t>()},
                   .execution = told[2].get<std::uint64_t>(),
                   .time = told[3].get<std::int64_t>(),
                   .values = {}};
    for (const json& value : told[4]) one.values.push_back(value.get<std::string>());
    read.push_back(std::move(one));
  }
  return read;
}

}  // namespace isoscope::force
