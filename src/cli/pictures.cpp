#include "cli/pictures.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/command.h"
#include "cli/files.h"
#include "report/page_writers.h"
#include "support/output.h"

namespace isoscope {

namespace {

std::string whole_command = "isoscope";

}  // namespace

namespace {

// A page is passed on: the password of a connection, in words or in a URL, is not part of it.
std::string without_password(std::string word) {
  constexpr std::string_view kHidden = "***";
  constexpr std::string_view kName = "password=";
  for (std::size_t at = 0; (at = word.find(kName, at)) != std::string::npos;) {
    at += kName.size();
    const bool is_quoted = at < word.size() && word[at] == '\'';
    const std::size_t end = is_quoted ? word.find('\'', at + 1) : word.find_first_of(" &", at);
    const std::size_t size = end == std::string::npos ? end : end - at + (is_quoted ? 1 : 0);
    word.replace(at, size, kHidden);
  }
  if (const std::size_t scheme = word.find("://"); scheme != std::string::npos) {
    const std::size_t begin = scheme + 3;
    const std::size_t end = word.find('@', begin);
    const std::size_t colon = word.find(':', begin);
    if (end != std::string::npos && colon < end) word.replace(colon + 1, end - colon - 1, kHidden);
  }
  return word;
}

}  // namespace

void remember_command_line(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:+@%";
  whole_command = "isoscope";
  for (const std::string& given : words) {
    const std::string word = without_password(given);
    const bool is_plain = !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
    std::string quoted = word;
    for (std::size_t at = 0; (at = quoted.find('\'', at)) != std::string::npos; at += 4)
      quoted.replace(at, 1, "'\\''");
    whole_command += " " + (is_plain ? word : "'" + quoted + "'");
  }
}

std::vector<CLI::Option*> Pictures::add_to(CLI::App& app, const std::string& what) {
  return {add_output_file(app, "--dot", dot_, "draw " + what + " for Graphviz"),
          add_output_file(app, "--svg", svg_, "draw " + what + " as a picture"),
          add_output_file(app, "--html", html_, "write a page: " + what + " step by step")};
}

Result<void> Pictures::write(const std::function<Page()>& make) const {
  if (!is_wanted()) return {};
  Page page = make();
  page.command_line = whole_command;
  if (!dot_.empty() && has_picture(page)) {
    if (auto written = write_whole(dot_, page_dot(page)); !written) return written;
  }
  if (!svg_.empty()) {
    if (auto written = write_whole(svg_, page_svg(page)); !written) return written;
  }
  if (!html_.empty()) {
    if (auto written = write_whole(html_, page_html(page)); !written) return written;
  }
  for (const Scene& scene : page.scenes) {
    if (scene.too_large.empty()) continue;
    clear_progress_line();
    std::fprintf(stderr, "isoscope: not drawn: %s\n", scene.too_large.c_str());
    break;
  }
  return {};
}

}  // namespace isoscope
