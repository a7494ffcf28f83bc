#pragma once
// Puts a program together: looks up what calls and claims name, compiles each distinct call once.
#include <map>
#include <unordered_map>

#include "program/ast.h"
#include "program/names.h"
#include "program/program.h"

namespace isoscope {

class ProgramBuilder {
 public:
  // Instructions of all calls together; a short text can call a long transaction often.
  static constexpr std::size_t kMaxInstructions = 5'000'000;
  // Keys of one `init` with ranges.
  static constexpr std::size_t kMaxInitialKeys = 1'000'000;
  // How often a call can be retried.
  static constexpr std::int64_t kMaxRetries = 100;

  ProgramBuilder(const txn::Syntax& syntax, std::string_view text) : syntax_(syntax), text_(text) {}
  Result<Program> build();

 private:
  struct Callee {
    const txn::Definition* definition = nullptr;
    txn::Scope scope = {};
  };
  // A call of the finished outline: what it calls with which arguments.
  struct Called {
    std::size_t callee = 0;
    std::vector<std::int64_t> arguments = {};
    friend auto operator<=>(const Called&, const Called&) = default;
  };

  Result<void> add_initial_values();
  Result<std::vector<std::vector<std::int64_t>>> initial_keys(const txn::InitSyntax& init) const;
  Result<void> add_definitions();
  Result<void> add_sessions();
  Result<void> add_call(const txn::Entry& entry, ProgramSession session, std::uint32_t number);
  Result<std::uint32_t> attempts_of(const txn::Entry& entry) const;
  Result<Called> resolve(const txn::Entry& entry) const;
  Result<std::uint32_t> code_for(const Called& called, Place place);
  Result<void> add_final(const txn::FinalSyntax& claim);
  // Collects what a claim looks at.
  Result<void> find_inputs(const txn::Expr& expr, FinalAssertion& claim);
  Result<CallId> find_call(const txn::Expr& expr) const;
  // The number of a key among those whose last values claims ask for.
  Result<std::uint32_t> final_key(const txn::Expr& expr);
  void note_touched(const Code& code);

  const txn::Syntax& syntax_;
  std::string_view text_;
  Program program_;
  std::vector<Callee> callees_;  // definitions, then blocks
  std::unordered_map<std::string_view, std::size_t> definitions_;
  std::unordered_map<std::string_view, ProgramSession> sessions_;
  ById<ProgramSession, std::vector<CallId>> first_attempts_;  // of its calls
  std::vector<Called> called_;                                // by call
  std::map<Called, std::uint32_t> codes_;
  std::size_t num_instructions_ = 0;
};

}  // namespace isoscope
