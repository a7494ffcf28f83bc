#include "record/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "record/resolver.h"

namespace isoscope::record {

bool is_harmless(StatementKind kind) {
  switch (kind) {
    case StatementKind::Savepoint:
    case StatementKind::Release:
    case StatementKind::RollbackTo:
    case StatementKind::SetTransaction:
    case StatementKind::SetSession:
    case StatementKind::Setting:
      return true;
    default:
      return false;
  }
}

void doubt(RecordedTxn& txn, const std::string& why) {
  for (std::size_t i = 0; i < txn.statements.size(); ++i) {
    if (!is_harmless(txn.statements[i].kind)) txn.gaps.push_back({i + 1, why});
  }
}

Result<void> resolve(std::vector<std::pair<std::string, RecordedTxn>>& txns, ServerLog& log,
                     Gatekeeper& gates, const ResolvedSink& sink, const std::string& home,
                     std::optional<std::size_t> logged) {
  auto decoded = log.read();
  if (!decoded) return decoded.error();
  if (!decoded->trouble.empty())
    return Error{.what = "a line of the server's log is not understood: " + decoded->trouble};
  auto catalog = read_catalog(log.connection());
  if (!catalog) return catalog.error();
  catalog->settle_in(home);
  Versions versions(*catalog, log, *decoded);
  Matches matches(log.connection());
  std::vector<std::pair<std::string, RecordedTxn>> rest;
  const std::size_t known = std::min(logged.value_or(txns.size()), txns.size());
  std::move(txns.begin() + static_cast<std::ptrdiff_t>(known), txns.end(),
            std::back_inserter(rest));
  txns.resize(known);
  Resolver(std::exchange(txns, {}), *catalog, versions, *decoded, matches, gates,
           logged.has_value())
      .run(sink);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    doubt(rest[i].second, "the recording ended before the server's log of it was read");
    ResolvedTxn unread{.session = std::move(rest[i].first),
                       .id = fmt::format("T{}", known + i + 1),
                       .txn = std::move(rest[i].second),
                       .events = {}};
    unread.events.resize(unread.txn.statements.size());
    sink.txn(std::move(unread));
  }
  return {};
}

Result<ResolvedRun> resolve(std::vector<std::pair<std::string, RecordedTxn>>& txns, ServerLog& log,
                            Gatekeeper& gates, const std::string& home,
                            std::optional<std::size_t> logged) {
  ResolvedRun run;
  const ResolvedSink sink{
      .start =
          [&](std::map<std::string, std::string> initial) { run.initial = std::move(initial); },
      .txn = [&](ResolvedTxn txn) { run.txns.push_back(std::move(txn)); }};
  if (auto done = resolve(txns, log, gates, sink, home, logged); !done) return done.error();
  return run;
}

}  // namespace isoscope::record
