#include "record/gatekeeper.h"

#include <algorithm>

namespace isoscope::record {
namespace {

// How many characters of UTF-8 begin in the text.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::shared_ptr<const Shape> Gatekeeper::shape(std::string_view statement, StatementKind kind) {
  const auto known = shapes_.find(statement);
  if (known != shapes_.end()) return known->second;
  if (shapes_.size() >= kMostCached) shapes_.clear();
  auto made = std::make_shared<const Shape>(shape_of(statement, kind));
  shapes_.emplace(statement, made);
  return made;
}

std::uint64_t Gatekeeper::gate(const StatementText& statement,
                               const std::function<void(const Shape&, std::uint64_t)>& splice) {
  if (statement.kind != StatementKind::Select && statement.kind != StatementKind::Insert &&
      statement.kind != StatementKind::Update && statement.kind != StatementKind::Delete)
    return 0;
  const auto known = shape(statement.text, statement.kind);
  if (!known->gap.empty() || known->gate.empty()) return 0;
  splice(*known, ++last_);
  return last_;
}

std::size_t place_before_edits(std::string_view sent, const std::vector<Splice>& edits,
                               std::size_t place) {
  // The byte of the character.
  std::size_t byte = 0;
  for (std::size_t seen = 0; byte < sent.size(); ++byte) {
    if ((static_cast<unsigned char>(sent[byte]) & 0xC0U) == 0x80U) continue;
    if (++seen == place) break;
  }
  std::size_t grown = 0;  // bytes inserted before, less those removed
  std::size_t characters_grown = 0;
  std::size_t removed = 0;
  for (const Splice& edit : edits) {
    const std::size_t begin = edit.at + grown - removed;
    if (byte < begin) break;
    const std::size_t end = begin + edit.inserted.size();
    if (byte < end) {
      // Inside of what was inserted: the place of the edit.
      return characters(sent.substr(0, begin)) - characters_grown + removed + 1;
    }
    grown += edit.inserted.size();
    characters_grown += characters(edit.inserted);
    removed += edit.removed;  // keywords and parentheses: a byte is a character
  }
  return place - characters_grown + removed;
}

}  // namespace isoscope::record
