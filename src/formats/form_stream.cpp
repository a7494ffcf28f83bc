#include "formats/form_stream.h"

#include "formats/scan.h"

namespace isoscope {

namespace {

// Counts brackets, so that a form that spans lines is read when its last line is there.
class Balance {
 public:
  explicit Balance(bool json) : json_(json) {}

  bool is_complete() const { return depth_ <= 0 && !in_string_; }

  void add_line(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (in_string_) {
        if (c == '\\') ++i;
        if (c == '"') in_string_ = false;
      } else if (c == '"') {
        in_string_ = true;
      } else if (c == '[' || c == '{' || c == '(') {
        ++depth_;
      } else if (c == ']' || c == '}' || c == ')') {
        --depth_;
      } else if (!json_ && c == ';') {
        return;
      } else if (!json_ && c == '\\') {
        ++i;
      }
    }
  }

 private:
  bool json_;
  bool in_string_ = false;
  std::int64_t depth_ = 0;
};

Result<void> visit_json(JsonText& json, Forms& forms, std::string_view text, std::uint32_t line,
                        Budget& budget, const FormVisitor& visit) {
  using simdjson::SUCCESS;
  if (auto done = json.open(text, line); !done) return done;
  const auto visit_item = [&](JsonText::Item& item) -> Result<void> {
    if (budget.expired()) return limit_error("reading the input");
    forms.clear();
    if (auto done = forms.read_json(json, item); !done) return done;
    return visit(forms, 0);
  };
  simdjson::ondemand::json_type type{};
  if (auto error = json.document().type().get(type); error != SUCCESS) return json.syntax(error);
  if (type == simdjson::ondemand::json_type::array) {
    JsonText::Array array;
    if (auto error = json.document().get_array().get(array); error != SUCCESS)
      return json.syntax(error);
    for (auto element : array) {
      JsonText::Item item;
      if (auto error = std::move(element).get(item); error != SUCCESS) return json.syntax(error);
      if (auto done = visit_item(item); !done) return done;
    }
  } else {
    JsonText::Item item;
    if (json.document().get_value().get(item) != SUCCESS)
      return Error{.where = {line, 1}, .what = "expected an object or an array of objects"};
    if (auto done = visit_item(item); !done) return done;
  }
  return json.close();
}

Result<void> visit_edn(Forms& forms, std::string_view text, std::uint32_t line, Budget& budget,
                       const FormVisitor& visit) {
  forms.clear();
  if (auto done = forms.read_edn(text, line, budget); !done) return done;
  for (std::uint32_t i = 0; i < forms.size(); i = forms.next(i)) {
    if (forms[i].kind != Form::Kind::Sequence) {
      if (auto done = visit(forms, i); !done) return done;
      continue;
    }
    for (std::uint32_t c = forms.first_child(i); c < forms.next(i); c = forms.next(c)) {
      if (budget.expired()) return limit_error("reading the input");
      if (auto done = visit(forms, c); !done) return done;
    }
  }
  return {};
}

}  // namespace

bool looks_like_json(std::string_view text) {
  text = trimmed(text);
  while (text.starts_with('[')) text = trimmed(text.substr(1));
  if (!text.starts_with('{')) return false;
  text = trimmed(text.substr(1));
  return text.starts_with('"') || text.starts_with('}');
}

Result<void> visit_forms(LineReader& in, const FormVisitor& visit) {
  const bool is_json = looks_like_json(in.peek(1 << 12U));
  JsonText json;
  Forms forms;
  Budget budget = in.budget();
  std::string spanning;  // the lines of a form so far
  std::string_view line;
  while (in.next(line)) {
    if (trimmed(line).empty()) continue;
    const std::uint32_t number = in.line_number();
    Balance balance(is_json);
    balance.add_line(line);
    std::string_view text = line;
    if (!balance.is_complete()) {
      spanning = line;
      while (!balance.is_complete() && in.next(line)) {
        spanning.append("\n").append(line);
        balance.add_line(line);
      }
      text = spanning;
    }
    auto done = is_json ? visit_json(json, forms, text, number, budget, visit)
                        : visit_edn(forms, text, number, budget, visit);
    if (!done) {
      Error error = done.error();
      if (error.is_limit || error.where.line < number) return error;
      // The line that the error points at, which may be any of those that were read.
      error.where.line -= number - 1;
      error = error.quoting(text);
      error.where.line += number - 1;
      return error;
    }
  }
  return {};
}

}  // namespace isoscope
