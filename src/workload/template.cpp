#include "workload/template.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/text_cursor.h"

namespace isoscope {

namespace {

using lexical::trimmed;

constexpr int kDeepestUse = 20;  // of parts that use parts

// Writes the script of a template: a line of text becomes a write of its number, a count a read.
class TemplateWriter {
 public:
  explicit TemplateWriter(const TemplateParts& parts) : parts_(parts) {}

  Result<void> add(const SourceLine& line, int depth = 0) {
    if (!line.text.starts_with('%')) {
      put(fmt::format("write(line[{}], 0)", keep(line.text, line)), line);
      return {};
    }
    const std::string_view control = trimmed(std::string_view(line.text).substr(1));
    if (control.starts_with("use ")) return use(control.substr(4), line, depth);
    const std::size_t count = control.find("count(");
    if (count == std::string_view::npos || control.starts_with('#')) {
      put(std::string(control), line);
      return {};
    }
    if (!control.ends_with(')'))
      return wrong(line, "nothing can follow count(…)", "keep it in a local first");
    const std::size_t first = count + std::string_view("count(").size();
    const std::size_t number = keep(control.substr(first, control.size() - first - 1), line);
    put(fmt::format("{}read(count[{}])", control.substr(0, count), number), line);
    return {};
  }

  const std::string& block() const { return block_; }
  std::vector<SourceLine>& texts() { return texts_; }
  // The error with the line of the file, of which the block has its own.
  Error placed(Error error) const {
    const std::size_t at = error.where.line;
    error.where = {at >= 1 && at <= numbers_.size() ? numbers_[at - 1] : 0, 0};
    return error;
  }

 private:
  static Error wrong(const SourceLine& line, std::string what, std::string hint = {}) {
    return {.where = {line.number, 1}, .what = std::move(what), .hint = std::move(hint)};
  }
  void put(const std::string& statement, const SourceLine& line) {
    block_ += statement + '\n';
    numbers_.push_back(line.number);
  }
  std::size_t keep(std::string_view text, const SourceLine& line) {
    texts_.push_back({.text = std::string(text), .number = line.number});
    return texts_.size() - 1;
  }

  // find(c): the last parameter takes what is left of the arguments, commas and all.
  Result<void> use(std::string_view what, const SourceLine& line, int depth) {
    const std::size_t open = what.find('(');
    if (open == std::string_view::npos || !what.ends_with(')'))
      return wrong(line, "expected a part and its arguments", "% use find(c)");
    const auto part = parts_.find(trimmed(what.substr(0, open)));
    if (part == parts_.end())
      return wrong(line, fmt::format("there is no part '{}'", what.substr(0, open)));
    if (depth == kDeepestUse) return wrong(line, "parts use each other too deeply");
    const std::vector<std::string>& parameters = part->second.parameters;
    std::string_view rest = what.substr(open + 1, what.size() - open - 2);
    std::map<std::string, std::string, std::less<>> arguments;
    for (const std::string& parameter : parameters) {
      const bool is_last = &parameter == &parameters.back();
      const std::size_t end = is_last ? std::string_view::npos : find_outside(rest, ",");
      if (trimmed(rest).empty() || (!is_last && end == std::string_view::npos))
        return wrong(line, fmt::format("'{}' has {} arguments", part->first, parameters.size()));
      arguments.emplace(parameter, trimmed(rest.substr(0, end)));
      rest = is_last ? std::string_view() : rest.substr(end + 1);
    }
    if (!trimmed(rest).empty())
      return wrong(line, fmt::format("'{}' has no arguments", part->first));
    const TextOf find = [&](std::string_view name) -> std::optional<std::string> {
      const auto known = arguments.find(name);
      if (known == arguments.end()) return std::nullopt;
      return known->second;
    };
    for (const SourceLine& inner : part->second.lines) {
      const SourceLine made{.text = substitute(inner.text, find), .number = inner.number};
      if (auto added = add(made, depth + 1); !added) return added;
    }
    return {};
  }

  const TemplateParts& parts_;
  std::string block_;
  std::vector<std::uint32_t> numbers_;  // by line of the block
  std::vector<SourceLine> texts_;
};

}  // namespace

Result<Template> Template::parse(std::span<const SourceLine> lines, const TemplateParts& parts,
                                 std::span<const std::string> given) {
  TemplateWriter writer(parts);
  for (const SourceLine& line : lines) {
    if (auto added = writer.add(line); !added) return added.error();
  }
  auto script = Script::parse(writer.block(), given);
  if (!script) return writer.placed(script.error());
  return Template(std::move(writer.texts()), std::move(*script));
}

// An error of the host is one of the line that it was about.
Result<void> Template::run(std::span<const std::int64_t> given, const TemplateHost& host) const {
  const auto text = [&](const ScriptKey& key) -> const SourceLine& {
    return texts_[static_cast<std::size_t>(key.indices[0])];
  };
  const auto placed = [&](Error error, const ScriptKey& key) {
    error.where = {text(key).number, 1};
    return error;
  };
  const ScriptHost script = {
      .read = [&](const ScriptKey& key, const ScriptLocals& locals) -> Result<std::int64_t> {
        if (key.family != "count") return host.read(key);
        auto count = host.count(text(key).text, locals);
        if (!count) return placed(count.error(), key);
        return count;
      },
      .write = [&](const ScriptKey& key, std::int64_t, const ScriptLocals& locals) -> Result<void> {
        auto emitted = host.emit(text(key).text, locals);
        if (!emitted) return placed(emitted.error(), key);
        return emitted;
      }};
  return script_.run(given, script);
}

std::string substitute(std::string_view text, const TextOf& find) {
  std::string out;
  while (!text.empty()) {
    const std::size_t dollar = std::min(text.find('$'), text.size());
    out += text.substr(0, dollar);
    text.remove_prefix(dollar);
    if (text.empty()) break;
    const bool is_braced = text.size() > 1 && text[1] == '{';
    const std::size_t first = is_braced ? 2 : 1;
    std::size_t end = first;
    while (end < text.size() && lexical::continues_name(text[end])) ++end;
    const auto value = find(text.substr(first, end - first));
    if (is_braced && end < text.size()) ++end;
    out += value ? *value : std::string(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

TextOf text_of(const ScriptLocals& locals) {
  return [&locals](std::string_view name) -> std::optional<std::string> {
    const auto value = locals.find(name);
    if (!value) return std::nullopt;
    return std::to_string(*value);
  };
}

Result<std::string> substitute_all(std::string_view text, const TextOf& find) {
  std::string out = substitute(text, find);
  if (const std::size_t dollar = out.find('$'); dollar != std::string::npos)
    return Error{.what = fmt::format("'{}' has no value here", out.substr(dollar))};
  return out;
}

std::size_t find_outside(std::string_view text, std::string_view sought, std::size_t from) {
  int depth = 0;
  for (std::size_t at = from; at < text.size(); ++at) {
    if (depth == 0 && text.substr(at).starts_with(sought)) return at;
    if (text[at] == '(' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == ']') --depth;
  }
  return std::string_view::npos;
}

std::vector<std::string_view> split_outside(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> out;
  while (!trimmed(text).empty()) {
    const std::size_t end = find_outside(text, separator);
    out.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + separator.size());
  }
  return out;
}

}  // namespace isoscope
