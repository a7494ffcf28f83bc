// The program that users get is linked as Debian links its own: read from its ELF file.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <set>
#include <span>

#include "cli/run_isoscope.h"

namespace isoscope {
namespace {

// The parts of an ELF file that say how it is protected.
class Binary {
 public:
  explicit Binary(std::string bytes) : bytes_(std::move(bytes)) {
    const auto header = at<Elf64_Ehdr>(0);
    is_elf_ =
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64;
    type_ = header.e_type;
    for (std::size_t i = 0; i < header.e_phnum; ++i)
      segments_.push_back(at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr)));
    if (const auto dynamic = segment(PT_DYNAMIC)) read_dynamic(*dynamic);
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      const auto section = at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
      if (section.sh_type != SHT_DYNSYM) continue;
      const auto names =
          at<Elf64_Shdr>(header.e_shoff + section.sh_link * sizeof(Elf64_Shdr)).sh_offset;
      for (std::size_t s = 0; s < section.sh_size; s += sizeof(Elf64_Sym))
        imports_.insert(bytes_.c_str() + names + at<Elf64_Sym>(section.sh_offset + s).st_name);
    }
  }

  bool is_elf() const { return is_elf_; }
  std::uint16_t type() const { return type_; }
  std::uint64_t flags() const { return flags_; }
  std::uint64_t flags_1() const { return flags_1_; }
  const std::set<std::string>& imports() const { return imports_; }
  std::optional<Elf64_Phdr> segment(std::uint32_t type) const {
    for (const Elf64_Phdr& one : segments_) {
      if (one.p_type == type) return one;
    }
    return std::nullopt;
  }

 private:
  template <class T>
  T at(std::size_t offset) const {
    T value = {};
    if (offset + sizeof(T) <= bytes_.size()) std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  void read_dynamic(const Elf64_Phdr& dynamic) {
    for (std::size_t i = 0; i < dynamic.p_filesz; i += sizeof(Elf64_Dyn)) {
      const auto entry = at<Elf64_Dyn>(dynamic.p_offset + i);
      if (entry.d_tag == DT_FLAGS) flags_ = entry.d_un.d_val;
      if (entry.d_tag == DT_FLAGS_1) flags_1_ = entry.d_un.d_val;
    }
  }

  std::string bytes_;
  bool is_elf_ = false;
  std::uint16_t type_ = 0;
  std::uint64_t flags_ = 0;
  std::uint64_t flags_1_ = 0;
  std::vector<Elf64_Phdr> segments_;
  std::set<std::string> imports_;
};

TEST(Hardening, TheProgramIsLinkedAsDebianLinksItsOwn) {
  const Binary program(slurp(isoscope_binary()));
  ASSERT_TRUE(program.is_elf());
  EXPECT_EQ(program.type(), ET_DYN);  // position independent …
  EXPECT_TRUE(program.flags_1() & DF_1_PIE);
  EXPECT_TRUE(program.segment(PT_GNU_RELRO));  // … its tables read-only once they are filled …
  EXPECT_TRUE((program.flags() & DF_BIND_NOW) || (program.flags_1() & DF_1_NOW));  // … at once
  const auto stack = program.segment(PT_GNU_STACK);
  ASSERT_TRUE(stack);
  EXPECT_FALSE(stack->p_flags & PF_X);
#ifdef __SSP_STRONG__
  EXPECT_TRUE(program.imports().contains("__stack_chk_fail"));
#else
  ADD_FAILURE() << "built without -fstack-protector-strong";
#endif
#ifdef _FORTIFY_SOURCE  // of release builds
  EXPECT_THAT(program.imports(), testing::Contains(testing::EndsWith("_chk")));
#endif
}

}  // namespace
}  // namespace isoscope
