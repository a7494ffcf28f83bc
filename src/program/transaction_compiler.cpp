
#include "program/compiler.h"

namespace isoscope::txn {

namespace {

using Jumps = ExpressionCompiler::Jumps;

class TransactionCompiler {
 public:
  TransactionCompiler(const Definition& definition, const Scope& scope,
                      const std::vector<std::int64_t>& arguments, KeyTable& keys)
      : definition_(definition),
        scope_(scope),
        arguments_(arguments),
        keys_(keys),
        expressions_(code_, [this](const Expr& expr) { return operand_of(expr.name); }) {}

  Result<Code> run() {
    const Place place = definition_.name.place;
    for (const std::string_view local : scope_.locals) code_.add_local(std::string(local));
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const Name& parameter = definition_.parameters[i];
      if (scope_.local(parameter.text) && arguments_[i] != 0)
        code_.set(local(parameter.text), arguments_[i], parameter.place);
    }
    compile(definition_.body);
    code_.emit(Op::Commit, place);
    return std::move(code_).finish(place);
  }

 private:
  // Whether the transaction may go on behind it.
  bool compile(const Block& block) {
    for (const Stmt& statement : block) {
      if (!compile(statement)) return false;  // what follows is never reached
    }
    return true;
  }

  bool compile(const Stmt& statement) {
    const std::int64_t mark = code_.temporaries();
    bool goes_on = true;
    switch (statement.kind) {
      case StmtKind::Assign:
        expressions_.assign(local(statement.local.text), *statement.value);
        break;
      case StmtKind::Read:
      case StmtKind::Write:
      case StmtKind::Lock:
      case StmtKind::LockShared: compile_access(statement); break;
      case StmtKind::Statement:
        code_.emit(Op::BeginStatement, statement.place);
        compile(statement.body);
        code_.emit(Op::EndStatement, statement.place);
        break;
      case StmtKind::If: goes_on = compile_if(statement); break;
      case StmtKind::For: compile_for(statement); break;
      case StmtKind::While: compile_while(statement); break;
      case StmtKind::Abort:
        code_.emit(Op::Abort, statement.place);
        goes_on = false;
        break;
      case StmtKind::Assert: {
        const Operand claim = expressions_.value(*statement.value);
        if (!claim.is_constant() || claim.number == 0)
          code_.emit(Op::Assert, statement.place, {}, claim, {}, statement.assertion.index);
        break;
      }
    }
    code_.release(mark);
    return goes_on;
  }

  void compile_access(const Stmt& statement) {
    const FamilyId family = keys_.family(statement.key.family.text);
    std::vector<Operand> indices;
    std::vector<std::int64_t> known;
    for (const ExprPtr& index : statement.key.indices) {
      indices.push_back(expressions_.value(*index));
      if (indices.back().is_constant()) known.push_back(indices.back().number);
    }
    if (known.size() == indices.size()) {
      access(statement, keys_.intern(family, known));
    } else {
      access(statement, family, std::move(indices));
    }
  }

  // The access itself, to a key that is known or to a family with indices.
  template <class... Key>
  void access(const Stmt& statement, Key... key) {
    if (statement.kind == StmtKind::Read) {
      code_.read(local(statement.local.text), std::move(key)..., statement.place);
    } else if (statement.kind == StmtKind::Write) {
      const Operand value = expressions_.value(*statement.value);
      code_.write(std::move(key)..., value, statement.place);
    } else {
      code_.lock(std::move(key)..., statement.kind == StmtKind::LockShared, statement.place);
    }
  }

  bool compile_if(const Stmt& statement) {
    const Label end = code_.new_label();
    bool goes_on = false;
    bool is_decided = false;  // an arm is certainly taken if none before it is
    for (const Arm& arm : statement.arms) {
      const Label next = code_.new_label();
      const Jumps skips =
          arm.condition ? expressions_.jump(*arm.condition, false, next) : Jumps::Never;
      is_decided = skips == Jumps::Never;
      if (skips != Jumps::Always && compile(arm.body)) {
        goes_on = true;
        if (!is_decided && &arm != &statement.arms.back())
          code_.jump(Op::Jump, end, statement.place);
      }
      code_.put(next);
      if (is_decided) break;
    }
    code_.put(end);
    return goes_on || !is_decided;
  }

  // The counter is the local itself, unless the body assigns it: then it is a hidden one, so that
  // the number of rounds is known from the start.
  void compile_for(const Stmt& statement) {
    const Operand visible = local(statement.local.text);
    const bool is_hidden = assigns(statement.body, statement.local.text);
    const std::int64_t mark = code_.temporaries();
    const Operand first = expressions_.value(*statement.value);
    const Operand end = expressions_.value(*statement.last);
    if (first.is_constant() && end.is_constant() && first.number > end.number) return;
    const std::size_t hidden_before = hidden_in_use_;
    Operand last = end;
    if (!end.is_constant()) {
      last = hidden_local();
      code_.emit(Op::Copy, statement.last->place, last, end);
    }
    const Label round = code_.new_label();
    const Label after = code_.new_label();
    // The local keeps its value if there is no round at all.
    if (!first.is_constant() || !end.is_constant()) {
      const Operand enters = code_.temporary();
      code_.emit(Op::LessEqual, statement.place, enters, first, last);
      code_.jump(Op::JumpIfZero, after, statement.place, enters);
    }
    const Operand counter = is_hidden ? hidden_local() : visible;
    if (first.is_constant()) {
      code_.set(counter, first.number, statement.place);
    } else {
      code_.emit(Op::Copy, statement.place, counter, first);
    }
    code_.release(mark);
    code_.put(round);
    if (is_hidden) code_.emit(Op::Copy, statement.place, visible, counter);
    if (compile(statement.body)) {
      const Operand goes_on = code_.temporary();
      code_.emit(Op::Less, statement.place, goes_on, counter, last);
      code_.jump(Op::JumpIfZero, after, statement.place, goes_on);
      code_.emit(Op::Add, statement.place, counter, counter, Operand::constant(1));
      code_.jump(Op::JumpBack, round, statement.place);
    }
    code_.put(after);
    hidden_in_use_ = hidden_before;
  }

  // Rounds are counted in a hidden local; what the text allows at most is computed once.
  void compile_while(const Stmt& statement) {
    const std::int64_t mark = code_.temporaries();
    const std::size_t hidden_before = hidden_in_use_;
    const Operand end = expressions_.value(*statement.last);
    Operand most = end;
    if (!end.is_constant()) {
      most = hidden_local();
      code_.emit(Op::Copy, statement.last->place, most, end);
    }
    const Operand counter = hidden_local();
    code_.set(counter, 0, statement.place);
    code_.release(mark);
    const Label round = code_.new_label();
    const Label after = code_.new_label();
    code_.put(round);
    const Operand goes_on = code_.temporary();
    code_.emit(Op::Less, statement.place, goes_on, counter, most);
    code_.jump(Op::JumpIfZero, after, statement.place, goes_on);
    code_.release(mark);
    const Jumps ends = expressions_.jump(*statement.value, false, after);
    code_.release(mark);
    if (ends != Jumps::Always && compile(statement.body)) {
      code_.emit(Op::Add, statement.place, counter, counter, Operand::constant(1));
      code_.jump(Op::JumpBack, round, statement.place);
    }
    code_.put(after);
    hidden_in_use_ = hidden_before;
  }

  Operand local(std::string_view name) const { return {OperandKind::Local, *scope_.local(name)}; }

  Operand operand_of(const Name& name) const {
    if (const auto parameter = scope_.constant(name.text))
      return Operand::constant(arguments_[*parameter]);
    return local(name.text);
  }

  // Loops that are not inside one another share them.
  Operand hidden_local() {
    if (hidden_in_use_ == hidden_.size()) hidden_.push_back(code_.add_local({}));
    return hidden_[hidden_in_use_++];
  }

  const Definition& definition_;
  const Scope& scope_;
  const std::vector<std::int64_t>& arguments_;
  KeyTable& keys_;
  CodeBuilder code_;
  ExpressionCompiler expressions_;
  std::vector<Operand> hidden_;
  std::size_t hidden_in_use_ = 0;
};

}  // namespace

Result<Code> compile(const Definition& definition, const Scope& scope,
                     const std::vector<std::int64_t>& arguments, KeyTable& keys) {
  return TransactionCompiler(definition, scope, arguments, keys).run();
}

}  // namespace isoscope::txn
