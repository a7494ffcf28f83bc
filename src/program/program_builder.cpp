#include "program/program_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "program/compiler.h"
#include "program/parser.h"
#include "support/spelling.h"

namespace isoscope {

namespace {

Error already_there(const txn::Name& name, std::string_view what, Place before) {
  return Error{.where = name.place,
               .what = fmt::format("{} '{}' is there already", what, name.text),
               .hint = fmt::format("at {}:{}", before.line, before.column)};
}

template <class Map>
std::vector<std::string_view> sorted_names(const Map& map) {
  std::vector<std::string_view> names;
  for (const auto& entry : map) names.push_back(entry.first);
  std::ranges::sort(names);
  return names;
}

std::optional<std::size_t> index_of(const FinalAssertion& claim, const FinalInput& wanted) {
  const auto found = std::ranges::find(claim.inputs, wanted);
  if (found == claim.inputs.end()) return std::nullopt;
  return static_cast<std::size_t>(found - claim.inputs.begin());
}

}  // namespace

Result<Program> ProgramBuilder::build() {
  program_.text_ = text_;
  program_.keys_ = std::make_unique<KeyTable>();
  program_.assertions_ = syntax_.assertions;
  if (auto done = add_initial_values(); !done) return done.error();
  if (auto done = add_definitions(); !done) return done.error();
  if (auto done = add_sessions(); !done) return done.error();
  for (const txn::FinalSyntax& claim : syntax_.finals) {
    if (auto done = add_final(claim); !done) return done.error();
  }
  for (const Code& code : program_.codes_) note_touched(code);
  return std::move(program_);
}

Result<void> ProgramBuilder::add_initial_values() {
  std::unordered_map<ProgramKey, Place> places;
  for (const txn::InitSyntax& init : syntax_.inits) {
    auto value = txn::constant_value(*init.value);
    if (!value) return value.error();
    auto all = initial_keys(init);
    if (!all) return all.error();
    KeyTable& keys = *program_.keys_;
    for (const std::vector<std::int64_t>& indices : *all) {
      const ProgramKey key = keys.intern(keys.family(init.key.family.text), indices);
      const auto [before, is_new] = places.emplace(key, init.key.family.place);
      if (!is_new)
        return Error{.where = init.key.family.place,
                     .what = fmt::format("key {} has an initial value already", keys.name(key)),
                     .hint = fmt::format("at {}:{}", before->second.line, before->second.column)};
      keys.set_initial(key, *value);
    }
  }
  return {};
}

// The indices of all keys that an `init` with ranges speaks of.
Result<std::vector<std::vector<std::int64_t>>> ProgramBuilder::initial_keys(
    const txn::InitSyntax& init) const {
  std::vector<std::vector<std::int64_t>> all = {{}};
  for (std::size_t i = 0; i < init.key.indices.size(); ++i) {
    auto first = txn::constant_value(*init.key.indices[i]);
    if (!first) return first.error();
    std::int64_t last = *first;
    if (init.lasts[i]) {
      auto value = txn::constant_value(*init.lasts[i]);
      if (!value) return value.error();
      last = *value;
    }
    const Place place = init.key.indices[i]->place;
    if (last < *first)
      return Error{.where = place,
                   .what = fmt::format("the range {}..{} is empty", *first, last),
                   .hint = "from small to large: init stock[1..9] = 5"};
    const auto size = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(*first);
    if (size >= kMaxInitialKeys / all.size())
      return Error{.where = place,
                   .what = fmt::format("an init can have at most {} keys", kMaxInitialKeys),
                   .hint = "keys without an init start at 0"};
    std::vector<std::vector<std::int64_t>> longer;
    for (const std::vector<std::int64_t>& indices : all) {
      for (std::uint64_t step = 0; step <= size; ++step) {
        longer.push_back(indices);
        longer.back().push_back(*first + static_cast<std::int64_t>(step));
      }
    }
    all = std::move(longer);
  }
  return all;
}

Result<void> ProgramBuilder::add_definitions() {
  for (const txn::Definition& definition : syntax_.definitions) {
    const auto [known, is_new] = definitions_.emplace(definition.name.text, callees_.size());
    if (!is_new)
      return already_there(definition.name, "transaction",
                           callees_[known->second].definition->name.place);
    callees_.push_back({&definition});
  }
  for (const txn::Definition& block : syntax_.blocks) callees_.push_back({&block});
  for (Callee& callee : callees_) {
    auto scope = txn::scope_of(*callee.definition, syntax_.families);
    if (!scope) return scope.error();
    callee.scope = std::move(*scope);
  }
  return {};
}

Result<void> ProgramBuilder::add_sessions() {
  for (const txn::SessionSyntax& session : syntax_.sessions) {
    const ProgramSession number = program_.outline_.sessions.next_id();
    const auto [known, is_new] = sessions_.emplace(session.name.text, number);
    if (!is_new)
      return already_there(session.name, "session",
                           syntax_.sessions[known->second.index].name.place);
    program_.outline_.sessions.push_back(
        {.name = std::string(session.name.text), .first = program_.outline_.calls.next_id()});
    first_attempts_.emplace_back();
    std::uint32_t place_in_session = 0;
    for (const txn::Entry& entry : session.entries) {
      if (auto done = add_call(entry, number, ++place_in_session); !done) return done;
    }
    Session& added = program_.outline_.sessions.back();
    added.size = program_.outline_.calls.next_id().index - added.first.index;
  }
  return {};
}

Result<ProgramBuilder::Called> ProgramBuilder::resolve(const txn::Entry& entry) const {
  if (entry.callee.text.empty()) return Called{syntax_.definitions.size() + entry.block};
  const auto known = definitions_.find(entry.callee.text);
  if (known == definitions_.end())
    return Error{.where = entry.callee.place,
                 .what = fmt::format("unknown transaction '{}'", entry.callee.text),
                 .hint = entry.callee.text == "retry"
                             ? "a call is retried like this, without parentheses: work() retry 2"
                         : definitions_.empty()
                             ? "define it: txn name() { … }"
                             : suggest(entry.callee.text, sorted_names(definitions_))};
  const txn::Definition& definition = *callees_[known->second].definition;
  if (definition.parameters.size() != entry.arguments.size()) {
    std::vector<std::string_view> parameters;
    for (const txn::Name& parameter : definition.parameters) parameters.push_back(parameter.text);
    return Error{.where = entry.callee.place,
                 .what = fmt::format("'{}' takes {} argument{}, not {}", entry.callee.text,
                                     parameters.size(), parameters.size() == 1 ? "" : "s",
                                     entry.arguments.size()),
                 .hint = fmt::format("{}({})", entry.callee.text, fmt::join(parameters, ", "))};
  }
  Called called{known->second};
  for (const txn::ExprPtr& argument : entry.arguments) {
    auto value = txn::constant_value(*argument);
    if (!value) return value.error();
    called.arguments.push_back(*value);
  }
  return called;
}

// How often a call runs at most.
Result<std::uint32_t> ProgramBuilder::attempts_of(const txn::Entry& entry) const {
  if (!entry.retries) return 1U;
  auto retries = txn::constant_value(*entry.retries);
  if (!retries) return retries.error();
  if (*retries < 0 || *retries > kMaxRetries)
    return Error{.where = entry.retries->place,
                 .what = fmt::format("a call cannot be retried {} times", *retries),
                 .hint = fmt::format("at least 0 times and at most {}", kMaxRetries)};
  return static_cast<std::uint32_t>(*retries) + 1;
}

Result<void> ProgramBuilder::add_call(const txn::Entry& entry, ProgramSession session,
                                      std::uint32_t number) {
  auto called = resolve(entry);
  if (!called) return called.error();
  auto code = code_for(*called, entry.callee.place);
  if (!code) return code.error();
  auto attempts = attempts_of(entry);
  if (!attempts) return attempts.error();
  const txn::LevelName& of_definition = callees_[called->callee].definition->level;
  const txn::LevelName& level = entry.level.text.empty() ? of_definition : entry.level;
  first_attempts_.back().push_back(program_.outline_.calls.next_id());
  for (std::uint32_t attempt = 1; attempt <= *attempts; ++attempt) {
    program_.outline_.calls.push_back(
        {.session = session,
         .number = number,
         .name = entry.callee.text.empty()
                     ? "txn"
                     : fmt::format("{}({})", entry.callee.text, fmt::join(called->arguments, ", ")),
         .level = level.text,
         .place = entry.callee.place,
         .level_place = level.place,
         .function = std::string(entry.callee.text),
         .attempt = attempt});
    program_.code_of_.push_back(*code);
    called_.push_back(*called);
  }
  return {};
}

Result<std::uint32_t> ProgramBuilder::code_for(const Called& called, Place place) {
  if (const auto known = codes_.find(called); known != codes_.end()) return known->second;
  const Callee& callee = callees_[called.callee];
  auto code = txn::compile(*callee.definition, callee.scope, called.arguments, *program_.keys_);
  if (!code) return code.error();
  num_instructions_ += code->instructions.size();
  if (num_instructions_ > kMaxInstructions)
    return Error{.where = place,
                 .what = fmt::format("the calls up to this one have more than {} instructions",
                                     kMaxInstructions),
                 .hint = "fewer calls, or shorter transactions"};
  const auto number = static_cast<std::uint32_t>(program_.codes_.size());
  program_.num_registers_ = std::max<std::size_t>(program_.num_registers_, code->num_registers);
  program_.codes_.push_back(std::move(*code));
  codes_.emplace(called, number);
  return number;
}

Result<CallId> ProgramBuilder::find_call(const txn::Expr& expr) const {
  const auto known = sessions_.find(expr.session.text);
  if (known == sessions_.end())
    return Error{.where = expr.session.place,
                 .what = fmt::format("unknown session '{}'", expr.session.text),
                 .hint = sessions_.empty() ? "the program has no sessions"
                                           : suggest(expr.session.text, sorted_names(sessions_))};
  const std::vector<CallId>& calls = first_attempts_[known->second];
  if (expr.number < 1 || static_cast<std::uint64_t>(expr.number) > calls.size())
    return Error{
        .where = expr.number_place,
        .what = fmt::format("session '{}' has no transaction {}", expr.session.text, expr.number),
        .hint =
            calls.empty() ? "it has none" : fmt::format("they count from 1 to {}", calls.size())};
  return calls[static_cast<std::size_t>(expr.number) - 1];
}

Result<std::uint32_t> ProgramBuilder::final_key(const txn::Expr& expr) {
  if (!std::ranges::binary_search(syntax_.families, expr.name.text))
    return Error{.where = expr.name.place,
                 .what = fmt::format("no transaction and no init has the key '{}'", expr.name.text),
                 .hint = suggest(expr.name.text, syntax_.families)};
  std::vector<std::int64_t> indices;
  for (const txn::ExprPtr& index : expr.parts) {
    auto value = txn::constant_value(*index);
    if (!value) return value.error();
    indices.push_back(*value);
  }
  KeyTable& keys = *program_.keys_;
  const ProgramKey key = keys.intern(keys.family(expr.name.text), indices);
  auto& known = program_.final_keys_;
  const auto at = std::ranges::find(known, key);
  const auto number = static_cast<std::uint32_t>(at - known.begin());
  if (at == known.end()) known.push_back(key);
  return number;
}

Result<void> ProgramBuilder::find_inputs(const txn::Expr& expr, FinalAssertion& claim) {
  if (expr.kind == txn::ExprKind::FinalValue) {
    auto key = final_key(expr);
    if (!key) return key.error();
    const FinalInput input{.final_key = *key};
    if (!index_of(claim, input)) claim.inputs.push_back(input);
    return {};
  }
  if (expr.kind == txn::ExprKind::Committed || expr.kind == txn::ExprKind::FinalLocal) {
    auto call = find_call(expr);
    if (!call) return call.error();
    program_.assertions_[claim.number].calls.push_back(*call);
    FinalInput input{.call = *call};
    if (expr.kind == txn::ExprKind::FinalLocal) {
      const txn::Scope& scope = callees_[called_[call->index].callee].scope;
      if (scope.constant(expr.name.text)) return {};
      input.local = scope.local(expr.name.text);
      if (!input.local) {
        const std::vector<std::string_view> names = scope.names();
        return Error{.where = expr.name.place,
                     .what = fmt::format("{}[{}] has no local '{}'", expr.session.text, expr.number,
                                         expr.name.text),
                     .hint = names.empty() ? "it has none" : suggest(expr.name.text, names)};
      }
    }
    if (!index_of(claim, input)) claim.inputs.push_back(input);
  }
  for (const txn::ExprPtr& part : expr.parts) {
    if (auto found = find_inputs(*part, claim); !found) return found;
  }
  return {};
}

Result<void> ProgramBuilder::add_final(const txn::FinalSyntax& syntax) {
  FinalAssertion claim;
  claim.number = syntax.assertion;
  if (auto found = find_inputs(*syntax.claim, claim); !found) return found;
  std::vector<CallId>& calls = program_.assertions_[claim.number].calls;
  std::ranges::sort(calls);
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  CodeBuilder code;
  for (std::size_t i = 0; i < claim.inputs.size(); ++i) code.add_local({});
  const auto operand_of = [&](const txn::Expr& expr) -> Operand {
    if (expr.kind == txn::ExprKind::FinalValue) {
      const FinalInput value{.final_key = *final_key(expr)};
      return {OperandKind::Local, static_cast<std::int64_t>(*index_of(claim, value))};
    }
    FinalInput input{.call = *find_call(expr)};
    if (expr.kind == txn::ExprKind::FinalLocal) {
      const Called& called = called_[input.call.index];
      const txn::Scope& scope = callees_[called.callee].scope;
      // A parameter that is never assigned is no local, yet may be asked for like one.
      if (const auto constant = scope.constant(expr.name.text))
        return Operand::constant(called.arguments[*constant]);
      input.local = scope.local(expr.name.text);
    }
    return {OperandKind::Local, static_cast<std::int64_t>(*index_of(claim, input))};
  };
  const Place place = program_.assertions_[claim.number].place;
  const Operand truth = txn::ExpressionCompiler(code, operand_of).value(*syntax.claim);
  code.emit(Op::Assert, place, {}, truth, {}, claim.number.index);
  code.emit(Op::Commit, place);
  auto finished = std::move(code).finish(place);
  if (!finished) return finished.error();
  claim.code = std::move(*finished);
  program_.num_registers_ =
      std::max<std::size_t>(program_.num_registers_, claim.code.num_registers);
  program_.final_assertions_.push_back(std::move(claim));
  return {};
}

void ProgramBuilder::note_touched(const Code& code) {
  const auto sort = [](auto& ids) {
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  };
  const auto note = [&](Op of_key, Op of_term, auto& families, auto& keys, auto& computed) {
    for (const Instruction& i : code.instructions) {
      if (i.op == of_key) keys.push_back(ProgramKey{static_cast<std::uint32_t>(i.number)});
      if (i.op == of_term)
        computed.push_back(code.key_terms[static_cast<std::size_t>(i.number)].family);
    }
    families = computed;
    for (const ProgramKey key : keys) families.push_back(program_.keys_->family(key));
    sort(families);
    sort(keys);
    sort(computed);
  };
  Program::Touched touched;
  note(Op::ReadKey, Op::ReadIndexed, touched.reads, touched.read_keys, touched.read_families);
  note(Op::WriteKey, Op::WriteIndexed, touched.writes, touched.written_keys,
       touched.written_families);
  program_.touched_.push_back(std::move(touched));
}

Result<Program> parse_program(std::string_view text) {
  const auto syntax = txn::parse_syntax(text);
  if (!syntax) return syntax.error().quoting(text);
  auto program = ProgramBuilder(*syntax, text).build();
  if (!program) return program.error().quoting(text);
  return program;
}

}  // namespace isoscope
