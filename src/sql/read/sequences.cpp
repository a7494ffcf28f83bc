#include "sql/read/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "support/spelling.h"

namespace isoscope::sql {

std::string sequence_of(const Tree& nextval) {
  const Tree& args = child(child(nextval, "FuncCall"), "args");
  if (!args.is_array() || args.size() != 1) return "";
  const Tree& cast = child(child(args[0], "TypeCast"), "arg");
  return sequence_named(cast.is_null() ? args[0] : cast);
}

std::string sequence_named(const Tree& constant) {
  std::string name = text_of(child(child(constant, "A_Const"), "sval"), "sval");
  // Names of schemas count as elsewhere: not at all.
  if (name.ends_with('"') && name.size() > 1) {
    name.pop_back();
    return name.substr(name.rfind('"') + 1);
  }
  return lower_case(std::string_view(name).substr(name.rfind('.') + 1));
}

std::string own_sequence(const Table& table, const Column& column) {
  return fmt::format("{}_{}_seq", table.name, column.name);
}

SequenceId sequence_id(std::vector<Sequence>& sequences, const std::string& name) {
  const auto known = std::ranges::find(sequences, name, &Sequence::name);
  const auto index = static_cast<std::uint32_t>(known - sequences.begin());
  if (known == sequences.end()) sequences.push_back({.name = name});
  return SequenceId{index};
}

std::optional<std::int64_t> number_in(const Tree& element) {
  const Tree& arg = child(element, "arg");
  if (has(arg, "Integer")) return number_of(child(arg, "Integer"), "ival");
  const std::string text = text_of(child(arg, "Float"), "fval");
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{}) return std::nullopt;
  return number;
}

void set_options(Sequence& sequence, const Tree& options, bool is_new, Findings& findings,
                 Place place) {
  std::optional<std::int64_t> start;
  std::map<std::string, std::int64_t> bounds;
  for (const Tree& option : options) {
    const Tree& element = child(option, "DefElem");
    const std::string name = text_of(element, "defname");
    const auto number = number_in(element);
    if (name == "cycle" && flag_of(child(child(element, "arg"), "Boolean"), "boolval"))
      findings.note(place, "the sequence may begin again (CYCLE), which is not modelled",
                    NoteKind::Gap);
    if (name == "cache" && number && *number > 1)
      findings.note(place, "values of the sequence are given in order, without CACHE",
                    NoteKind::Free);
    if (!number) continue;
    if (name == "increment" && *number != 0) sequence.increment = *number;
    if (name == "start") start = number;
    if (name == "minvalue" || name == "maxvalue") bounds[name] = *number;
  }
  const bool falls = sequence.increment < 0;
  if (bounds.contains(falls ? "minvalue" : "maxvalue"))
    findings.note(place, "the sequence goes on beyond its last value", NoteKind::Free);
  if (!is_new) return;
  const auto first = bounds.find(falls ? "maxvalue" : "minvalue");
  if (first != bounds.end()) sequence.start = first->second;
  if (first == bounds.end() && falls && sequence.start > 0) sequence.start = -1;
  if (start) sequence.start = *start;
}

void SequenceUses::draw(TableId table, ColumnId column, std::string sequence, Place place) {
  draws_.try_emplace({table, column}, Draws{.sequences = {}, .place = place})
      .first->second.sequences.insert(std::move(sequence));
}

void SequenceUses::note_gaps(std::span<const Table> tables, Findings& findings) const {
  for (const auto& [key, draws] : draws_) {
    const Table& table = tables[key.first.index];
    const Column& column = table.columns[key.second];
    std::set<std::string> sequences = draws.sequences;
    if (!column.sequence.empty()) sequences.insert(column.sequence);
    if (sequences.size() > 1 || sequences.contains("")) {
      findings.note(draws.place,
                    fmt::format("values of '{}' of '{}' may come from several sequences, and are "
                                "treated as different ones",
                                column.name, table.name),
                    NoteKind::Gap);
    } else if (column.sequence.empty() && left_out_.contains(key)) {
      findings.note(
          draws.place,
          fmt::format("some INSERT leaves out '{}' of '{}', which is treated as if nextval "
                      "filled it there, too",
                      column.name, table.name),
          NoteKind::Gap);
    }
  }
}

void SequenceUses::settle(std::vector<Table>& tables, std::vector<Sequence>& sequences) const {
  for (std::uint32_t t = 0; t < tables.size(); ++t) {
    for (const ColumnId c : tables[t].columns.ids()) {
      Column& column = tables[t].columns[c];
      if (!column.is_fresh || column.type != Type::Integer) continue;
      std::set<std::string> names;
      if (const auto drawn = draws_.find({TableId{t}, c}); drawn != draws_.end())
        names = drawn->second.sequences;
      if (!column.sequence.empty()) names.insert(column.sequence);
      if (names.size() == 1 && !names.begin()->empty())
        column.drawn_from = sequence_id(sequences, *names.begin());
    }
  }
}

}  // namespace isoscope::sql
