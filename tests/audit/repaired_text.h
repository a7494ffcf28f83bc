#pragma once
// Repairs of audit, applied to the text of a program as a developer would apply the diff.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "audit/repairs.h"

namespace isoscope::audit {

inline std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

inline std::size_t begin_of_line(const std::string& text, std::uint32_t number) {
  std::size_t from = 0;
  for (std::uint32_t line = 1; line < number; ++line) from = text.find('\n', from) + 1;
  return from;
}

// Replaces the next one after `from`; fails if there is none.
inline void replace(std::string& text, std::size_t& from, const std::string& old,
                    const std::string& by) {
  const std::size_t at = text.find(old, from);
  ASSERT_NE(at, std::string::npos) << old << "\nis not in\n" << text;
  text.replace(at, old.size(), by);
  from = at + by.size();
}

// The text with the repair, as a developer would apply the diff.
inline std::string repaired(std::string text, const Repair& repair) {
  const std::vector<std::string> before = lines_in(repair.before);
  const std::vector<std::string> after = lines_in(repair.what);
  std::size_t from = 0;
  switch (repair.kind) {
    case RepairKind::Lock:
      from = begin_of_line(text, repair.place.line);
      replace(text, from, repair.before, repair.what);
      break;
    case RepairKind::Atomic:
      from = begin_of_line(text, repair.place.line);
      replace(text, from, before[0] + ";", after[0] + ";");
      replace(text, from, before[1] + ";", "");
      break;
    case RepairKind::Guarded:
      from = begin_of_line(text, repair.place.line);
      replace(text, from, before[0] + ";", after[0] + ";");
      replace(text, from, before[1], after[1]);
      replace(text, from, before[2] + ";", "");
      break;
    case RepairKind::Unique: text += "\n" + repair.what + ";\n"; break;
    case RepairKind::Materialize: {  // a table, where the statement goes, and the statement
      std::size_t names = 0;
      while (names < repair.function.size()) {
        const std::size_t end = std::min(repair.function.find(", ", names), repair.function.size());
        from = text.find("FUNCTION " + repair.function.substr(names, end - names));
        replace(text, from, "BEGIN", "BEGIN\n  " + after[2] + ";");
        names = end + 2;
      }
      text = after[0] + ";\n" + text;
      break;
    }
  }
  return text;
}

}  // namespace isoscope::audit
