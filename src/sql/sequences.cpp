#include "sql/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace isoscope::sql {

std::string sequence_of(const Tree& nextval) {
  const Tree& args = child(child(nextval, "FuncCall"), "args");
  if (!args.is_array() || args.size() != 1) return "";
  const Tree& cast = child(child(args[0], "TypeCast"), "arg");
  const Tree& constant = child(cast.is_null() ? args[0] : cast, "A_Const");
  std::string name = text_of(child(constant, "sval"), "sval");
  // Names of schemas count as elsewhere: not at all.
  if (name.ends_with('"') && name.size() > 1) {
    name.pop_back();
    return name.substr(name.rfind('"') + 1);
  }
  name.erase(0, name.rfind('.') + 1);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

std::string own_sequence(const Table& table, const Column& column) {
  return fmt::format("{}_{}_seq", table.name, column.name);
}

void note_cycle(const Tree& options, Findings& findings, Place place) {
  for (const Tree& option : options) {
    const Tree& element = child(option, "DefElem");
    if (text_of(element, "defname") == "cycle" &&
        flag_of(child(child(element, "arg"), "Boolean"), "boolval"))
      findings.note(place, "the sequence may begin again (CYCLE), which is not modelled",
                    NoteKind::Gap);
  }
}

void SequenceUses::draw(TableId table, std::uint32_t column, std::string sequence, Place place) {
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

}  // namespace isoscope::sql
