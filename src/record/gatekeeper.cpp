#include "record/gatekeeper.h"

#include <algorithm>

namespace isoscope::record {
namespace {

// How many characters of UTF-8 begin in the text.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// Do constants say nothing about a statement of this kind, but what its shape knows of them?
bool may_share(StatementKind kind) {
  switch (kind) {
    case StatementKind::Begin:
    case StatementKind::Commit:
    case StatementKind::Rollback:
    case StatementKind::Savepoint:
    case StatementKind::Release:
    case StatementKind::RollbackTo:
    case StatementKind::Select:
    case StatementKind::Insert:
    case StatementKind::Update:
    case StatementKind::Delete: return true;
    case StatementKind::TwoPhase:
    case StatementKind::SetTransaction:
    case StatementKind::SetSession:
    case StatementKind::Call:
    case StatementKind::Setting:
    case StatementKind::Rows:
    case StatementKind::Other: return false;
  }
  return false;
}

}  // namespace

Gatekeeper::Entry Gatekeeper::read(std::string_view text, const TextKey& key) const {
  Entry entry{.literals = key.literals, .statements = {}};
  for (StatementText& statement : split_statements(text)) {
    Found found;
    found.place.begin = static_cast<std::size_t>(statement.text.data() - text.data());
    found.place.end = found.place.begin + statement.text.size();
    const auto cuts = [&](const Range& literal) {
      return (literal.begin < found.place.begin && found.place.begin < literal.end) ||
             (literal.begin < found.place.end && found.place.end < literal.end);
    };
    entry.is_exact |= !may_share(statement.kind) || std::ranges::any_of(key.literals, cuts);
    if (has_shape(statement.kind)) {
      Shape shape = shape_of(statement.text, statement.kind);
      const bool is_wanted = statement.kind != StatementKind::Select ||
                             (shape.gap.empty() && shape.reads_tables && !shape.is_cursor);
      if (appender_ != nullptr && is_wanted)
        shape.appending = find_appending(statement.text, statement.kind);
      entry.is_exact |= shape.is_exact;
      found.shape = std::make_shared<const Shape>(std::move(shape));
    }
    found.text = std::move(statement);
    found.text.text = {};
    entry.statements.push_back(std::move(found));
  }
  entry.is_exact &= !key.literals.empty();
  return entry;
}

const Gatekeeper::Entry& Gatekeeper::entry_of(std::string_view text, const TextKey& key) {
  if (texts_.size() >= kMostCached) texts_.clear();
  auto known = texts_.find(key.key);
  if (known == texts_.end()) known = texts_.emplace(key.key, read(text, key)).first;
  if (!known->second.is_exact) return known->second;
  if (exact_texts_.size() >= kMostCached) exact_texts_.clear();
  auto exact = exact_texts_.find(std::string(text));
  if (exact == exact_texts_.end())
    exact = exact_texts_.emplace(std::string(text), read(text, key)).first;
  return exact->second;
}

std::vector<KnownStatement> Gatekeeper::statements(std::string_view text) {
  const TextKey key = key_of(text);
  const Entry& entry = entry_of(text, key);
  std::vector<KnownStatement> statements;
  statements.reserve(entry.statements.size());
  for (const Found& found : entry.statements) {
    KnownStatement& statement = statements.emplace_back(KnownStatement{found.text, found.shape});
    const std::size_t begin = moved(found.place.begin, entry.literals, key.literals);
    const std::size_t end = moved(found.place.end, entry.literals, key.literals);
    statement.text.text = text.substr(begin, end - begin);
  }
  return statements;
}

std::shared_ptr<const Shape> Gatekeeper::exact_shape(std::string_view statement,
                                                     StatementKind kind) {
  if (exact_shapes_.size() >= kMostCached) exact_shapes_.clear();
  std::shared_ptr<const Shape>& shape = exact_shapes_[std::string(statement)];
  if (shape == nullptr) shape = std::make_shared<const Shape>(shape_of(statement, kind));
  return shape;
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
