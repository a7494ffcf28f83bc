#include "formats/forms.h"

#include <fmt/format.h>

namespace isoscope {

void Forms::clear() {
  forms_.clear();
  texts_.clear();
}

std::size_t Forms::count_children(std::uint32_t i) const {
  std::size_t count = 0;
  for (std::uint32_t c = first_child(i); c < forms_[i].end; c = next(c)) ++count;
  return count;
}

std::string Forms::show(std::uint32_t i, std::size_t limit) const {
  const Form& form = forms_[i];
  switch (form.kind) {
    case Form::Kind::Nil: return "nil";
    case Form::Kind::Int: return std::to_string(form.number);
    case Form::Kind::String: return fmt::format("\"{}\"", form.text.substr(0, limit));
    case Form::Kind::Keyword: return fmt::format(":{}", form.text.substr(0, limit));
    case Form::Kind::Symbol: return std::string(form.text.substr(0, limit));
    case Form::Kind::Sequence: return "a sequence";
    case Form::Kind::Set: return "a set";
    case Form::Kind::Map: return "a map";
  }
  return {};
}

Result<void> Forms::read_json(JsonText& json, JsonText::Item& item) {
  return add_json(json, item, 0);
}

Result<void> Forms::add_json(JsonText& json, JsonText::Item& item, int depth) {
  using simdjson::SUCCESS;
  using Kind = Form::Kind;
  const Place place = json.here();
  if (depth > kMaxFormDepth)
    return Error{.where = place,
                 .what = fmt::format("this JSON nests deeper than {}", kMaxFormDepth)};
  const auto self = size();
  forms_.push_back({.place = place});
  switch (json.first_sign(item)) {
    case '[': {
      forms_[self].kind = Kind::Sequence;
      JsonText::Array array;
      if (auto error = item.get_array().get(array); error != SUCCESS) return json.syntax(error);
      for (auto element : array) {
        JsonText::Item child;
        if (auto error = std::move(element).get(child); error != SUCCESS) return json.syntax(error);
        if (auto done = add_json(json, child, depth + 1); !done) return done;
      }
      break;
    }
    case '{': {
      forms_[self].kind = Kind::Map;
      JsonText::Object object;
      if (auto error = item.get_object().get(object); error != SUCCESS) return json.syntax(error);
      for (auto member : object) {
        simdjson::ondemand::field field;
        if (auto error = std::move(member).get(field); error != SUCCESS) return json.syntax(error);
        const Place key_place = json.place_of(field.key().raw() - 1);
        std::string_view name;
        if (auto error = field.unescaped_key().get(name); error != SUCCESS)
          return json.syntax(error);
        forms_.push_back(
            {.kind = Kind::String, .end = size() + 1, .text = name, .place = key_place});
        if (auto done = add_json(json, field.value(), depth + 1); !done) return done;
      }
      break;
    }
    case '"': {
      forms_[self].kind = Kind::String;
      auto text = json.string(item, "a value");
      if (!text) return text.error();
      forms_[self].text = *text;
      break;
    }
    default: {
      std::string_view token = item.raw_json_token();
      while (!token.empty() && (token.back() == ' ' || token.back() == '\n'))
        token.remove_suffix(1);
      bool is_null = false;
      std::int64_t number = 0;
      bool truth = false;
      double real = 0;
      if (item.is_null().get(is_null) == SUCCESS && is_null) {
        forms_[self].kind = Kind::Nil;
      } else if (item.get_int64().get(number) == SUCCESS) {
        forms_[self].kind = Kind::Int;
        forms_[self].number = number;
      } else if (item.get_bool().get(truth) == SUCCESS || item.get_double().get(real) == SUCCESS) {
        forms_[self].kind = Kind::Symbol;
        forms_[self].text = token;
      } else {
        return Error{.where = place, .what = "this is no valid JSON"};
      }
      break;
    }
  }
  forms_[self].end = size();
  return {};
}

}  // namespace isoscope
