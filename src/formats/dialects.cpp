// What each format has words for: the table behind docs/formats.md.
#include "formats/wording.h"

namespace isoscope {

namespace {

constexpr Dialect kHist{.format = Format::Hist,
                        .initial = InitialValues::ZeroOrNil,
                        .keys = Alphabet::Texts,
                        .values = Alphabet::Texts,
                        .names = Names::Words,
                        .aborted = Extent::All,
                        .unknown = Extent::All,
                        .nil = true,
                        .levels = true,
                        .statements = true,
                        .times = Times::Any,
                        .empty_txns = true,
                        .names_writers = true,
                        .names_initial = true,
                        .states_initial = true};

constexpr Dialect kJsonl{.format = Format::Jsonl,
                         .initial = InitialValues::ZeroOrNil,
                         .keys = Alphabet::Unicode,
                         .values = Alphabet::Unicode,
                         .names = Names::Any,
                         .aborted = Extent::All,
                         .unknown = Extent::All,
                         .nil = true,
                         .lists = true,
                         .levels = true,
                         .notes = true,
                         .statements = true,
                         .times = Times::Any,
                         .empty_txns = true,
                         .names_writers = true,
                         .names_initial = true,
                         .states_initial = true};

constexpr Dialect kPlume{
    .format = Format::Plume, .initial = InitialValues::Zero, .aborted = Extent::OneWrite};

constexpr Dialect kAwditTest{.format = Format::AwditTest, .initial = InitialValues::None};

constexpr Dialect kDbcop{.format = Format::Dbcop,
                         .initial = InitialValues::Zero,
                         .aborted = Extent::All,
                         .empty_txns = true,
                         .names_initial = true};

constexpr Dialect kElle{.format = Format::Elle,
                        .initial = InitialValues::Nil,
                        .keys = Alphabet::Unicode,
                        .values = Alphabet::Unicode,
                        .aborted = Extent::WritesOnly,
                        .unknown = Extent::WritesOnly,
                        .nil = true,
                        .lists = true,
                        .times = Times::OfOperations,
                        .empty_txns = true};

constexpr Dialect kIsoPredict{.format = Format::IsoPredict,
                              .initial = InitialValues::Zero,
                              .keys = Alphabet::TraceWords,
                              .nil = true,
                              .names_writers = true,
                              .names_initial = true,
                              .has_values = false};

}  // namespace

const Dialect& dialect_of(Format format) {
  switch (format) {
    case Format::Jsonl: return kJsonl;
    case Format::Plume: return kPlume;
    case Format::AwditTest: return kAwditTest;
    case Format::Dbcop: return kDbcop;
    case Format::Elle: return kElle;
    case Format::IsoPredict: return kIsoPredict;
    case Format::Hist:
    case Format::DbcopBincode:
    case Format::Cobra: break;
  }
  ISO_ASSERT(format == Format::Hist);
  return kHist;
}

}  // namespace isoscope
