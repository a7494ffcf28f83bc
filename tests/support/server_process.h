#pragma once
// A server program that a test starts: by an account without rights, and gone with the test.
#include <pwd.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace isoscope {

// Servers refuse to run as root: then an account without rights runs them. Null: we are not root,
// or there is no such account.
const passwd* server_account();
// Runs a program in a folder with its outputs appended to a file; returns the process. It ends with
// the process that started it, however that ends.
pid_t spawn_server(const std::vector<std::string>& words, const std::string& folder,
                   const std::string& log);
bool ended_within(pid_t pid, double seconds, int& status);
std::string text_of_file(const std::string& path);

}  // namespace isoscope
