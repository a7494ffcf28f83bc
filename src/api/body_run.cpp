#include "api/body_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace isoscope::api {

Value Txn::read(std::string_view key) { return run_.read(key); }
void Txn::write(std::string_view key, Value value) { run_.write(key, value); }
void Txn::abort() { run_.abort(); }
void Txn::check(bool condition, std::string_view text) { run_.check(condition, text); }
void Txn::note(std::string_view name, Value value) { run_.note(name, value); }

Segment BodyRun::execute(const Body& body, KeyTable& keys, std::span<const std::int64_t> answers) {
  BodyRun run(keys, answers);
  const auto fail = [&](std::string why) {
    if (run.is_over_) return;  // thrown while the body was being left: no longer its behaviour
    run.segment_.stop = StopKind::Fault;
    run.segment_.fault = std::move(why);
  };
  try {
    Txn txn(run);
    body(txn);
  } catch (const Leave&) {
  } catch (const std::exception& error) {
    fail(fmt::format("threw an exception: {}", error.what()));
  } catch (...) {
    fail("threw an exception that is no std::exception");
  }
  run.mix(static_cast<std::uint64_t>(run.segment_.stop));
  return std::move(run.segment_);
}

ProgramKey BodyRun::begin_access(std::string_view name) {
  expect_running();
  if (++num_accesses_ > kMaxAccesses) {
    segment_.fault = fmt::format("has more than {} accesses", kMaxAccesses);
    leave(StopKind::Fault);
  }
  mix(name);
  return keys_.intern(keys_.family(name), {});
}

Value BodyRun::read(std::string_view name) {
  const ProgramKey key = begin_access(name);
  if (const auto own = own_.find(key); own != own_.end()) return own->second;
  if (num_answered_ == answers_.size()) {
    segment_.key = key;
    segment_.at_read = segment_.digest;
    leave(StopKind::Read);
  }
  segment_.writes.clear();
  segment_.before = segment_.digest;
  return answers_[num_answered_++];
}

void BodyRun::write(std::string_view name, Value value) {
  const ProgramKey key = begin_access(name);
  mix(static_cast<std::uint64_t>(value) + 1);
  own_[key] = value;
  segment_.writes.push_back({key, value});
}

void BodyRun::abort() {
  expect_running();
  leave(StopKind::Abort);
}

void BodyRun::check(bool condition, std::string_view text) {
  expect_running();
  if (condition || !segment_.failed_check.empty()) return;
  segment_.failed_check = text.empty() ? "a check without a text" : text;
  mix(text);
}

void BodyRun::note(std::string_view name, Value value) {
  expect_running();
  mix(name);
  mix(static_cast<std::uint64_t>(value));
  const auto same = std::find_if(segment_.notes.begin(), segment_.notes.end(),
                                 [&](const Note& note) { return note.name == name; });
  if (same != segment_.notes.end()) {
    same->value = value;
  } else {
    segment_.notes.push_back({std::string(name), value});
  }
}

void BodyRun::leave(StopKind stop) {
  segment_.stop = stop;
  is_over_ = true;
  throw Leave{};
}

void BodyRun::mix(std::uint64_t number) {
  std::uint64_t digest = (segment_.digest ^ number) * 0xff51afd7ed558ccd;
  segment_.digest = digest ^ (digest >> 32);
}

}  // namespace isoscope::api
