// Outputs in every kind of place, and what is left of them when something goes wrong.
#include "support/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "support/input.h"
#include "support/named_file.h"
#include "support/temp_folder.h"
#include "support/temporary_file.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class OutputTest : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return folder_.at(name); }
  std::string text_of(const std::string& name) const { return folder_.text_of(name); }
  std::set<std::string> files() const { return folder_.names(); }
  static mode_t mode_of(const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777U;
  }

  TempFolder folder_;
};

// Files of this process may not grow beyond a size, as on a full disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit small = old_;
    small.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &small);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit old_ = {};
  void (*handler_)(int) = nullptr;
};

TEST_F(OutputTest, LeavesTheOldFileUntilItIsClosed) {
  ASSERT_TRUE(write_whole(at("a"), "old").ok());
  {
    auto output = Output::open(at("a"));
    ASSERT_TRUE(output.ok());
    output->write("half");
  }
  EXPECT_EQ(text_of("a"), "old");
  EXPECT_THAT(files(), ElementsAre("a"));
  ASSERT_TRUE(write_whole(at("a"), "new").ok());
  EXPECT_EQ(text_of("a"), "new");
  EXPECT_THAT(files(), ElementsAre("a"));
}

TEST_F(OutputTest, WritesTextsOfAnySizeInAnyPieces) {
  std::string all;
  auto output = Output::open(at("a"));
  ASSERT_TRUE(output.ok());
  for (std::size_t size : {1U, 70'000U, 0U, 65'535U, 2U, 65'536U, 200'000U, 7U}) {
    const std::string piece(size, static_cast<char>('a' + all.size() % 26));
    output->write(piece);
    all += piece;
  }
  ASSERT_TRUE(output->close().ok());
  EXPECT_EQ(text_of("a"), all);
}

TEST_F(OutputTest, TouchesNoOtherFile) {
  ASSERT_TRUE(write_whole(at("a.part"), "mine").ok());
  ASSERT_TRUE(write_whole(at("victim"), "untouched").ok());
  fs::create_symlink("victim", at("b.part"));
  ASSERT_TRUE(write_whole(at("a"), "one").ok());
  ASSERT_TRUE(write_whole(at("b"), "two").ok());
  EXPECT_EQ(text_of("a.part"), "mine");
  EXPECT_EQ(text_of("victim"), "untouched");
  EXPECT_TRUE(fs::is_symlink(at("b.part")));
}

TEST_F(OutputTest, LetsTheLaterOfTwoWritersWinWhole) {
  auto first = Output::open(at("a"));
  auto second = Output::open(at("a"));
  ASSERT_TRUE(first.ok() && second.ok());
  for (int i = 0; i < 100'000; ++i) {
    first->write("1");
    second->write("2");
  }
  ASSERT_TRUE(second->close().ok());
  EXPECT_EQ(text_of("a"), std::string(100'000, '2'));
  ASSERT_TRUE(first->close().ok());
  EXPECT_EQ(text_of("a"), std::string(100'000, '1'));
  EXPECT_THAT(files(), ElementsAre("a"));
}

TEST_F(OutputTest, KeepsTheModeOfAFileAndGivesNewOnesTheUsual) {
  const mode_t old = ::umask(027);
  ASSERT_TRUE(write_whole(at("new"), "x").ok());
  EXPECT_EQ(mode_of(at("new")), 0640U);
  for (const mode_t mode : {0600U, 0664U, 0777U}) {
    ASSERT_EQ(::chmod(at("new").c_str(), mode), 0);
    ASSERT_TRUE(write_whole(at("new"), "y").ok());
    EXPECT_EQ(mode_of(at("new")), mode);
    auto lines = Output::open_lines(at("new"));
    ASSERT_TRUE(lines.ok());
    EXPECT_EQ(mode_of(at("new")), mode);
  }
  ::umask(old);
}

TEST_F(OutputTest, WritesThroughSymbolicLinks) {
  fs::create_directory(at("far"));
  ASSERT_TRUE(write_whole(at("far/file"), "old").ok());
  fs::create_symlink("far/file", at("link"));
  fs::create_symlink("link", at("link-to-link"));
  ASSERT_TRUE(write_whole(at("link-to-link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_TRUE(fs::is_symlink(at("link-to-link")));
  EXPECT_EQ(text_of("far/file"), "new");

  fs::create_symlink("far/later", at("dangling"));
  ASSERT_TRUE(write_whole(at("dangling"), "there now").ok());
  EXPECT_TRUE(fs::is_symlink(at("dangling")));
  EXPECT_EQ(text_of("far/later"), "there now");

  fs::create_symlink("round", at("round"));
  EXPECT_THAT(render(write_whole(at("round"), "x").error()), HasSubstr("cannot write: Too many"));
}

TEST_F(OutputTest, WritesPipesAndDescriptorsInPlace) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = *read_whole(at("pipe")); });
  EXPECT_TRUE(write_whole(at("pipe"), "through").ok());
  reader.join();
  EXPECT_EQ(read, "through");
  EXPECT_TRUE(fs::is_fifo(at("pipe")));

  // A redirected descriptor goes on where it is; the file behind it is not replaced.
  const int descriptor = ::open(at("log").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(descriptor, 3);
  ASSERT_EQ(::write(descriptor, "one ", 4), 4);
  EXPECT_TRUE(write_whole("/dev/fd/" + std::to_string(descriptor), "two").ok());
  fs::create_symlink("/proc/self/fd/" + std::to_string(descriptor), at("link"));
  EXPECT_TRUE(write_whole(at("link"), " three").ok());
  EXPECT_EQ(text_of("log"), "one two three");
  ::close(descriptor);
  EXPECT_TRUE(write_whole("/dev/null", "gone").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(OutputTest, SaysWhyAFileCannotBeWritten) {
  const auto complaint = [](const std::string& path) {
    const Result<void> before = Output::check(path);
    const Result<void> written = write_whole(path, "x");
    EXPECT_FALSE(written.ok()) << path;
    EXPECT_FALSE(before.ok()) << path;
    return written.ok() ? "" : render(written.error());
  };
  EXPECT_EQ(complaint(at("no/such")),
            at("no/such") + ": error: cannot write: No such file or directory");
  EXPECT_EQ(complaint(folder_.path()), folder_.path() + ": error: cannot write: Is a directory");
  EXPECT_THAT(complaint(at("a/")), HasSubstr("cannot write: "));
  EXPECT_THAT(complaint(""), HasSubstr("cannot write: "));
  ASSERT_TRUE(write_whole(at("file"), "x").ok());
  EXPECT_THAT(complaint(at("file/below")), HasSubstr("cannot write: Not a directory"));
  EXPECT_THAT(complaint(at(std::string(300, 'n'))), HasSubstr("cannot write: File name too long"));
  EXPECT_TRUE(Output::check(at("new")).ok());
  EXPECT_THAT(files(), ElementsAre("file"));
}

// In a child of the user nobody, since permissions do not concern root.
TEST_F(OutputTest, RespectsPermissions) {
  fs::create_directory(at("locked"));
  ASSERT_TRUE(write_whole(at("locked/file"), "old").ok());
  ASSERT_TRUE(write_whole(at("read-only"), "old").ok());
  ASSERT_EQ(::chmod(at("locked/file").c_str(), 0666), 0);
  ASSERT_EQ(::chmod(at("locked").c_str(), 0555), 0);
  ASSERT_EQ(::chmod(at("read-only").c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(1);
    const std::string denied = ": error: cannot write: Permission denied";
    const auto is_refused = [&](const std::string& path) {
      const auto before = Output::check(path);
      const auto written = write_whole(path, "new");
      return !before && !written && render(written.error()) == path + denied;
    };
    if (!is_refused(at("locked/file"))) ::_exit(2);
    if (!is_refused(at("locked/new"))) ::_exit(3);
    if (!is_refused(at("read-only"))) ::_exit(4);
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(text_of("locked/file"), "old");
  EXPECT_EQ(text_of("read-only"), "old");
  ASSERT_EQ(::chmod(at("locked").c_str(), 0777), 0);
}

TEST_F(OutputTest, LeavesTheOldFileWhenTheDiskIsFull) {
  ASSERT_TRUE(write_whole(at("a"), "old").ok());
  {
    const SmallDisk disk(100'000);
    const Result<void> written = write_whole(at("a"), std::string(1'000'000, 'x'));
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(render(written.error()), at("a") + ": error: cannot write: File too large");
  }
  EXPECT_EQ(text_of("a"), "old");
  EXPECT_THAT(files(), ElementsAre("a"));
  EXPECT_EQ(render(write_whole("/dev/full", "x").error()),
            "/dev/full: error: cannot write: No space left on device");
}

TEST_F(OutputTest, LeavesTheOldFileWhenItCannotBeReplaced) {
  auto output = Output::open(at("a"));
  ASSERT_TRUE(output.ok());
  output->write("x");
  fs::create_directory(at("a"));
  EXPECT_EQ(render(output->close().error()), at("a") + ": error: cannot write: Is a directory");
  EXPECT_THAT(files(), ElementsAre("a"));
}

TEST_F(OutputTest, ShowsWholeLinesAtOnce) {
  ASSERT_TRUE(write_whole(at("a"), "old\n").ok());
  auto output = Output::open_lines(at("a"));
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(text_of("a"), "");
  EXPECT_THAT(files(), ElementsAre("a"));
  output->write("one\n");
  EXPECT_EQ(text_of("a"), "one\n");
  output->write("tw");
  EXPECT_EQ(text_of("a"), "one\n");
  output->write("o\nthree\nfo");
  EXPECT_EQ(text_of("a"), "one\ntwo\nthree\n");
  output->write("ur\n");
  ASSERT_TRUE(output->close().ok());
  EXPECT_EQ(text_of("a"), "one\ntwo\nthree\nfour\n");
}

TEST_F(OutputTest, TakesHalfALineBackWhenTheDiskIsFull) {
  auto output = Output::open_lines(at("a"));
  ASSERT_TRUE(output.ok());
  const std::string line = std::string(999, 'x') + "\n";
  {
    const SmallDisk disk(4'500);
    for (int i = 0; i < 3; ++i) output->write(line);
    EXPECT_FALSE(output->has_failed());
    output->write(line + line + line);
    EXPECT_TRUE(output->has_failed());
    output->write(line);
    EXPECT_EQ(render(output->close().error()), at("a") + ": error: cannot write: File too large");
  }
  EXPECT_EQ(text_of("a"), line + line + line + line);
}

TEST_F(OutputTest, RemovesTemporariesOfThisProcessOnly) {
  const auto temporary = TemporaryFile::create_named(folder_.path(), nullptr);
  ASSERT_TRUE(temporary.exists());
  const auto before = files();
  ASSERT_EQ(before.size(), 1U);
  EXPECT_THAT(*before.begin(), StartsWith(".isoscope-"));
  const pid_t child = ::fork();
  if (child == 0) {
    remove_temporaries();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(files(), before);
  remove_temporaries();
  EXPECT_THAT(files(), IsEmpty());
}

// Whatever ends a process but SIGKILL and a crash takes also temporary files with a name away.
TEST_F(OutputTest, LeavesNothingBehindWhenTheProcessEnds) {
  const auto run = [&](auto end) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto output = Output::open(at("a"));
      output->write("half");
      auto named = TemporaryFile::create_named(folder_.path(), nullptr);
      if (!named.exists() || files().empty()) std::raise(SIGKILL);
      if (std::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(1);
      end();
      ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_FALSE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    EXPECT_THAT(files(), IsEmpty());
  };
  run([] { std::exit(3); });
  run([] { ISO_ASSERT(1 + 1 == 3); });
  run([] {
    std::signal(SIGTERM, [](int) {
      remove_temporaries();
      ::_exit(3);
    });
    std::raise(SIGTERM);
  });
}

TEST_F(OutputTest, RenamesFilesThatHadATemporaryName) {
  const mode_t old = ::umask(022);
  for (const auto create : {TemporaryFile::create, TemporaryFile::create_named}) {
    fs::remove(at("a"));
    auto fresh = create(folder_.path(), nullptr);
    ASSERT_TRUE(fresh.exists());
    EXPECT_EQ(::write(fresh.descriptor(), "text", 4), 4);
    EXPECT_TRUE(fresh.rename_to(at("a")));
    EXPECT_EQ(text_of("a"), "text");
    EXPECT_EQ(mode_of(at("a")), 0644U);
    struct stat like = {};
    like.st_mode = 0604;
    like.st_uid = ::getuid();
    like.st_gid = ::getgid();
    auto next = create(folder_.path(), &like);
    ASSERT_TRUE(next.exists());
    EXPECT_TRUE(next.rename_to(at("a")));
    EXPECT_EQ(text_of("a"), "");
    EXPECT_EQ(mode_of(at("a")), 0604U);
    EXPECT_THAT(files(), ElementsAre("a"));
    EXPECT_FALSE(create(at("no-such-folder"), nullptr).exists());
  }
  ::umask(old);
}

// Not even SIGKILL leaves something, where the file system has files without names.
TEST_F(OutputTest, LeavesNothingBehindWhenTheProcessIsKilled) {
  const int nameless = ::open(folder_.path().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  const bool has_nameless = nameless >= 0;
  if (has_nameless) ::close(nameless);
  const pid_t child = ::fork();
  if (child == 0) {
    auto output = Output::open(at("a"));
    output->write(std::string(1'000'000, 'x'));
    std::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(files().size(), has_nameless ? 0U : 1U);
}

// The kernel may tear the line that a killed process was writing; here the test does.
TEST_F(OutputTest, LeavesWholeLinesWhenTheProcessIsKilled) {
  const std::string line = std::string(5'000, 'x') + "\n";
  for (const std::string& whole : {std::string(), std::string("one\n"), line + line}) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto output = Output::open_lines(at("a"));
      output->write(whole);
      output->write("in the buffer");
      std::ofstream(at("a"), std::ios::app) << "half a line" << line.substr(0, 4'990);
      std::raise(SIGKILL);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    for (int i = 0; i < 1'000 && text_of("a") != whole; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(text_of("a"), whole);
  }
}

TEST_F(OutputTest, WritesLinesToSeveralFiles) {
  auto first = Output::open_lines(at("a"));
  auto second = Output::open_lines(at("b"));
  ASSERT_TRUE(first.ok() && second.ok());
  first->write("one\n");
  second->write("two\n");
  ASSERT_TRUE(first->close().ok());  // whatever the guard of the second has inherited
  ASSERT_TRUE(second->close().ok());
  EXPECT_EQ(text_of("a") + text_of("b"), "one\ntwo\n");
}

TEST_F(OutputTest, KnowsAFileByAnyName) {
  const auto same = [&](const std::string& a, const std::string& b) {
    const auto first = NamedFile::resolve(a, FileUse::Read);
    const auto second = NamedFile::resolve(b, FileUse::Write);
    EXPECT_TRUE(first.ok() && second.ok()) << a << " " << b;
    return first.ok() && second.ok() && first->is_same_as(*second);
  };
  ASSERT_TRUE(write_whole(at("a"), "x").ok());
  ASSERT_TRUE(write_whole(at("b"), "x").ok());
  fs::create_hard_link(at("a"), at("hard"));
  fs::create_symlink("a", at("soft"));
  fs::create_directory(at("sub"));
  fs::create_symlink("../later", at("sub/dangling"));
  EXPECT_TRUE(same(at("a"), at("sub/.././a")));
  EXPECT_TRUE(same(at("a"), at("hard")));
  EXPECT_TRUE(same(at("soft"), at("hard")));
  EXPECT_TRUE(same(at("a"), fs::relative(at("a")).string()));
  EXPECT_TRUE(same(at("later"), at("sub/dangling")));
  EXPECT_TRUE(same(at("later"), at("sub/../later")));
  EXPECT_FALSE(same(at("a"), at("b")));
  EXPECT_FALSE(same(at("a"), at("later")));
  EXPECT_FALSE(same(at("sub/later"), at("later")));
  EXPECT_FALSE(same("/dev/null", "/dev/null"));
  EXPECT_TRUE(same("/dev/stdout", "-"));
  EXPECT_FALSE(same("-", "/dev/stdout"));  // the one is standard input
}

}  // namespace
}  // namespace isoscope
