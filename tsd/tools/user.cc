// The command user: manages the users file (http/access/user_file.h). Passwords come from the
// terminal or from standard input. They are never words of the command line, because every process
// on the machine can read the command line.

#include "tsd/tools/user.h"

#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "http/access/secret.h"
#include "http/access/user_file.h"
#include "storage/base/file.h"

namespace hg::tsd {
namespace {

using http::User;

constexpr OptionSpec kUserOptions[] = {
    {"--file", "PATH", "file of users (default: tsd.core.authentication.users)"},
    {"--no-password", "", "add: the user has no password, only a token or a client certificate"},
};

/// While the object exists, the terminal does not show typed text.
class SilentTerminal {
 public:
  SilentTerminal() {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    changed_ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0;
  }
  ~SilentTerminal() {
    if (changed_) tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  SilentTerminal(const SilentTerminal&) = delete;
  SilentTerminal& operator=(const SilentTerminal&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

std::string ReadLine(std::istream& in) {
  std::string line;
  std::getline(in, line);
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

/// Asks for a password and returns its hash.
Result<std::string> AskPassword(Invocation& call) {
  std::string password;
  if (&call.in != &std::cin || isatty(STDIN_FILENO) == 0) {
    password = ReadLine(call.in);
  } else {
    const SilentTerminal silent;
    call.err << "password: " << std::flush;
    password = ReadLine(call.in);
    call.err << "\nrepeat the password: " << std::flush;
    std::string again = ReadLine(call.in);
    call.err << "\n";
    const bool same = password == again;
    http::Wipe(&again);
    if (!same) return Status::InvalidArgument("the two passwords differ");
  }
  Result<std::string> hash = http::HashPassword(password);
  http::Wipe(&password);
  return hash;
}

/// Writes the file. Only the owner can read a new file. An existing file keeps its owner and mode.
Status WriteUsers(const std::string& path, const std::vector<User>& users) {
  const std::filesystem::path place = std::filesystem::absolute(path);
  struct stat before {};
  const bool was_there = stat(place.c_str(), &before) == 0;
  const mode_t mask = umask(S_IRWXG | S_IRWXO);
  const Status written = ReplaceFile(PosixFileSystem(), place.parent_path(), place.filename(),
                                     http::UserFileText(users));
  umask(mask);
  RETURN_IF_ERROR(written);
  if (!was_there) return {};
  if (chown(place.c_str(), before.st_uid, before.st_gid) == 0 &&
      chmod(place.c_str(), before.st_mode & 07777) == 0)
    return {};
  return Status::IoError(path + " was written, but its owner and mode could not be restored");
}

/// The users of a file, and changes to one of them.
class UserFile {
 public:
  explicit UserFile(std::string path) : path_(std::move(path)) {}

  Status Read() {
    if (!PosixFileSystem().Exists(path_)) return {};
    ASSIGN_OR_RETURN(const Bytes text, ReadWholeFile(PosixFileSystem(), path_));
    ASSIGN_OR_RETURN(users_, Named(http::ParseUserFile(text)));
    return {};
  }
  [[nodiscard]] Status Write() const { return WriteUsers(path_, users_); }

  [[nodiscard]] const std::vector<User>& users() const { return users_; }
  Result<User*> Find(const std::string& name) {
    for (User& user : users_)
      if (user.name == name) return &user;
    return Status::NotFound(path_ + " has no user " + name);
  }
  Result<User*> Add(const std::string& name) {
    RETURN_IF_ERROR(http::CheckUserName(name));
    if (Find(name).ok()) return Status::Conflict(path_ + " has the user " + name + " already");
    users_.push_back({name, {}, {}, {}});
    return &users_.back();
  }
  void Remove(const User* user) { users_.erase(users_.begin() + (user - users_.data())); }

 private:
  Result<std::vector<User>> Named(Result<std::vector<User>> parsed) const {
    if (!parsed.ok()) return Prepend(parsed.status(), path_);
    return parsed;
  }

  const std::string path_;
  std::vector<User> users_;
};

void List(const std::vector<User>& users, std::ostream& out) {
  for (const User& user : users) {
    out << user.name << ' ' << http::RolesText(user.roles) << ' '
        << (user.passwords.empty() ? "no password" : "password") << ", " << user.tokens.size()
        << " tokens\n";
  }
}

Status AddUser(Invocation& call, const std::vector<std::string>& words, UserFile* file) {
  ASSIGN_OR_RETURN(const http::Roles roles, http::ParseRoles(words[2]));
  ASSIGN_OR_RETURN(User * user, file->Add(words[1]));
  user->roles = roles;
  if (call.line.Has("--no-password")) return {};
  ASSIGN_OR_RETURN(user->passwords.emplace_back(), AskPassword(call));
  return {};
}

/// Executes all verbs except list and add. Sets *token to a new token if one was created.
Status Change(Invocation& call, const std::vector<std::string>& words, UserFile* file,
              std::string* token) {
  ASSIGN_OR_RETURN(User * user, file->Find(words[1]));
  const std::string& verb = words[0];
  if (verb == "remove") {
    file->Remove(user);
  } else if (verb == "roles") {
    ASSIGN_OR_RETURN(user->roles, http::ParseRoles(words[2]));
  } else if (verb == "revoke") {
    user->tokens.clear();
  } else if (verb == "token") {
    *token = http::MakeToken();
    user->tokens.push_back(http::TokenDigest(*token));
  } else {
    ASSIGN_OR_RETURN(std::string hash, AskPassword(call));
    user->passwords = {std::move(hash)};
  }
  return {};
}

/// Returns the number of words of a verb, including itself; 0 = there is no such verb.
size_t WordsOf(const std::string& verb) {
  if (verb == "list") return 1;
  if (verb == "add" || verb == "roles") return 3;
  if (verb == "password" || verb == "token" || verb == "revoke" || verb == "remove") return 2;
  return 0;
}

int RunUser(Invocation& call) {
  const std::vector<std::string>& words = call.line.words();
  if (words.empty() || WordsOf(words[0]) == 0)
    return call.Misused("expected one of list, add, password, token, revoke, roles, remove");
  if (words.size() != WordsOf(words[0]))
    return call.Misused(words[0] + " needs " + std::to_string(WordsOf(words[0]) - 1) +
                        " words after it");
  const std::string path = call.line.Value("--file").value_or(
      call.session.config().String("tsd.core.authentication.users"));
  if (path.empty())
    return call.Misused(
        "the file of users is unknown: give --file or set "
        "tsd.core.authentication.users");
  UserFile file(path);
  if (const Status read = file.Read(); !read.ok()) return call.Fail(read);
  if (words[0] == "list") {
    List(file.users(), call.out);
    return kExitOk;
  }
  std::string token;
  Status done =
      words[0] == "add" ? AddUser(call, words, &file) : Change(call, words, &file, &token);
  if (done.ok()) done = file.Write();
  if (!done.ok()) return call.Fail(done);
  if (!token.empty()) call.out << token << '\n';
  call.err << "written: " << path
           << "; send SIGHUP to a running daemon, so that it reads the "
              "file\n";
  return kExitOk;
}

}  // namespace

const Command kUserCommand{
    "user",
    "list | add NAME ROLES | password NAME | token NAME | revoke NAME | roles NAME ROLES | "
    "remove NAME",
    "Writes the file of users, which says which users may read, write and administrate.",
    "ROLES is a list of read, write and admin, separated by commas. The command asks for\n"
    "passwords at the terminal, or reads one line of standard input. `token` creates another\n"
    "token and prints it; only its hash is stored. `revoke` removes all tokens of a user.",
    kUserOptions,
    "",
    RunUser};

}  // namespace hg::tsd
