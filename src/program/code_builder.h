#pragma once
// Writes code without knowing yet how many locals and constants it will have.
//
// Operands are named by kind; registers are numbered when the code is finished. Intermediate
// results are a stack: whoever takes some gives them back by release(). Every front end builds its
// code by this class.
#include <map>

#include "program/code.h"
#include "support/result.h"

namespace isoscope {

enum class OperandKind : std::uint8_t { None, Local, Constant, Temporary };

struct Operand {
  OperandKind kind = OperandKind::None;
  std::int64_t number = 0;  // which one; of a constant, its value

  bool is_constant() const { return kind == OperandKind::Constant; }
  static Operand constant(std::int64_t value) { return {OperandKind::Constant, value}; }
};

// A place in the code that jumps can name before it is known.
using Label = Id<struct LabelTag>;

class CodeBuilder {
 public:
  static constexpr std::size_t kMaxRegisters = 60'000;

  Operand add_local(std::string name);
  Operand temporary();
  std::int64_t temporaries() const { return temporaries_; }
  void release(std::int64_t down_to) { temporaries_ = down_to; }

  // to := op a, or a op b; `number` as the operation needs it.
  void emit(Op op, Place place, Operand to = {}, Operand a = {}, Operand b = {},
            std::int64_t number = 0);
  void set(Operand to, std::int64_t value, Place place) {
    emit(Op::Constant, place, to, {}, {}, value);
  }
  Label new_label();
  void put(Label label);  // here
  void jump(Op op, Label target, Place place, Operand a = {});

  // x := read(key), write(key, x): keys that are known, or computed from operands.
  void read(Operand to, ProgramKey key, Place place);
  void read(Operand to, FamilyId family, std::vector<Operand> indices, Place place);
  void write(ProgramKey key, Operand value, Place place);
  void write(FamilyId family, std::vector<Operand> indices, Operand value, Place place);
  // lock(key), lock_shared(key)
  void lock(ProgramKey key, bool is_shared, Place place);
  void lock(FamilyId family, std::vector<Operand> indices, bool is_shared, Place place);

  std::size_t size() const { return drafts_.size(); }
  Place place_of(std::size_t instruction) const { return drafts_[instruction].place; }

  // Numbers the registers. Requires: every label is put, the last instruction does not go on.
  // `place` is for the error of too many registers.
  Result<Code> finish(Place place) &&;

 private:
  struct Draft {
    Op op = Op::Commit;
    Operand to;
    Operand a;
    Operand b;
    std::int64_t number = 0;
    Place place;
  };
  struct TermDraft {
    FamilyId family;
    std::vector<Operand> indices;
  };
  void use(const Operand& operand);
  std::int64_t add_term(FamilyId family, std::vector<Operand> indices);
  Register register_of(const Operand& operand) const;

  std::vector<Draft> drafts_;
  std::vector<TermDraft> terms_;
  std::vector<std::string> locals_;
  std::vector<std::int64_t> labels_;  // the instruction, or -1
  std::map<std::int64_t, std::size_t> constant_numbers_;
  std::vector<std::int64_t> constants_;
  std::int64_t temporaries_ = 0;
  std::int64_t most_temporaries_ = 0;
};

}  // namespace isoscope
