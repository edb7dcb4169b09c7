#include "tsd/ingest/tag_formats.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tsd/ingest/plain_raw_key.h"

namespace hg::tsd {
namespace {

using namespace std::string_literals;

void Note(TagFormats* formats, Dialect dialect, const std::string& raw_key) {
  std::vector<TagText> tags;
  REQUIRE(ReadPlainTags(dialect, raw_key, 8, &tags));
  formats->Note(dialect, raw_key, tags);
}

/// Returns all tag formats as text, with '?' for each value that was left out.
std::vector<std::string> Texts(const TagFormats& formats) {
  std::vector<std::string> texts;
  for (const TagFormat& format : formats.All()) {
    texts.push_back(format.text);
    std::replace(texts.back().begin(), texts.back().end(), TagFormat::kHole, '?');
  }
  return texts;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "a tag format is a raw key without its values, and filled with other values it is their "
    "raw key") {
  TagFormats formats;
  Note(&formats, Dialect::kJson, R"({"host":"web1", "dc":"lon"})");
  Note(&formats, Dialect::kJson, R"({"host":"web2", "dc":"ams"})");
  Note(&formats, Dialect::kWords, "host=web1 dc=lon");
  REQUIRE(Texts(formats) == Strings{R"({"host":"?", "dc":"?"})", "host=? dc=?"});
  CHECK(formats.changes() == 2);
  const TagFormat format = formats.All()[0];
  CHECK(format.keys == Strings{"host", "dc"});
  const std::vector<std::string_view> values = {"a", "b-2"};
  std::string filled = "before";
  format.Fill(values, &filled);
  CHECK(filled == R"({"host":"a", "dc":"b-2"})");
}

TEST_CASE("a text is a tag format only if each hole is a whole value, and every value is a hole") {
  CHECK(ReadTagFormat(Dialect::kJson, "{\"a\":\"\0\"}"s));
  CHECK(ReadTagFormat(Dialect::kWords, "a=\0 b=\0"s));
  for (const std::string& text :
       {""s, "{}"s, "{\"a\":\"x\"}"s, "{\"\0\":\"\0\"}"s, "{\"a\":\"\0x\"}"s, "{\"a\":\"\0\0\"}"s,
        "{\"a\":\"\0\",\"b\":\"x\"}"s, "{\"a\":\"\0\",\"a\":\"\0\"}"s, "{\"a\":\0}"s, "a=\0"s,
        "{\"a\":\"\0\"} "s, std::string(100000, '\0')}) {
    CAPTURE(text);
    CHECK_FALSE(ReadTagFormat(Dialect::kJson, text));
  }
  CHECK_FALSE(ReadTagFormat(Dialect::kWords, "a=\0 \0=b"s));
  CHECK_FALSE(ReadTagFormat(Dialect::kInflux, "a=\0"s));
  CHECK_FALSE(ReadTagFormat(Dialect::kLabels, "a=\0"s));
  CHECK_FALSE(ReadTagFormat(static_cast<Dialect>(200), "a=\0"s));
}

TEST_CASE(
    "tag formats are read back from a file, and truncated, damaged or foreign files add none") {
  TagFormats formats;
  Note(&formats, Dialect::kJson, R"({"a":"1"})");
  Note(&formats, Dialect::kWords, "b=1 c=2");
  const Bytes file = formats.Encode();
  TagFormats again;
  REQUIRE(again.Decode(file));
  CHECK(Texts(again) == Texts(formats));
  CHECK(again.changes() == 0);
  CHECK(again.Decode(file));
  CHECK(again.All().size() == 2);
  for (size_t size = 0; size < file.size(); ++size) {
    TagFormats torn;
    CHECK_FALSE(torn.Decode(ByteView(file).substr(0, size)));
    CHECK(torn.All().empty());
  }
  for (size_t at = 0; at < file.size(); ++at) {
    Bytes damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    TagFormats other;
    CHECK_FALSE(other.Decode(damaged));
    CHECK(other.All().empty());
  }
  CHECK_FALSE(TagFormats().Decode("another file that stands in its place"));
}

TEST_CASE(
    "at most two tag formats of a dialect are kept for a set of tag keys, and unused ones "
    "go first") {
  static_assert(TagFormats::kOfKeysMax == 2);
  TagFormats formats;
  for (const char* tags : {"a=1 b=2", "b=1 a=2"}) Note(&formats, Dialect::kWords, tags);
  Note(&formats, Dialect::kJson, R"({"a":"1","b":"2"})");
  Note(&formats, Dialect::kJson, R"({"b":"1","a":"2"})");
  Note(&formats, Dialect::kJson, R"({"a":"1", "b":"2"})");
  const Strings first = {"a=? b=?", "b=? a=?", R"({"a":"?","b":"?"})", R"({"b":"?","a":"?"})"};
  CHECK(Texts(formats) == first);
  CHECK(formats.changes() == 4);
  TagFormats again;
  REQUIRE(again.Decode(formats.Encode()));
  Note(&again, Dialect::kJson, R"({"a":"1","b":"2"})");
  CHECK(again.changes() == 0);
  Note(&again, Dialect::kJson, R"({"a":"1", "b":"2"})");
  CHECK(again.changes() == 1);
  Note(&again, Dialect::kJson, R"({"a":"1",  "b":"2"})");
  CHECK(again.changes() == 1);
  CHECK(Texts(again) ==
        Strings{"a=? b=?", "b=? a=?", R"({"a":"?","b":"?"})", R"({"a":"?", "b":"?"})"});
}

TEST_CASE("the number of tag formats is limited") {
  TagFormats formats;
  for (size_t i = 0; i < 2 * TagFormats::kMax; ++i)
    Note(&formats, Dialect::kWords, "key" + std::to_string(i) + "=x");
  CHECK(formats.All().size() == TagFormats::kMax);
  TagFormats again;
  REQUIRE(again.Decode(formats.Encode()));
  Note(&again, Dialect::kWords, "another=x");
  CHECK(again.All().size() == TagFormats::kMax);
  CHECK(Texts(again).front() == "key1=?");
  CHECK(Texts(again).back() == "another=?");
}

}  // namespace hg::tsd
