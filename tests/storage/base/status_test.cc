#include "storage/base/status.h"

#include <doctest/doctest.h>

#include <string>

namespace hg {
namespace {

TEST_CASE("a shortened text is never cut within a character") {
  CHECK(Shortened("abc", 3) == "abc");
  CHECK(Shortened("abcd", 3) == "abc…");
  const std::string text = "aé€\U0001F600z";  // 1, 2, 3, 4 and 1 bytes
  for (const size_t max : {0, 1, 2, 3, 5, 6, 9, 10, 11}) {
    CAPTURE(max);
    CHECK(Shortened(text, max).size() <= max + std::string("…").size());
  }
  CHECK(Shortened(text, 2) == "a…");
  CHECK(Shortened(text, 5) == "aé…");
  CHECK(Shortened(text, 6) == "aé€…");
  CHECK(Shortened(text, 9) == "aé€…");
  CHECK(Shortened(text, 10) == "aé€\U0001F600…");
  CHECK(Shortened(text, 11) == text);
}

TEST_CASE("a failure that quotes megabytes of a client's text has a short message") {
  const std::string text(10'000'000, 'x');
  const Status refused = Status::InvalidArgument("Invalid time: " + text + ": no number");
  CHECK(refused.message().size() <= kStatusMessageBytesMax);
  CHECK(refused.message().starts_with("Invalid time: xxx"));
  CHECK(refused.message().ends_with("xxx: no number"));
  CHECK(ShortMessage(refused.message()) == refused.message());
  const Status again = Prepend(refused, text);
  CHECK(again.code() == StatusCode::kInvalidArgument);
  CHECK(again.message().size() <= kStatusMessageBytesMax);
  CHECK(again.message().ends_with("xxx: no number"));
  const std::string whole(kStatusMessageBytesMax, 'y');
  CHECK(Status::Busy(whole).message() == whole);
}

}  // namespace
}  // namespace hg
