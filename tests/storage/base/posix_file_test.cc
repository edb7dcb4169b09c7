// What only the machine's own files do.

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/file.h"

namespace {
std::vector<std::string> synced;  // paths given to fsync
}  // namespace

// In place of the library's.
extern "C" int fsync(int fd) {
  synced.push_back(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd)).string());
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace hg {
namespace {

TEST_CASE("a folder that is made is named durably: its parent is synced, each once") {
  std::string pattern =
      (std::filesystem::canonical(std::filesystem::temp_directory_path()) / "hourglass-XXXXXX")
          .string();
  const std::string root = ::mkdtemp(pattern.data());
  synced.clear();
  CHECK(PosixFileSystem().CreateFolder(root + "/a/b/c").ok());
  CHECK(synced == std::vector<std::string>{root, root + "/a", root + "/a/b"});
  CHECK(std::filesystem::is_directory(root + "/a/b/c"));
  synced.clear();
  // Who made it may have died before: its own name is made sure of.
  CHECK(PosixFileSystem().CreateFolder(root + "/a/b/c").ok());
  CHECK(synced == std::vector<std::string>{root + "/a/b"});
  synced.clear();
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(root);
  CHECK(PosixFileSystem().CreateFolder("relative").ok());
  CHECK(synced == std::vector<std::string>{root});
  std::filesystem::current_path(before);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace hg
