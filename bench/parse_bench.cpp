// How fast histories are read, format by format: MB/s of text that is already in memory.
//
// The history is the same for all: 50 sessions, transactions of 8 operations, 10,000 keys, half
// of the operations reads of the latest write, and for elle lists instead of registers. `Gather`
// stops before who-wrote-what is resolved, `Read` is all of it.
#include <benchmark/benchmark.h>

#include "formats/formats.h"
#include "formats/jsonl.h"
#include "formats/plume.h"
#include "history/builder.h"
#include "support/rng.h"

namespace isoscope {
namespace {

constexpr std::size_t kTxns = 50'000;

History sample(bool lists) {
  Rng rng(1);
  HistoryBuilder b(lists ? InitialValues::Nil : InitialValues::Zero);
  std::vector<std::vector<Value>> versions(lists ? 5'000 : 10'000);
  std::int64_t value = 0;
  for (std::size_t i = 0; i < kTxns; ++i) {
    const TxnId t =
        b.begin(b.session(static_cast<std::int64_t>(rng.below(50))), TxnStatus::Committed, {});
    for (int op = 0; op < 8; ++op) {
      const auto k = rng.below(versions.size());
      const KeyId x = b.key(static_cast<std::int64_t>(k));
      auto& known = versions[k];
      if (known.empty() || rng.chance(0.5)) {
        known.push_back(Value::of(++value));
        lists ? b.append(t, x, known.back(), {}) : b.write(t, x, known.back(), {});
      } else if (lists) {
        b.read_list(t, x, known, {});
      } else {
        b.read(t, x, known.back(), {});
      }
    }
  }
  auto h = std::move(b).build();
  ISO_ASSERT(h.ok());
  return std::move(*h);
}

std::string text_in(Format format) {
  std::string text;
  const auto done = write_history(sample(format == Format::Elle), format,
                                  [&](std::string_view piece) { text += piece; });
  ISO_ASSERT(done.ok());
  return text;
}

void count_bytes(benchmark::State& state, const std::string& text) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
  state.counters["operations"] = 8 * kTxns;
}

void BM_Read(benchmark::State& state, Format format) {
  const std::string text = text_in(format);
  for (auto _ : state) {
    auto h = parse_history(text, format);
    ISO_ASSERT(h.ok());
    benchmark::DoNotOptimize(h->num_events());
  }
  count_bytes(state, text);
}
BENCHMARK_CAPTURE(BM_Read, plume, Format::Plume)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Read, jsonl, Format::Jsonl)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Read, awdit_test, Format::AwditTest)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Read, hist, Format::Hist)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Read, dbcop, Format::Dbcop)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Read, elle, Format::Elle)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Read, isopredict, Format::IsoPredict)->Unit(benchmark::kMillisecond);

void BM_GatherPlume(benchmark::State& state) {
  const std::string text = text_in(Format::Plume);
  for (auto _ : state) {
    LineReader in = LineReader::over(text);
    auto b = gather_plume(in);
    ISO_ASSERT(b.ok());
    benchmark::DoNotOptimize(b->num_events());
  }
  count_bytes(state, text);
}
BENCHMARK(BM_GatherPlume)->Unit(benchmark::kMillisecond);

void BM_GatherJsonl(benchmark::State& state) {
  const std::string text = text_in(Format::Jsonl);
  for (auto _ : state) {
    LineReader in = LineReader::over(text);
    auto b = gather_jsonl(in);
    ISO_ASSERT(b.ok());
    benchmark::DoNotOptimize(b->num_events());
  }
  count_bytes(state, text);
}
BENCHMARK(BM_GatherJsonl)->Unit(benchmark::kMillisecond);

void BM_Write(benchmark::State& state, Format format) {
  const History h = sample(format == Format::Elle);
  std::size_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    const auto done =
        write_history(h, format, [&](std::string_view piece) { bytes += piece.size(); });
    ISO_ASSERT(done.ok());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
}
BENCHMARK_CAPTURE(BM_Write, plume, Format::Plume)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Write, jsonl, Format::Jsonl)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace isoscope
