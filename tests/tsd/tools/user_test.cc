// The command `user`, which writes the file of users.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>

#include "http/access/access.h"
#include "storage/base/file.h"
#include "tests/support/model_backend.h"
#include "tests/support/tool_program.h"

namespace hg::tsd {
namespace {

class UserProgram : public ToolProgram {
 public:
  UserProgram() : ToolProgram(OpenModelBackend, "") {}

  [[nodiscard]] Outcome User(std::vector<std::string> words, const std::string& input = "") const {
    words.insert(words.begin(), {"user", "--file", Path("users")});
    return Run(words, input);
  }
  [[nodiscard]] std::string File() const {
    return *ReadWholeFile(PosixFileSystem(), Path("users"));
  }
  [[nodiscard]] http::IdentityPtr Judge(http::Credentials said) const {
    http::Access access;
    REQUIRE(access.Load(File()).ok());
    return access.Judge(said);
  }
  [[nodiscard]] http::IdentityPtr Judge(const std::string& name,
                                        const std::string& password) const {
    return Judge({http::Credentials::Kind::kPassword, name, password});
  }
};

TEST_CASE("a user is added with a password from standard input, which the file does not contain") {
  const UserProgram program;
  const Outcome added = program.User({"add", "ann", "read,write"}, "open sesame\n");
  CHECK(added.exit == 0);
  CHECK(added.out.empty());
  CHECK(program.File().find("sesame") == std::string::npos);
  const http::IdentityPtr ann = program.Judge("ann", "open sesame");
  REQUIRE(ann != nullptr);
  CHECK(http::RolesText(ann->roles) == "read,write");
  CHECK(program.Judge("ann", "open") == nullptr);
  struct stat file {};
  REQUIRE(stat(program.Path("users").c_str(), &file) == 0);
  CHECK((file.st_mode & 0777) == 0600);
}

TEST_CASE("password, roles and remove change one user only") {
  const UserProgram program;
  REQUIRE(program.User({"add", "ann", "read"}, "a\n").exit == 0);
  REQUIRE(program.User({"add", "bob", "write"}, "b\n").exit == 0);
  CHECK(program.User({"password", "ann"}, "new\n").exit == 0);
  CHECK(program.User({"roles", "ann", "admin"}).exit == 0);
  CHECK(program.Judge("ann", "a") == nullptr);
  CHECK(program.Judge("ann", "new")->roles.Has(http::Role::kAdmin));
  CHECK(program.Judge("bob", "b") != nullptr);
  CHECK(program.User({"list"}).out ==
        "ann admin password, 0 tokens\nbob write password, 0 tokens\n");
  CHECK(program.User({"remove", "ann"}).exit == 0);
  CHECK(program.Judge("ann", "new") == nullptr);
  CHECK(program.Judge("bob", "b") != nullptr);
}

TEST_CASE("a token is printed once, authenticates its user, and can be revoked") {
  const UserProgram program;
  REQUIRE(program.User({"add", "--no-password", "agents", "write"}).exit == 0);
  const Outcome made = program.User({"token", "agents"});
  CHECK(made.exit == 0);
  REQUIRE(made.out.ends_with('\n'));
  const std::string token = made.out.substr(0, made.out.size() - 1);
  CHECK(program.File().find(token) == std::string::npos);
  const http::Credentials said{http::Credentials::Kind::kToken, {}, token};
  CHECK(program.Judge(said)->name == "agents");
  CHECK(program.User({"token", "agents"}).exit == 0);
  CHECK(program.Judge(said) != nullptr);
  CHECK(program.User({"revoke", "agents"}).exit == 0);
  CHECK(program.Judge(said) == nullptr);
}

TEST_CASE("a file keeps its mode when it is written again") {
  const UserProgram program;
  REQUIRE(program.User({"add", "ann", "read"}, "a\n").exit == 0);
  REQUIRE(chmod(program.Path("users").c_str(), 0640) == 0);
  REQUIRE(program.User({"roles", "ann", "write"}).exit == 0);
  struct stat file {};
  REQUIRE(stat(program.Path("users").c_str(), &file) == 0);
  CHECK((file.st_mode & 0777) == 0640);
}

TEST_CASE("invalid changes are refused, and the file stays unchanged") {
  const UserProgram program;
  REQUIRE(program.User({"add", "ann", "read"}, "a\n").exit == 0);
  const std::string before = program.File();
  CHECK(program.User({"add", "ann", "read"}, "b\n").exit == 1);
  CHECK(program.User({"add", "b:b", "read"}, "b\n").exit == 1);
  CHECK(program.User({"add", "bob", "root"}, "b\n").exit == 1);
  CHECK(program.User({"add", "bob", "read"}, "\n").exit == 1);
  CHECK(program.User({"password", "nobody"}, "b\n").exit == 1);
  CHECK(program.User({"add", "bob", "read", "password"}).exit == 2);
  CHECK(program.User({"nosuch"}).exit == 2);
  CHECK(program.User({}).exit == 2);
  CHECK(program.Run({"user", "list"}).exit == 2);
  CHECK(program.File() == before);
  program.Write("users", "ann:read\n");
  const Outcome broken = program.User({"list"});
  CHECK(broken.exit == 1);
  CHECK(broken.err.find("line 1") != std::string::npos);
}

}  // namespace
}  // namespace hg::tsd
