// Credentials of tools for a daemon. tests/tsd/guarded_daemon.py tests them over TLS.

#include "tsd/tools/admin_client.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/support/tool_program.h"
#include "tsd/embedded_backend.h"

namespace hg::tsd {
namespace {

constexpr OptionSpec kOptions[] = {kCredentialsOption, kAuthoritiesOption, kCertificateOption,
                                   kKeyOption};

CommandLine Line(const std::vector<std::string>& words) {
  return *CommandLine::Parse(kOptions, words);
}

/// An environment variable that is set while the object exists.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

TEST_CASE("credentials come from a file or the environment: a token, or a name and password") {
  const ToolProgram program(OpenEmbeddedBackend, "");
  CHECK(ReadDaemonAccess(Line({}))->authorization.empty());
  program.Write("token", "hg_1\nremark\n");
  program.Write("password", "Aladdin:open sesame\r\n");
  const auto of_file = [&program](const std::string& name) {
    return ReadDaemonAccess(Line({"--credentials-file", program.Path(name)}));
  };
  CHECK(of_file("token")->authorization == "Bearer hg_1");
  CHECK(of_file("password")->authorization == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  const Variable credentials("TSDB_CREDENTIALS", "hg_2");
  CHECK(ReadDaemonAccess(Line({}))->authorization == "Bearer hg_2");
  CHECK(of_file("token")->authorization == "Bearer hg_1");
}

TEST_CASE("invalid credentials are reported with their file and without their content") {
  const ToolProgram program(OpenEmbeddedBackend, "");
  program.Write("empty", "\nhunter2\n");
  const Status empty =
      ReadDaemonAccess(Line({"--credentials-file", program.Path("empty")})).status();
  CHECK(empty.code() == StatusCode::kInvalidArgument);
  CHECK(empty.message().find(program.Path("empty")) != std::string_view::npos);
  CHECK(empty.message().find("hunter2") == std::string_view::npos);
  CHECK_FALSE(ReadDaemonAccess(Line({"--credentials-file", program.Path("none")})).ok());
  const Variable credentials("TSDB_CREDENTIALS", "hg_2\r\nhg_3");
  CHECK(ReadDaemonAccess(Line({})).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("the trusted authority comes from an option or the environment") {
  CHECK(ReadDaemonAccess(Line({}))->authorities_file.empty());
  const Variable authorities("TSDB_CA_FILE", "/etc/ca.pem");
  CHECK(ReadDaemonAccess(Line({}))->authorities_file == "/etc/ca.pem");
  CHECK(ReadDaemonAccess(Line({"--ca-file=own.pem"}))->authorities_file == "own.pem");
}

TEST_CASE(
    "the client certificate has one file or two, and a key without a certificate is an error") {
  CHECK(ReadDaemonAccess(Line({}))->certificate_file.empty());
  const auto one = ReadDaemonAccess(Line({"--cert-file=own.pem"}));
  CHECK(one->certificate_file == "own.pem");
  CHECK(one->key_file.empty());
  const Status alone = ReadDaemonAccess(Line({"--key-file=own.key"})).status();
  CHECK(alone.code() == StatusCode::kInvalidArgument);
  CHECK(alone.message().find("own.key") != std::string_view::npos);
  const Variable certificate("TSDB_CERT_FILE", "/etc/own.pem"),
      key("TSDB_KEY_FILE", "/etc/own.key");
  CHECK(ReadDaemonAccess(Line({}))->certificate_file == "/etc/own.pem");
  CHECK(ReadDaemonAccess(Line({}))->key_file == "/etc/own.key");
}

TEST_CASE("invalid URLs of a daemon are refused") {
  for (const char* url : {"", "127.0.0.1:4242", "ftp://a:1", "http://a", "http://:1",
                          "https://a:", "https://a:1/path"}) {
    CAPTURE(url);
    CHECK(AskDaemon(url, {}, "tables", false, {}).status().code() == StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace hg::tsd
