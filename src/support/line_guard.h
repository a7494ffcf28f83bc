#pragma once
// Cuts half a line off a file when the process that writes it is killed.
//
// A process that writes a line in one call can still leave half of it: the kernel looks for SIGKILL
// between memory pages (1 to 2 of 100 kills of `explore --histories` hit such a moment). So a
// child process waits at a pipe until its parent closes the other end or dies, and then cuts the
// file after its last newline. It holds nothing else of its parent, ignores what a terminal or a
// group of processes is sent, and is in no way of the writing itself.
namespace isoscope {

class LineGuard {
 public:
  LineGuard() = default;  // none
  // For a file that is open for reading and writing. None if there can be no child: then only the
  // guard is missing.
  static LineGuard over(int descriptor);

  LineGuard(LineGuard&& other) noexcept;
  LineGuard& operator=(LineGuard&& other) noexcept;
  ~LineGuard();  // lets the child go, and waits for it

 private:
  int pipe_ = -1;
  int child_ = -1;
};

}  // namespace isoscope
