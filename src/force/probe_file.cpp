#include "force/probe_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "force/embedded_probes.h"
#include "support/assert.h"
#include "support/input.h"

namespace isoscope::force {
namespace {

class ProbeReader {
 public:
  explicit ProbeReader(std::string_view text) : text_(text) {}

  Result<Probe> read() {
    LineReader lines = LineReader::over(text_);
    for (std::string_view line; !error_ && lines.next(line);) {
      line_ = line.substr(0, line.find('#'));
      at_ = 0;
      number_ = lines.line_number();
      skip_blanks();
      if (at_ == line_.size()) continue;
      read_line();
    }
    if (!error_ && (probe_.name.empty() || probe_.sessions.empty() || probe_.anomalies.empty()))
      fail("a probe has a name, sessions and an anomaly");
    if (error_) return error_->quoting(text_);
    std::ranges::sort(probe_.rows);
    return std::move(probe_);
  }

 private:
  void fail(std::string what) {
    if (!error_)
      error_ =
          Error{.where = {number_, static_cast<std::uint32_t>(at_ + 1)}, .what = std::move(what)};
    at_ = line_.size();
  }
  void skip_blanks() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
  }
  bool at_end() {
    skip_blanks();
    return at_ == line_.size();
  }
  bool take(char c) {
    if (at_ == line_.size() || line_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string word() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < line_.size() &&
           std::string_view(" \t:=(),.\"").find(line_[at_]) == std::string_view::npos)
      ++at_;
    if (at_ == begin) fail("a name is missing");
    return std::string(line_.substr(begin, at_ - begin));
  }
  std::int64_t number(const std::string& text) {
    std::int64_t value = 0;
    const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || stop != text.data() + text.size())
      fail(fmt::format("'{}' is no number", text));
    return value;
  }
  ProbeValue value() {
    const std::string text = word();
    if (text == "nil") return std::nullopt;
    return number(text);
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("expected '{}'", c));
  }

  void read_line() {
    const std::string first = word();
    if (first == "probe") {
      probe_.name = word();
      skip_blanks();
      expect('"');
      const std::size_t end = std::min(line_.find('"', at_), line_.size());
      probe_.title = line_.substr(at_, end - at_);
      at_ = end;
      expect('"');
    } else if (first == "init") {
      while (!at_end()) {
        std::string key = word();
        expect('=');
        probe_.rows.emplace_back(std::move(key), value());
      }
    } else if (first == "anomaly") {
      probe_.anomalies.emplace_back();
      while (!at_end()) probe_.anomalies.back().push_back(term());
    } else {
      expect(':');
      probe_.sessions.push_back({.name = first});
      while (!at_end()) op(probe_.sessions.back());
    }
    if (!at_end()) fail("this has no place here");
  }

  void op(ProbeSession& session) {
    using Kind = ProbeOp::Kind;
    static const std::pair<std::string_view, Kind> kNames[] = {
        {"r", Kind::Read},   {"l", Kind::Lock},   {"ls", Kind::Share},  {"w", Kind::Write},
        {"i", Kind::Insert}, {"d", Kind::Delete}, {"scan", Kind::Scan}, {"lscan", Kind::LockScan}};
    const std::string name = word();
    if (session.aborts) return fail("nothing comes after abort");
    if (name == "abort") {
      session.aborts = true;
      return;
    }
    if (name == "commit") {
      if (session.ops.empty() || session.ops.back().kind == Kind::Commit || at_end())
        return fail("commit stands between operations");
      session.ops.push_back({.kind = Kind::Commit});
      return;
    }
    const auto found = std::ranges::find(kNames, name, &std::pair<std::string_view, Kind>::first);
    if (found == std::end(kNames)) return fail(fmt::format("'{}' is no operation", name));
    ProbeOp made{.kind = found->second};
    if (!made.is_scan()) {
      expect('(');
      made.key = word();
      if (std::ranges::find(probe_.rows, made.key, &std::pair<std::string, ProbeValue>::first) ==
          probe_.rows.end())
        return fail(fmt::format("'{}' is no row of init", made.key));
      if (made.kind == Kind::Write || made.kind == Kind::Insert) {
        expect(',');
        made.value = number(word());
      }
      expect(')');
    }
    session.ops.push_back(made);
  }

  ProbeTerm term() {
    ProbeTerm made;
    const std::string name = word();
    if (name == "end") {
      made.kind = ProbeTerm::Kind::End;
      expect('.');
      made.key = word();
    } else {
      const auto session = std::ranges::find(probe_.sessions, name, &ProbeSession::name);
      if (session == probe_.sessions.end()) {
        fail(fmt::format("'{}' is no session", name));
        return made;
      }
      made.session = {static_cast<std::uint32_t>(session - probe_.sessions.begin())};
      if (!take('.')) return made;
      made.kind = ProbeTerm::Kind::Read;
      const std::int64_t place = number(word());
      const auto reads = std::ranges::count_if(session->ops, &ProbeOp::is_read);
      if (place < 1 || place > reads) fail(fmt::format("session {} has {} reads", name, reads));
      made.read = {static_cast<std::uint32_t>(place - 1)};
    }
    expect('=');
    made.value = value();
    return made;
  }

  std::string_view text_;
  std::string_view line_;
  std::size_t at_ = 0;
  std::uint32_t number_ = 0;
  std::optional<Error> error_;
  Probe probe_;
};

}  // namespace

Result<Probe> read_probe(std::string_view text) { return ProbeReader(text).read(); }

const std::vector<Probe>& probe_catalogue() {
  static const std::vector<Probe> kProbes = [] {
    std::vector<Probe> probes;
    for (const std::string_view text : embedded_probes()) {
      auto probe = read_probe(text);
      ISO_ASSERT(probe.ok());
      probes.push_back(std::move(*probe));
    }
    return probes;
  }();
  return kProbes;
}

}  // namespace isoscope::force
