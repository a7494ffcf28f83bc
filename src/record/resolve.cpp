#include "record/resolve.h"

#include "record/resolver.h"

namespace isoscope::record {

bool is_harmless(StatementKind kind) {
  switch (kind) {
    case StatementKind::Savepoint:
    case StatementKind::Release:
    case StatementKind::RollbackTo:
    case StatementKind::SetTransaction:
    case StatementKind::SetSession:
    case StatementKind::Setting: return true;
    default: return false;
  }
}

void doubt(RecordedTxn& txn, const std::string& why) {
  for (std::size_t i = 0; i < txn.statements.size(); ++i) {
    if (!is_harmless(txn.statements[i].kind)) txn.gaps.push_back({i + 1, why});
  }
}

Result<void> resolve(RunSource& source, ServerLog& log, Gatekeeper& gates, const ResolvedSink& sink,
                     const std::string& home, bool is_cut) {
  auto catalog = read_catalog(log.connection());
  if (!catalog) return catalog.error();
  catalog->settle_in(home);
  Versions versions(*catalog, log);
  Matches matches(log.connection());
  return Resolver(source, *catalog, versions, matches, gates, is_cut).run(sink);
}

Result<void> resolve(std::vector<std::pair<std::string, RecordedTxn>>& txns, ServerLog& log,
                     Gatekeeper& gates, const ResolvedSink& sink, const std::string& home) {
  auto decoded = log.read();
  if (!decoded) return decoded.error();
  KeptRun run(txns, std::move(*decoded));
  return resolve(run, log, gates, sink, home, false);
}

Result<ResolvedRun> resolve(std::vector<std::pair<std::string, RecordedTxn>>& txns, ServerLog& log,
                            Gatekeeper& gates, const std::string& home) {
  ResolvedRun run;
  const ResolvedSink sink{.start =
                              [&](const InitialValues& values) {
                                values([&](const std::string& key, const std::string& value) {
                                  run.initial.emplace(key, value);
                                });
                              },
                          .txn = [&](ResolvedTxn txn) { run.txns.push_back(std::move(txn)); }};
  if (auto done = resolve(txns, log, gates, sink, home); !done) return done.error();
  return run;
}

}  // namespace isoscope::record
