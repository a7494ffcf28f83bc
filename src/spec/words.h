#pragma once
// The words of the level language, each once: what they are called in text and in the tree.
#include <algorithm>
#include <array>
#include <string_view>

#include "spec/ast.h"
#include "support/assert.h"

namespace isoscope {

template <class Meaning>
struct Word {
  std::string_view text;
  Meaning meaning;
};

inline constexpr auto kRelationWords =
    std::to_array<Word<RelationOp>>({{"so", RelationOp::So},
                                     {"wr", RelationOp::Wr},
                                     {"co", RelationOp::Co},
                                     {"vis", RelationOp::Vis},
                                     {"ar", RelationOp::Ar},
                                     {"po", RelationOp::Po},
                                     {"rt", RelationOp::Rt},
                                     {"ww", RelationOp::Ww},
                                     {"rw", RelationOp::Rw},
                                     {"snap", RelationOp::Snap},
                                     {"of", RelationOp::Of},
                                     {"same", RelationOp::Same},
                                     {"waited", RelationOp::Waited}});

inline constexpr auto kRelationSigns =
    std::to_array<Word<RelationOp>>({{"|", RelationOp::Union},
                                     {"\\", RelationOp::Difference},
                                     {"&", RelationOp::Intersection},
                                     {";", RelationOp::Compose},
                                     {"+", RelationOp::Plus},
                                     {"*", RelationOp::Star},
                                     {"?", RelationOp::Maybe},
                                     {"^-1", RelationOp::Inverse}});

inline constexpr auto kStatementWords =
    std::to_array<Word<FormulaOp>>({{"acyclic", FormulaOp::Acyclic},
                                    {"irreflexive", FormulaOp::Irreflexive},
                                    {"transitive", FormulaOp::Transitive},
                                    {"total", FormulaOp::Total},
                                    {"empty", FormulaOp::Empty}});

inline constexpr auto kAccessWords =
    std::to_array<Word<FormulaOp>>({{"writes", FormulaOp::Writes},
                                    {"reads", FormulaOp::Reads},
                                    {"locks", FormulaOp::Locks},
                                    {"writesrow", FormulaOp::WritesRow}});

inline constexpr auto kReadWords =
    std::to_array<Word<FormulaOp>>({{"current", FormulaOp::Current}});

inline constexpr auto kConnectives =
    std::to_array<Word<FormulaOp>>({{"and", FormulaOp::And},
                                    {"or", FormulaOp::Or},
                                    {"implies", FormulaOp::Implies},
                                    {"iff", FormulaOp::Iff},
                                    {"forall", FormulaOp::Forall},
                                    {"exists", FormulaOp::Exists}});

inline constexpr auto kSetWords = std::to_array<Word<SetName>>(
    {{"writers", SetName::Writers}, {"readers", SetName::Readers}, {"aborted", SetName::Aborted}});

inline constexpr auto kSortWords =
    std::to_array<Word<Sort>>({{"txn", Sort::Txn}, {"key", Sort::Key}, {"read", Sort::Read}});

// Words that no formula can begin with or stand for.
inline constexpr auto kKeywords = std::to_array<std::string_view>(
    {"level", "let", "axiom", "over", "extends", "without", "forall", "exists", "not", "and", "or",
     "implies", "iff", "subset"});

// The entry for a text, or null.
template <class Meaning, std::size_t n>
constexpr const Word<Meaning>* find_word(const std::array<Word<Meaning>, n>& words,
                                         std::string_view text) {
  const auto found = std::find_if(words.begin(), words.end(),
                                  [&](const Word<Meaning>& word) { return word.text == text; });
  return found == words.end() ? nullptr : &*found;
}

// What an entry is called. Requires: `meaning` is in the table.
template <class Meaning, std::size_t n>
constexpr std::string_view text_of(const std::array<Word<Meaning>, n>& words, Meaning meaning) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const Word<Meaning>& word) {
    return word.meaning == meaning;
  });
  ISO_ASSERT(found != words.end());
  return found->text;
}

// All words of a table, for suggestions.
template <class Meaning, std::size_t n>
std::array<std::string_view, n> texts_of(const std::array<Word<Meaning>, n>& words) {
  std::array<std::string_view, n> texts;
  for (std::size_t i = 0; i < n; ++i) texts[i] = words[i].text;
  return texts;
}

inline bool is_keyword(std::string_view text) {
  return std::find(kKeywords.begin(), kKeywords.end(), text) != kKeywords.end();
}

// Variables, relations and axioms that users name cannot have these names.
inline bool is_reserved(std::string_view text) {
  return is_keyword(text) || find_word(kRelationWords, text) != nullptr ||
         find_word(kStatementWords, text) != nullptr || find_word(kAccessWords, text) != nullptr ||
         find_word(kReadWords, text) != nullptr || find_word(kSetWords, text) != nullptr ||
         find_word(kSortWords, text) != nullptr;
}

}  // namespace isoscope
