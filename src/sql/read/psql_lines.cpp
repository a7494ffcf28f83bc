#include "sql/read/psql_lines.h"

#include <algorithm>
#include <cctype>

namespace isoscope::sql {

namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         (c & 0x80) != 0;
}

// Walks over the text as psql does: what stands in quotes, bodies and comments is no command.
class PsqlLines {
 public:
  explicit PsqlLines(std::string_view text) : text_(text), out_(text) {}

  // The places of the commands.
  std::vector<std::size_t> commands;

  std::string run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\'') {
        skip_string();
      } else if (c == '"') {
        skip_past(text_.find('"', at_ + 1), 1);
      } else if (text_.substr(at_, 2) == "--") {
        skip_past(text_.find('\n', at_), 0);
      } else if (text_.substr(at_, 2) == "/*") {
        skip_comment();
      } else if (c == '$') {
        skip_dollars();
      } else if (c == '\\') {
        // \gexec and the like end a statement, as a semicolon does.
        const bool ends = text_.substr(at_, 2) == "\\g";
        commands.push_back(at_);
        blank_to(std::min(text_.find('\n', at_), text_.size()));
        if (ends) out_[at_] = ';';
        at_ = std::min(text_.find('\n', at_), text_.size());
        words_.clear();
      } else {
        take(c);
      }
    }
    return std::move(out_);
  }

 private:
  void skip_past(std::size_t found, std::size_t size) {
    at_ = found == std::string_view::npos ? text_.size() : found + size;
  }

  // 'it''s' is two strings to us; E'it\'s' is one.
  void skip_string() {
    const bool escapes = at_ > 0 && (text_[at_ - 1] == 'E' || text_[at_ - 1] == 'e') &&
                         (at_ < 2 || !is_word(text_[at_ - 2]));
    for (++at_; at_ < text_.size() && text_[at_] != '\''; ++at_) {
      if (escapes && text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  void skip_comment() {
    std::size_t depth = 0;
    do {
      const std::string_view two = text_.substr(at_, 2);
      if (two == "/*") ++depth;
      if (two == "*/") --depth;
      at_ += two == "/*" || two == "*/" ? 2 : 1;
    } while (depth > 0 && at_ < text_.size());
    at_ = std::min(at_, text_.size());
  }

  // $tag$ … $tag$, unless the dollar is part of a name or of a parameter such as $1.
  void skip_dollars() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_word(text_[end]) && text_[end] != '$') ++end;
    const bool is_quote = end < text_.size() && text_[end] == '$' &&
                          (at_ == 0 || !is_word(text_[at_ - 1])) &&
                          std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) == 0;
    if (!is_quote) return take('$');
    const std::string_view tag = text_.substr(at_, end + 1 - at_);
    skip_past(text_.find(tag, end + 1), tag.size());
  }

  // A sign of a statement. Only the words matter, to recognise COPY … FROM stdin.
  void take(char c) {
    ++at_;
    if (c != ';') {
      const char blank = std::isspace(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
      if (blank != ' ' || (!words_.empty() && words_.back() != ' '))
        words_ += static_cast<char>(std::toupper(static_cast<unsigned char>(blank)));
      return;
    }
    const bool has_rows =
        words_.starts_with("COPY ") && words_.find(" FROM STDIN") != std::string::npos;
    words_.clear();
    if (has_rows) blank_rows();
  }

  // From the next line to the one that is \. alone.
  void blank_rows() {
    std::size_t line = text_.find('\n', at_);
    while (line != std::string_view::npos) {
      const std::size_t begin = line + 1;
      line = text_.find('\n', begin);
      const std::size_t end = std::min(line, text_.size());
      std::string_view row = text_.substr(begin, end - begin);
      if (row.ends_with('\r')) row.remove_suffix(1);
      at_ = begin;
      blank_to(end);
      at_ = end;
      if (row == "\\.") return;
    }
    at_ = text_.size();
  }

  void blank_to(std::size_t end) {
    std::fill(out_.begin() + static_cast<std::ptrdiff_t>(at_),
              out_.begin() + static_cast<std::ptrdiff_t>(end), ' ');
  }

  std::string_view text_;
  std::string out_;
  std::size_t at_ = 0;
  std::string words_;  // of the statement so far, in capitals, one blank apart
};

}  // namespace

std::string without_psql_lines(std::string_view text) {
  std::string sql =
      text.find('\\') == std::string_view::npos ? std::string(text) : PsqlLines(text).run();
  // A byte order mark, with which some editors begin a file.
  if (sql.starts_with("\xEF\xBB\xBF")) std::fill_n(sql.begin(), 3, ' ');
  return sql;
}

std::vector<PsqlChoice> psql_choices(std::string_view text) {
  constexpr std::string_view kChoices[] = {
      "\\if", "\\i", "\\ir", "\\include", "\\include_relative", "\\gexec"};
  PsqlLines lines(text);
  lines.run();
  std::vector<PsqlChoice> choices;
  for (const std::size_t at : lines.commands) {
    std::size_t end = at + 1;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view command = text.substr(at, end - at);
    if (std::ranges::find(kChoices, command) != std::end(kChoices))
      choices.push_back({at, std::string(command)});
  }
  return choices;
}

}  // namespace isoscope::sql
