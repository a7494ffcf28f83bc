#pragma once
// Runs the syntax tree as it stands, statement by statement: no constants, no code, no registers.
// It shares only the parser with the machine, and arithmetic is done anew on wide numbers.
#include <map>
#include <string>

#include "program/parser.h"
#include "program/serial_run.h"

namespace isoscope {

class NaiveInterpreter {
 public:
  explicit NaiveInterpreter(const txn::Syntax& syntax) : syntax_(syntax) {}

  // The same serial run that run_serially() makes; without the locals.
  SerialRun run() {
    for (const txn::InitSyntax& init : syntax_.inits)
      initial_[name_of(init.key)] = value(*init.value);
    for (const txn::SessionSyntax& session : syntax_.sessions) {
      std::int64_t number = 0;
      for (const txn::Entry& entry : session.entries) {
        run_entry(entry);
        if (run_.fault) return run_;
        ended_[{std::string(session.name.text), ++number}] = {run_.committed.back(), locals_};
      }
    }
    for (const txn::FinalSyntax& claim : syntax_.finals) {
      if (run_.failed) break;
      faulty_ = false;
      if (value(*claim.claim) == 0 || faulty_) run_.failed = claim.assertion;
    }
    return run_;
  }

 private:
  __extension__ using Wide = __int128;
  enum class End { None, Abort, Fault };
  struct Ended {
    bool committed = false;
    std::map<std::string, std::int64_t> locals;
  };

  void run_entry(const txn::Entry& entry) {
    const txn::Definition* body = nullptr;
    if (entry.callee.text.empty()) body = &syntax_.blocks[entry.block];
    for (const txn::Definition& definition : syntax_.definitions) {
      if (!entry.callee.text.empty() && definition.name.text == entry.callee.text)
        body = &definition;
    }
    locals_.clear();
    own_.clear();
    rounds_ = 0;
    for (std::size_t i = 0; i < entry.arguments.size(); ++i) {
      const std::int64_t argument = value(*entry.arguments[i]);
      locals_[std::string(body->parameters[i].text)] = argument;
    }
    const End end = run_block(body->body);
    run_.trace.emplace_back(end == End::None ? "commit" : end == End::Abort ? "abort" : "fault");
    run_.committed.push_back(end == End::None);
    if (end == End::Fault) run_.fault = Error{.where = fault_place_};
    if (end == End::None) {
      for (const auto& [key, written] : own_) run_.store[key] = written;
    }
  }

  End run_block(const txn::Block& block) {
    for (const txn::Stmt& statement : block) {
      const End end = run_statement(statement);
      if (faulty_) return End::Fault;
      if (end != End::None) return end;
    }
    return End::None;
  }

  End run_statement(const txn::Stmt& s) {
    const std::string local(s.local.text);
    switch (s.kind) {
      case txn::StmtKind::Assign: {
        const std::int64_t assigned = value(*s.value);
        if (!faulty_) locals_[local] = assigned;
        return End::None;
      }
      case txn::StmtKind::Read: {
        const std::string key = name_of(s.key);
        if (faulty_) return End::Fault;
        std::int64_t read = initial_[key];
        if (run_.store.contains(key)) read = run_.store[key];
        if (own_.contains(key)) read = own_[key];
        run_.trace.push_back("r(" + key + ")=" + std::to_string(read));
        locals_[local] = read;
        return End::None;
      }
      case txn::StmtKind::Write: {
        const std::string key = name_of(s.key);
        if (faulty_) return End::Fault;
        const std::int64_t written = value(*s.value);
        if (faulty_) return End::Fault;
        own_[key] = written;
        run_.trace.push_back("w(" + key + ")=" + std::to_string(written));
        return End::None;
      }
      case txn::StmtKind::If:
        for (const txn::Arm& arm : s.arms) {
          const bool taken = !arm.condition || value(*arm.condition) != 0;
          if (faulty_) return End::Fault;
          if (taken) return run_block(arm.body);
        }
        return End::None;
      case txn::StmtKind::For: {
        const Wide first = value(*s.value);
        if (faulty_) return End::Fault;
        const Wide last = value(*s.last);
        if (faulty_) return End::Fault;
        for (Wide i = first; i <= last; ++i) {
          if (i > first && ++rounds_ > 100'000) return fault_at(s.place);
          locals_[local] = static_cast<std::int64_t>(i);
          if (const End end = run_block(s.body); end != End::None) return end;
        }
        return End::None;
      }
      case txn::StmtKind::While: {
        const Wide most = value(*s.last);
        if (faulty_) return End::Fault;
        for (Wide round = 0; round < most; ++round) {
          const bool goes_on = value(*s.value) != 0;
          if (faulty_) return End::Fault;
          if (!goes_on) break;
          if (const End end = run_block(s.body); end != End::None) return end;
          if (++rounds_ > 100'000) return fault_at(s.place);
        }
        return End::None;
      }
      case txn::StmtKind::Abort: return End::Abort;
      case txn::StmtKind::Lock:
      case txn::StmtKind::LockShared:  // nothing but the computation of its key
        name_of(s.key);
        return faulty_ ? End::Fault : End::None;
      case txn::StmtKind::Statement: return run_block(s.body);
      case txn::StmtKind::Assert: {
        const bool holds = value(*s.value) != 0;
        if (!faulty_ && !holds && !run_.failed) run_.failed = s.assertion;
        return End::None;
      }
    }
    return End::None;
  }

  End fault_at(Place place) {
    if (!faulty_) fault_place_ = place;
    faulty_ = true;
    return End::Fault;
  }

  std::string name_of(const txn::KeyExpr& key) {
    std::string name(key.family.text);
    for (std::size_t i = 0; i < key.indices.size(); ++i)
      name += (i == 0 ? "[" : ", ") + std::to_string(value(*key.indices[i]));
    return key.indices.empty() ? name : name + "]";
  }

  static Wide floor_of(Wide a, Wide b) {
    if (b == 0) return 0;
    Wide quotient = a / b;
    while (quotient * b > a && b > 0) --quotient;
    while (quotient * b < a && b < 0) --quotient;
    return quotient;
  }

  std::int64_t value(const txn::Expr& e) {
    const auto part = [&](std::size_t i) -> Wide { return value(*e.parts[i]); };
    const auto& of_session = [&]() -> const Ended& {
      return ended_[{std::string(e.session.text), e.number}];
    };
    switch (e.kind) {
      case txn::ExprKind::Number: return e.number;
      case txn::ExprKind::Local: return locals_[std::string(e.name.text)];
      case txn::ExprKind::FinalLocal: {
        const auto& locals = of_session().locals;
        const auto known = locals.find(std::string(e.name.text));
        return known == locals.end() ? 0 : known->second;
      }
      case txn::ExprKind::Committed: return of_session().committed ? 1 : 0;
      case txn::ExprKind::FinalValue: {
        std::string key(e.name.text);
        for (std::size_t i = 0; i < e.parts.size(); ++i)
          key += (i == 0 ? "[" : ", ") + std::to_string(value(*e.parts[i]));
        if (!e.parts.empty()) key += "]";
        return run_.store.contains(key) ? run_.store[key] : initial_[key];
      }
      case txn::ExprKind::And: return part(0) != 0 && !faulty_ && part(1) != 0 ? 1 : 0;
      case txn::ExprKind::Or: return part(0) != 0 || faulty_ || part(1) != 0 ? 1 : 0;
      case txn::ExprKind::Unary:
        return in_range(e.op == Op::Not ? Wide{part(0) == 0} : -part(0), e.place);
      case txn::ExprKind::Binary: break;
    }
    Wide result = part(0);
    for (std::size_t i = 1; i < e.parts.size() && !faulty_; ++i) {
      const Wide right = part(i);
      if (!faulty_) result = in_range(apply(e.op, result, right), e.place);
    }
    return static_cast<std::int64_t>(result);
  }

  static Wide apply(Op op, Wide a, Wide b) {
    switch (op) {
      case Op::Multiply: return a * b;
      case Op::Divide: return floor_of(a, b);
      case Op::Modulo: return b == 0 ? 0 : a - b * floor_of(a, b);
      case Op::Add: return a + b;
      case Op::Subtract: return a - b;
      case Op::BitAnd: return a & b;
      case Op::BitXor: return a ^ b;
      case Op::BitOr: return a | b;
      case Op::Equal: return a == b;
      case Op::NotEqual: return a != b;
      case Op::Less: return a < b;
      case Op::LessEqual: return a <= b;
      case Op::Greater: return a > b;
      case Op::GreaterEqual: return a >= b;
      case Op::Min: return a < b ? a : b;
      default: return a < b ? b : a;
    }
  }

  std::int64_t in_range(Wide wide, Place place) {
    const auto narrow = static_cast<std::int64_t>(wide);
    if (narrow != wide) fault_at(place);
    return narrow;
  }

  const txn::Syntax& syntax_;
  SerialRun run_;
  std::map<std::string, std::int64_t> initial_;
  std::map<std::string, std::int64_t> own_;
  std::map<std::string, std::int64_t> locals_;
  std::map<std::pair<std::string, std::int64_t>, Ended> ended_;
  std::int64_t rounds_ = 0;
  bool faulty_ = false;
  Place fault_place_;
};

}  // namespace isoscope
