#include "sql/read/patched_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "support/spelling.h"

namespace isoscope::sql {
namespace {

class PatchedText {
 public:
  PatchedText(std::string_view statement, std::uint32_t begin, const BodyText& text)
      : patched_(statement), begin_(begin), text_(text) {}

  std::string run(bool has_outputs, bool is_trigger, std::vector<RecordField>& fields) {
    for (std::size_t i = 0; i < text_.num_tokens(); ++i) {
      if (has_outputs && i > 1 && text_.word(i) == ";" && is_word(i - 1, "next") &&
          is_word(i - 2, "return"))
        insert(i, " NULL");
      if (is_word(i, "alias") && is_word(i + 1, "for")) replace(i, i + 2, "integer");
      if (!is_trigger && is_field_target(i)) {
        fields.push_back({lower_case(text_.word(i)), lower_case(text_.word(i + 2))});
        replace(i, i + 2, kFieldVariable);
      }
    }
    if (!fields.empty()) declare();
    std::ranges::sort(edits_, {}, &Edit::at);
    for (auto edit = edits_.rbegin(); edit != edits_.rend(); ++edit)
      patched_.replace(edit->at, edit->length, edit->text);
    return patched_;
  }

 private:
  struct Edit {
    std::size_t at, length;
    std::string text;
  };

  bool is_word(std::size_t i, std::string_view word) const {
    return i < text_.num_tokens() && same_word(text_.word(i), word);
  }
  bool is_one_of(std::size_t i, std::initializer_list<std::string_view> words) const {
    return std::ranges::any_of(words, [&](std::string_view word) { return is_word(i, word); });
  }
  // CASE … THEN a.b = c … END in an expression: its END comes before the statement ends.
  bool is_in_case(std::size_t i) const {
    int open = 0;
    for (; i < text_.num_tokens() && text_.word(i) != ";"; ++i) {
      if (is_word(i, "case")) ++open;
      if (is_word(i, "end") && --open < 0) return true;
    }
    return false;
  }
  // name . name, where a statement begins and is an assignment, or among the targets of INTO.
  bool is_field_target(std::size_t i) const {
    if (i == 0 || i + 3 >= text_.num_tokens() || text_.word(i + 1) != ".") return false;
    const char first = text_.word(i).front();
    if (std::isalpha(static_cast<unsigned char>(first)) == 0 && first != '_') return false;
    if (is_one_of(i - 1, {";", "begin", "then", "else", "loop"}))
      return (text_.word(i + 3) == ":=" || text_.word(i + 3) == "=") && !is_in_case(i);
    std::size_t back = i - 1;
    while (back >= 4 && text_.word(back) == "," && text_.word(back - 2) == ".") back -= 4;
    while (back >= 2 && text_.word(back) == ",") back -= 2;
    if (is_word(back, "strict")) --back;
    return is_word(back, "into") && back > 0 && !is_word(back - 1, "insert");
  }

  std::size_t offset(std::size_t token) const { return text_.file_offset(token) - begin_; }
  void insert(std::size_t token, std::string text) {
    if (text_.file_offset(token) >= begin_ && offset(token) <= patched_.size())
      edits_.push_back({offset(token), 0, std::move(text)});
  }
  // Tokens first to last, with the line breaks between them kept.
  void replace(std::size_t first, std::size_t last, std::string_view text) {
    if (text_.file_offset(first) < begin_ || last >= text_.num_tokens()) return;
    const std::size_t at = offset(first);
    const std::size_t end = offset(last) + text_.word(last).size();
    if (end > patched_.size() || end < at) return;
    std::string with(text);
    for (std::size_t i = at; i < end; ++i) {
      if (patched_[i] == '\n') with += '\n';
    }
    edits_.push_back({at, end - at, std::move(with)});
  }
  void declare() {
    const std::string declaration = fmt::format("{} integer; ", kFieldVariable);
    std::size_t i = 0;
    while (i < text_.num_tokens() && !is_one_of(i, {"declare", "begin"})) ++i;
    if (is_word(i, "declare")) {
      insert(i + 1, declaration);
    } else {
      insert(i, "DECLARE " + declaration);
    }
  }

  std::string patched_;
  std::uint32_t begin_;
  const BodyText& text_;
  std::vector<Edit> edits_;
};

}  // namespace

std::string patched_text(std::string_view statement, std::uint32_t begin, const BodyText& text,
                         bool has_outputs, bool is_trigger, std::vector<RecordField>& fields) {
  return PatchedText(statement, begin, text).run(has_outputs, is_trigger, fields);
}

}  // namespace isoscope::sql
