#include "http/access/access.h"

#include <doctest/doctest.h>

#include "http/request/influx_target.h"

namespace hg::http {
namespace {

Credentials Password(std::string name, std::string password) {
  return {Credentials::Kind::kPassword, std::move(name), std::move(password)};
}

Credentials Token(std::string token) { return {Credentials::Kind::kToken, {}, std::move(token)}; }

std::string File(const std::string& password_of_ann, const std::string& token_of_bob) {
  return "ann:read:" + *HashPassword(password_of_ann) + "\nbob:write:token$" +
         TokenDigest(token_of_bob) + "\nhost.example.org:read,write:\n";
}

TEST_CASE(
    "a hash of a password differs from the password and its other hashes, and matches only this "
    "password") {
  const std::string hash = *HashPassword("open sesame");
  CHECK(hash.starts_with("$y$"));
  CHECK(hash.find("sesame") == std::string::npos);
  CHECK(hash != *HashPassword("open sesame"));
  CHECK(PasswordMatches("open sesame", hash));
  for (const char* wrong : {"", "open sesam", "open sesame ", "Open sesame"})
    CHECK_FALSE(PasswordMatches(wrong, hash));
  CHECK_FALSE(PasswordMatches("open sesame", "open sesame"));
  CHECK_FALSE(PasswordMatches("open sesame", ""));
  CHECK_FALSE(PasswordMatches(std::string("open sesame\0x", 13), hash));
}

TEST_CASE("passwords that libcrypt would truncate or refuse are refused") {
  CHECK_FALSE(HashPassword("").ok());
  CHECK_FALSE(HashPassword(std::string(kPasswordBytesMax + 1, 'x')).ok());
  CHECK_FALSE(HashPassword(std::string("a\0b", 3)).ok());
  const std::string longest(kPasswordBytesMax, 'x');
  CHECK(PasswordMatches(longest, *HashPassword(longest)));
}

TEST_CASE("tokens are long and unique") {
  const std::string token = MakeToken();
  CHECK(token.size() == 67);
  CHECK(token != MakeToken());
}

TEST_CASE("a password is verified once and then cached; a token needs no verification") {
  Access access;
  REQUIRE(access.Load(File("secret", "hg_1")).ok());
  CHECK(access.Known(Password("ann", "secret")) == nullptr);
  CHECK(access.Judge(Password("ann", "wrong")) == nullptr);
  CHECK(access.Known(Password("ann", "wrong")) == nullptr);
  const IdentityPtr ann = access.Judge(Password("ann", "secret"));
  REQUIRE(ann != nullptr);
  CHECK(ann->name == "ann");
  CHECK(ann->roles.Has(Role::kRead));
  CHECK_FALSE(ann->roles.Has(Role::kWrite));
  CHECK(access.Known(Password("ann", "secret")) == ann);
  CHECK(access.Known(Password("bob", "secret")) == nullptr);
  const IdentityPtr bob = access.Known(Token("hg_1"));
  REQUIRE(bob != nullptr);
  CHECK(bob->name == "bob");
  CHECK(access.Known(Token("hg_2")) == nullptr);
  CHECK(access.Known({}) == nullptr);
}

TEST_CASE("checking an unknown user takes as long as checking a known one") {
  int hashings = 0;
  std::string settings;  // setting of the last hash: "$y$j9T$"
  Access access([&](std::string_view password, const std::string& hash) {
    ++hashings;
    settings = hash.substr(0, hash.find('$', 3) + 1);
    return PasswordMatches(password, hash);
  });
  REQUIRE(access.Load(File("secret", "hg_1")).ok());
  REQUIRE(access.Judge(Password("ann", "wrong")) == nullptr);
  CHECK(hashings == 1);
  const std::string of_ann = settings;
  CHECK(of_ann.starts_with("$y$"));
  for (const char* name : {"nobody", "", "bob", "host.example.org"}) {
    CAPTURE(name);
    hashings = 0;
    settings.clear();
    CHECK(access.Judge(Password(name, "wrong")) == nullptr);
    CHECK(hashings == 1);
    CHECK(settings == of_ann);
  }
}

TEST_CASE("several clients that wait with the same password cause one verification") {
  int hashings = 0;
  Access access([&](std::string_view password, const std::string& hash) {
    ++hashings;
    return PasswordMatches(password, hash);
  });
  REQUIRE(access.Load(File("secret", "hg_1")).ok());
  for (int i = 0; i < 3; ++i) CHECK(access.Judge(Password("ann", "secret")) != nullptr);
  CHECK(hashings == 1);
}

TEST_CASE("no user is found by the digest of a token, or without a password") {
  Access access;
  REQUIRE(access.Load(File("secret", "hg_1")).ok());
  CHECK(access.Known(Token(TokenDigest("hg_1"))) == nullptr);
  CHECK(access.Judge(Password("bob", "hg_1")) == nullptr);
  CHECK(access.Judge(Password("bob", "")) == nullptr);
  CHECK(access.Judge(Password("host.example.org", "")) == nullptr);
  CHECK(access.Judge(Password("nobody", "secret")) == nullptr);
}

TEST_CASE("the names in a certificate are tried in order") {
  Access access;
  REQUIRE(access.Load(File("secret", "hg_1")).ok());
  const std::vector<std::string> names = {"stranger", "host.example.org", "ann"};
  CHECK(access.ByCertificate(names)->name == "host.example.org");
  CHECK(access.ByCertificate({}) == nullptr);
}

TEST_CASE("a reload keeps users whose secret is unchanged and forgets all others") {
  Access access;
  const std::string first = File("secret", "hg_1");
  REQUIRE(access.Load(first).ok());
  const IdentityPtr ann = access.Judge(Password("ann", "secret"));
  const IdentityPtr bob = access.Known(Token("hg_1"));
  const uint64_t generation = access.generation();
  std::string roles_changed = first;
  roles_changed.replace(roles_changed.find("ann:read"), 8, "ann:admin");
  REQUIRE(access.Load(roles_changed).ok());
  CHECK(access.generation() != generation);
  REQUIRE(access.Known(Password("ann", "secret")) != nullptr);
  CHECK(access.Known(Password("ann", "secret"))->roles.Has(Role::kAdmin));
  CHECK(access.Known(Password("ann", "wrong")) == nullptr);
  REQUIRE(access.Renew(*ann) != nullptr);
  CHECK(access.Renew(*ann)->roles.Has(Role::kAdmin));
  REQUIRE(access.Load(File("another", "hg_2")).ok());
  CHECK(access.Known(Password("ann", "secret")) == nullptr);
  CHECK(access.Renew(*ann) == nullptr);
  CHECK(access.Renew(*bob) == nullptr);
  CHECK(access.Known(Token("hg_1")) == nullptr);
}

TEST_CASE("a user file with an error changes nothing") {
  Access access;
  REQUIRE(access.Load(File("secret", "hg_1")).ok());
  const uint64_t generation = access.generation();
  CHECK(access.Load("ann:read\n").code() == StatusCode::kInvalidArgument);
  const std::string token = "token$" + TokenDigest("t");
  CHECK_FALSE(access.Load("a:read:" + token + "\nb:read:" + token + "\n").ok());
  CHECK(access.generation() == generation);
  CHECK(access.Known(Token("hg_1")) != nullptr);
}

TEST_CASE(
    "administrators may do everything, unauthenticated clients nothing, users what their roles "
    "allow") {
  for (const Role role : {Role::kUser, Role::kRead, Role::kWrite, Role::kAdmin}) {
    CHECK_FALSE(Roles().Has(role));
    CHECK(Roles::Of(Role::kAdmin).Has(role));
    CHECK(Roles::All().Has(role));
  }
  CHECK(Roles().Has(Role::kAnyone));
  CHECK(Roles::Of(Role::kWrite).Has(Role::kUser));
  CHECK_FALSE(Roles::Of(Role::kWrite).Has(Role::kRead));
  CHECK_FALSE(Roles::Of(Role::kWrite).Has(Role::kAdmin));
}

TEST_CASE("roles are separated by commas") {
  CHECK(*ParseRoles("write,read") == Roles::Of(Role::kRead).With(Role::kWrite));
  CHECK(RolesText(*ParseRoles("write,read")) == "read,write");
  CHECK(RolesText(*ParseRoles("admin,read")) == "admin");
  for (const char* wrong : {"", "Read", "read,", "read, write", "root", "user", "anyone"})
    CHECK(ParseRoles(wrong).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("a user file is read as it was written") {
  std::vector<User> users = {
      {"ann", Roles::Of(Role::kRead), {*HashPassword("x")}, {}},
      {"s7.example.org", Roles::Of(Role::kAdmin), {}, {}},
      {"b@x", Roles::Of(Role::kWrite), {*HashPassword("y")}, {TokenDigest("1"), TokenDigest("2")}}};
  const std::string text = UserFileText(users);
  const Result<std::vector<User>> read = ParseUserFile(text);
  REQUIRE(read.ok());
  CHECK(UserFileText(*read) == text);
  CHECK((*read)[2].tokens == users[2].tokens);
  CHECK(ParseUserFile("\n# remark\n\r\n")->empty());
}

TEST_CASE("an error in a user file is reported by its line, without the secret") {
  const std::string good = "ann:read:\n";
  for (const char* bad : {"bob", "bob:read", "bob:read::", ":read:", "b b:read:", "bob:reed:",
                          "bob::", "ann:read:", "bob:read:hunter2", "bob:read:token$hunter2"}) {
    CAPTURE(bad);
    const Status status = ParseUserFile(good + bad + "\n").status();
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(status.message().find("line 2") != std::string_view::npos);
    CHECK(status.message().find("hunter2") == std::string_view::npos);
  }
}

TEST_CASE("the Authorization field is parsed as the standards require") {
  const Credentials basic = ReadAuthorization("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  CHECK(basic.kind == Credentials::Kind::kPassword);
  CHECK(basic.name == "Aladdin");
  CHECK(basic.secret == "open sesame");
  const Credentials colons = ReadAuthorization("bAsIc   dTphOmI6");  // u:a:b:
  CHECK(colons.name == "u");
  CHECK(colons.secret == "a:b:");
  const Credentials bearer = ReadAuthorization("bearer hg_1");
  CHECK(bearer.kind == Credentials::Kind::kToken);
  CHECK(bearer.secret == "hg_1");
  const Credentials of_influx = ReadAuthorization("Token ann:open:sesame");
  CHECK(of_influx.kind == Credentials::Kind::kPassword);
  CHECK(of_influx.name == "ann");
  CHECK(of_influx.secret == "open:sesame");
  const Credentials token = ReadAuthorization("Token hg_1");
  CHECK(token.kind == Credentials::Kind::kToken);
  CHECK(token.secret == "hg_1");
  CHECK(ReadAuthorization("").kind == Credentials::Kind::kNone);
  for (const char* wrong : {"Basic", "Basic ", "Basic dTpw=", "Basic !!!!", "Basic dXA=", "Bearer",
                            "Token", "Token ", "Digest username=x", "dTpw"})
    CHECK(ReadAuthorization(wrong).kind == Credentials::Kind::kUnreadable);
}

TEST_CASE("u and p in a target are credentials only on InfluxDB's paths") {
  const Credentials said = InfluxCredentials("/write?db=x&u=ann&p=open%20sesame");
  CHECK(said.kind == Credentials::Kind::kPassword);
  CHECK(said.name == "ann");
  CHECK(said.secret == "open sesame");
  CHECK(InfluxCredentials("/query?u=ann").secret.empty());
  for (const char* none : {"/write", "/write?db=x", "/write?p=x", "/api/v2/write?u=ann&p=x",
                           "/api/put?u=ann&p=x", "/ping?u=ann&p=x", "/?u=ann&p=x", ""}) {
    CAPTURE(none);
    CHECK(InfluxCredentials(none).kind == Credentials::Kind::kNone);
  }
}

TEST_CASE("the telnet command auth has a name and a password, or a token") {
  CHECK(IsAuthLine("auth"));
  CHECK(IsAuthLine("auth basic a b"));
  CHECK_FALSE(IsAuthLine("author x"));
  CHECK_FALSE(IsAuthLine("put auth"));
  const Credentials basic = ReadAuthLine("auth basic ann open sesame");
  CHECK(basic.name == "ann");
  CHECK(basic.secret == "open sesame");
  CHECK(ReadAuthLine("auth bearer hg_1").secret == "hg_1");
  for (const char* wrong : {"auth", "auth ", "auth basic", "auth basic ann", "auth hmac ann x"})
    CHECK(ReadAuthLine(wrong).kind == Credentials::Kind::kUnreadable);
}

}  // namespace
}  // namespace hg::http
