#include "program/code_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/assert.h"

namespace isoscope {

namespace {

bool jumps(Op op) {
  return op == Op::Jump || op == Op::JumpBack || op == Op::JumpIfZero || op == Op::JumpIfTrue;
}

}  // namespace

Operand CodeBuilder::add_local(std::string name) {
  locals_.push_back(std::move(name));
  return {OperandKind::Local, static_cast<std::int64_t>(locals_.size()) - 1};
}

Operand CodeBuilder::temporary() {
  most_temporaries_ = std::max(most_temporaries_, temporaries_ + 1);
  return {OperandKind::Temporary, temporaries_++};
}

void CodeBuilder::use(const Operand& operand) {
  if (operand.is_constant() && constant_numbers_.emplace(operand.number, constants_.size()).second)
    constants_.push_back(operand.number);
}

void CodeBuilder::emit(Op op, Place place, Operand to, Operand a, Operand b, std::int64_t number) {
  ISO_ASSERT(!to.is_constant());
  use(a);
  use(b);
  drafts_.push_back({op, to, a, b, number, place});
}

Label CodeBuilder::new_label() {
  labels_.push_back(-1);
  return Label{static_cast<std::uint32_t>(labels_.size() - 1)};
}

void CodeBuilder::put(Label label) {
  labels_[label.index] = static_cast<std::int64_t>(drafts_.size());
}

void CodeBuilder::jump(Op op, Label target, Place place, Operand a) {
  ISO_ASSERT(jumps(op));
  emit(op, place, {}, a, {}, target.index);
}

std::int64_t CodeBuilder::add_term(FamilyId family, std::vector<Operand> indices) {
  for (const Operand& index : indices) use(index);
  terms_.push_back({family, std::move(indices)});
  return static_cast<std::int64_t>(terms_.size()) - 1;
}

void CodeBuilder::read(Operand to, ProgramKey key, Place place) {
  emit(Op::ReadKey, place, to, {}, {}, key.index);
}

void CodeBuilder::read(Operand to, FamilyId family, std::vector<Operand> indices, Place place) {
  emit(Op::ReadIndexed, place, to, {}, {}, add_term(family, std::move(indices)));
}

void CodeBuilder::write(ProgramKey key, Operand value, Place place) {
  emit(Op::WriteKey, place, {}, value, {}, key.index);
}

void CodeBuilder::write(FamilyId family, std::vector<Operand> indices, Operand value, Place place) {
  emit(Op::WriteIndexed, place, {}, value, {}, add_term(family, std::move(indices)));
}

void CodeBuilder::lock(ProgramKey key, bool is_shared, Place place) {
  emit(is_shared ? Op::ShareKey : Op::LockKey, place, {}, {}, {}, key.index);
}

void CodeBuilder::lock(FamilyId family, std::vector<Operand> indices, bool is_shared, Place place) {
  emit(is_shared ? Op::ShareIndexed : Op::LockIndexed, place, {}, {}, {},
       add_term(family, std::move(indices)));
}

Register CodeBuilder::register_of(const Operand& operand) const {
  const std::size_t first_constant = locals_.size() + kStateWords;
  switch (operand.kind) {
    case OperandKind::None: return 0;
    case OperandKind::Local: return static_cast<Register>(operand.number);
    case OperandKind::Constant:
      return static_cast<Register>(first_constant + constant_numbers_.at(operand.number));
    case OperandKind::Temporary:
      return static_cast<Register>(first_constant + constants_.size() +
                                   static_cast<std::size_t>(operand.number));
  }
  return 0;
}

Result<Code> CodeBuilder::finish(Place place) && {
  const std::size_t registers = locals_.size() + kStateWords + constants_.size() +
                                static_cast<std::size_t>(most_temporaries_);
  if (registers > kMaxRegisters)
    return Error{.where = place,
                 .what = fmt::format("this needs more than {} locals and constants", kMaxRegisters),
                 .hint = "split it"};
  Code code;
  code.num_registers = static_cast<Register>(registers);
  code.instructions.reserve(drafts_.size());
  code.places.reserve(drafts_.size());
  for (const Draft& draft : drafts_) {
    std::int64_t number = draft.number;
    if (jumps(draft.op)) number = labels_[static_cast<std::size_t>(number)];
    ISO_ASSERT(!jumps(draft.op) ||
               (number >= 0 && number < static_cast<std::int64_t>(drafts_.size())));
    code.instructions.push_back(
        {draft.op, register_of(draft.to), register_of(draft.a), register_of(draft.b), number});
    code.places.push_back(draft.place);
  }
  for (const TermDraft& term : terms_) {
    KeyTerm& numbered = code.key_terms.emplace_back();
    numbered.family = term.family;
    for (const Operand& index : term.indices) numbered.indices.push_back(register_of(index));
  }
  code.locals = std::move(locals_);
  code.constants = std::move(constants_);
  return code;
}

}  // namespace isoscope
