#include "http/wire/plain_number.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace hg::http {

TEST_CASE("a plain number gives the same value as the parser of the slow path") {
  std::mt19937_64 random(3);
  const auto digits = [&](size_t count) {
    std::string text;
    while (text.size() < count) text += static_cast<char>('0' + random() % 10);
    return text;
  };
  int plain = 0;
  for (int round = 0; round < 200000; ++round) {
    std::string text = random() % 3 == 0 ? "-" : "";
    text += digits(1 + random() % (random() % 5 == 0 ? 20 : 9));
    if (random() % 3 != 0) text += "." + digits(random() % (random() % 5 == 0 ? 20 : 7));
    if (random() % 8 == 0) text += (random() % 2 == 0 ? "e" : "E-") + digits(1 + random() % 3);
    for (const EntryPath path : {EntryPath::kHttp, EntryPath::kTelnet}) {
      PointValue fast, exact;
      NumberError error;
      if (!ParsePlainValue(text, path, &fast)) continue;
      ++plain;
      CAPTURE(text);
      REQUIRE(ParseValue(text, path, &exact, &error));
      REQUIRE(fast == exact);
    }
  }
  CHECK(plain > 200000);
}

TEST_CASE("among short texts exactly the JSON numbers are plain") {
  const auto is_number = [](std::string_view text) {
    const auto digits = [&text] {
      const size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
      text.remove_prefix(count);
      return count;
    };
    if (text.starts_with('-')) text.remove_prefix(1);
    const bool zero = text.starts_with('0');
    const size_t integer = digits();
    if (integer == 0 || (zero && integer > 1)) return false;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      if (digits() == 0) return false;
    }
    if (text.starts_with('e')) {
      text.remove_prefix(1);
      if (text.starts_with('-')) text.remove_prefix(1);
      if (digits() == 0) return false;
    }
    return text.empty();
  };
  constexpr std::string_view kCharacters = "07.-e:/";
  std::vector<std::string> texts = {""};
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string text = texts[i];
    PointValue fast, exact;
    NumberError error;
    const bool plain = ParsePlainValue(text, EntryPath::kHttp, &fast);
    // With hundreds of digits the exponent may be out of range, and such a text is not plain.
    const bool far = text.size() > 3 && text.find('e') < text.size() - 3;
    const bool same = ParseValue(text, EntryPath::kHttp, &exact, &error) && fast == exact;
    const bool good = (plain == is_number(text) || (!plain && far)) && (!plain || same);
    if (!good) FAIL_CHECK(text);
    if (text.size() == 6) continue;
    for (const char c : kCharacters) texts.push_back(text + c);
  }
  CHECK(texts.size() > 130000);
}

TEST_CASE("texts that are not JSON numbers are not plain") {
  for (const char* text : {"",
                           "-",
                           "+1",
                           "01",
                           "1.",
                           ".5",
                           "1e",
                           "1e+",
                           "inf",
                           "nan",
                           "0x10",
                           "1 ",
                           " 1",
                           "1.5f",
                           "--1",
                           "1.2.3",
                           "1234567890123456789",
                           "1e400",
                           "-1e400",
                           "1e-400"}) {
    CAPTURE(text);
    PointValue value;
    CHECK_FALSE(ParsePlainValue(text, EntryPath::kHttp, &value));
  }
}

TEST_CASE("plain times are from 1 to the maximum") {
  Timestamp time;
  REQUIRE(ParsePlainTime("9999999999999", &time));
  CHECK(time.raw == kTimestampMax);
  REQUIRE(ParsePlainTime("1", &time));
  for (const char* text : {"", "0", "01", "-1", "+1", "1.0", "10000000000000", "x"}) {
    CAPTURE(text);
    CHECK_FALSE(ParsePlainTime(text, &time));
  }
}

}  // namespace hg::http
