#include "http/wire/charset.h"

#include <doctest/doctest.h>

#include "tests/support/fake_watch.h"

namespace hg::http {
namespace {

TEST_CASE("a charset is found in any position and form of the content type") {
  CHECK(ForeignCharset("application/json; charset=ISO-8859-1") == "ISO-8859-1");
  CHECK(ForeignCharset("application/json;CharSet=\"latin1\"; x=y") == "latin1");
  CHECK(ForeignCharset("application/json; charset=utf-8").empty());
  CHECK(ForeignCharset("application/json; charset=UTF8").empty());
  CHECK(ForeignCharset("application/json").empty());
  CHECK(ForeignCharset("").empty());
  CHECK(ForeignCharset("multipart/form-data; boundary=\"charset=latin1\"").empty());
}

TEST_CASE("bodies are converted to UTF-8, with a replacement character for invalid bytes") {
  CHECK(*ToUtf8("ISO-8859-1", "caf\xE9", nullptr, RequestContext::Unlimited()) == "caf\xC3\xA9");
  CHECK(*ToUtf8("windows-1252", "\x80", nullptr, RequestContext::Unlimited()) == "\xE2\x82\xAC");
  CHECK(*ToUtf8("UTF-16LE", std::string_view("a\0\xE9\0", 4), nullptr,
                RequestContext::Unlimited()) == "a\xC3\xA9");
  CHECK(*ToUtf8("US-ASCII", "a\xE9z", nullptr, RequestContext::Unlimited()) == "a\xEF\xBF\xBDz");
  CHECK(*ToUtf8("UTF-16LE", "abc", nullptr, RequestContext::Unlimited()) ==
        "\xE6\x89\xA1\xEF\xBF\xBD");
  CHECK(*ToUtf8("latin1", std::string(10000, '\xE9'), nullptr, RequestContext::Unlimited()) == [] {
    std::string all;
    for (int i = 0; i < 10000; ++i) all += "\xC3\xA9";
    return all;
  }());
  CHECK(ToUtf8("latin1", "", nullptr, RequestContext::Unlimited())->empty());
}

TEST_CASE("the conversion of a large body ends when its request ends") {
  const std::string invalid(1 << 20, '\xE9');
  FakeWatch watch;
  CHECK(ToUtf8("US-ASCII", invalid, nullptr, watch).ok());
  CHECK(watch.checks >= 8);
  FakeWatch ended;
  ended.checks_max = 3;
  CHECK(ToUtf8("US-ASCII", invalid, nullptr, ended).status().code() ==
        StatusCode::kDeadlineExceeded);
}

TEST_CASE("an unknown charset is refused by name") {
  // The system knows the last three, but the server does not offer them.
  for (const char* name :
       {"", "no-such-charset", "../../etc/passwd", "utf-8//TRANSLIT", "a b", "iso-8859-",
        "iso-8859-1//IGNORE", "UTF-7", "ISO-2022-CN-EXT", "IBM037"}) {
    const Status refused = ToUtf8(name, "x", nullptr, RequestContext::Unlimited()).status();
    CHECK(refused.code() == StatusCode::kInvalidArgument);
    CHECK(refused.message().find(name) != std::string_view::npos);
  }
}

}  // namespace
}  // namespace hg::http
