// Behaviour of real files on this machine.

#include <dirent.h>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/file.h"

namespace {
std::vector<std::string> synced;  // paths given to fsync
int entries_until_error = -1;     // number of readdir entries until an error; negative = no error
}  // namespace

// Replaces the function of the C library.
extern "C" int fsync(int fd) {
  synced.push_back(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd)).string());
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

extern "C" dirent* readdir(DIR* dir) {
  static const auto real = reinterpret_cast<dirent* (*)(DIR*)>(::dlsym(RTLD_NEXT, "readdir"));
  if (entries_until_error < 0 || entries_until_error-- > 0) return real(dir);
  errno = EIO;
  return nullptr;
}

namespace hg {
namespace {

TEST_CASE("A folder that cannot be read to its end is an error, not a short list") {
  std::string pattern =
      (std::filesystem::canonical(std::filesystem::temp_directory_path()) / "hourglass-XXXXXX")
          .string();
  const std::string root = ::mkdtemp(pattern.data());
  for (const char* name : {"/a", "/b", "/c"}) {
    REQUIRE(PosixFileSystem().Open(root + name, OpenMode::kCreate).ok());
  }
  for (int entries = 0; entries < 5; ++entries) {
    CAPTURE(entries);
    entries_until_error = entries;
    const auto names = PosixFileSystem().List(root);
    entries_until_error = entries;
    const auto folders = PosixFileSystem().ListFolders(root);
    entries_until_error = -1;
    CHECK(names.status().code() == StatusCode::kIoError);
    CHECK(names.status().message().find(root) != std::string_view::npos);
    CHECK(folders.status().code() == StatusCode::kIoError);
  }
  CHECK(*PosixFileSystem().List(root) == std::vector<std::string>{"a", "b", "c"});
  std::filesystem::remove_all(root);
}

TEST_CASE("a temporary file has no name, and its content is mapped as it was written") {
  std::string pattern = (std::filesystem::temp_directory_path() / "hourglass-XXXXXX").string();
  const std::string folder = ::mkdtemp(pattern.data());
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = descriptors();
  {
    auto file = PosixFileSystem().MakeScratch(folder);
    REQUIRE(file.ok());
    const Bytes piece(100'000, 'x');
    REQUIRE((*file)->Append("begin").ok());
    for (int i = 0; i < 10; ++i) REQUIRE((*file)->Append(piece).ok());
    const auto mapped = (*file)->Map();
    REQUIRE(mapped.ok());
    CHECK(mapped->size() == 1'000'005);
    CHECK(mapped->starts_with("beginxx"));
    CHECK(mapped->substr(900'005) == piece);
    CHECK(std::filesystem::is_empty(folder));
    CHECK(descriptors() == before);  // the map needs no descriptor
  }
  CHECK(PosixFileSystem().MakeScratch(folder + "/missing").status().code() ==
        StatusCode::kNotFound);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a new folder is durable: each created level is synced in its parent once") {
  std::string pattern =
      (std::filesystem::canonical(std::filesystem::temp_directory_path()) / "hourglass-XXXXXX")
          .string();
  const std::string root = ::mkdtemp(pattern.data());
  synced.clear();
  CHECK(PosixFileSystem().CreateFolder(root + "/a/b/c").ok());
  CHECK(synced == std::vector<std::string>{root, root + "/a", root + "/a/b"});
  CHECK(std::filesystem::is_directory(root + "/a/b/c"));
  synced.clear();
  // The process that created the folder may have crashed before, so its own name is synced too.
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
