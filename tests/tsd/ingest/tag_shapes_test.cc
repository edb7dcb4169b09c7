#include "tsd/ingest/tag_shapes.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tsd/ingest/plain_spelling.h"

namespace hg::tsd {
namespace {

using namespace std::string_literals;

void Note(TagShapes* shapes, Dialect dialect, const std::string& spelling) {
  std::vector<TagText> tags;
  REQUIRE(ReadPlainTags(dialect, spelling, 8, &tags));
  shapes->Note(dialect, spelling, tags);
}

/// Returns all texts, with '?' for a hole.
std::vector<std::string> Texts(const TagShapes& shapes) {
  std::vector<std::string> texts;
  for (const TagShape& shape : shapes.All()) {
    texts.push_back(shape.text);
    std::replace(texts.back().begin(), texts.back().end(), TagShape::kHole, '?');
  }
  return texts;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "a tag format is a key without its values, and filled with other values it is their key") {
  TagShapes shapes;
  Note(&shapes, Dialect::kJson, R"({"host":"web1", "dc":"lon"})");
  Note(&shapes, Dialect::kJson, R"({"host":"web2", "dc":"ams"})");
  Note(&shapes, Dialect::kWords, "host=web1 dc=lon");
  REQUIRE(Texts(shapes) == Strings{R"({"host":"?", "dc":"?"})", "host=? dc=?"});
  CHECK(shapes.changes() == 2);
  const TagShape shape = shapes.All()[0];
  CHECK(shape.keys == Strings{"host", "dc"});
  const std::vector<std::string_view> values = {"a", "b-2"};
  std::string filled = "before";
  shape.Fill(values, &filled);
  CHECK(filled == R"({"host":"a", "dc":"b-2"})");
}

TEST_CASE("a text is a tag format only if its holes are values, whatever plain names fill them") {
  CHECK(ReadShape(Dialect::kJson, "{\"a\":\"\0\"}"s));
  CHECK(ReadShape(Dialect::kWords, "a=\0 b=\0"s));
  for (const std::string& text :
       {""s, "{}"s, "{\"a\":\"x\"}"s, "{\"\0\":\"\0\"}"s, "{\"a\":\"\0x\"}"s, "{\"a\":\"\0\0\"}"s,
        "{\"a\":\"\0\",\"b\":\"x\"}"s, "{\"a\":\"\0\",\"a\":\"\0\"}"s, "{\"a\":\0}"s, "a=\0"s,
        "{\"a\":\"\0\"} "s, std::string(100000, '\0')}) {
    CAPTURE(text);
    CHECK_FALSE(ReadShape(Dialect::kJson, text));
  }
  CHECK_FALSE(ReadShape(Dialect::kWords, "a=\0 \0=b"s));
  CHECK_FALSE(ReadShape(Dialect::kInflux, "a=\0"s));
  CHECK_FALSE(ReadShape(Dialect::kLabels, "a=\0"s));
  CHECK_FALSE(ReadShape(static_cast<Dialect>(200), "a=\0"s));
}

TEST_CASE("tag formats are read back from a file, and torn, damaged or foreign files add none") {
  TagShapes shapes;
  Note(&shapes, Dialect::kJson, R"({"a":"1"})");
  Note(&shapes, Dialect::kWords, "b=1 c=2");
  const Bytes file = shapes.Encode();
  TagShapes again;
  REQUIRE(again.Decode(file));
  CHECK(Texts(again) == Texts(shapes));
  CHECK(again.changes() == 0);
  CHECK(again.Decode(file));
  CHECK(again.All().size() == 2);
  for (size_t size = 0; size < file.size(); ++size) {
    TagShapes torn;
    CHECK_FALSE(torn.Decode(ByteView(file).substr(0, size)));
    CHECK(torn.All().empty());
  }
  for (size_t at = 0; at < file.size(); ++at) {
    Bytes damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    TagShapes other;
    CHECK_FALSE(other.Decode(damaged));
    CHECK(other.All().empty());
  }
  CHECK_FALSE(TagShapes().Decode("another file that stands in its place"));
}

TEST_CASE("few formats per set of tag keys are kept, and unused new ones are dropped first") {
  static_assert(TagShapes::kOfKeysMax == 2);
  TagShapes shapes;
  for (const char* tags : {"a=1 b=2", "b=1 a=2"}) Note(&shapes, Dialect::kWords, tags);
  Note(&shapes, Dialect::kJson, R"({"a":"1","b":"2"})");
  Note(&shapes, Dialect::kJson, R"({"b":"1","a":"2"})");
  Note(&shapes, Dialect::kJson, R"({"a":"1", "b":"2"})");
  const Strings first = {"a=? b=?", "b=? a=?", R"({"a":"?","b":"?"})", R"({"b":"?","a":"?"})"};
  CHECK(Texts(shapes) == first);
  CHECK(shapes.changes() == 4);
  TagShapes again;
  REQUIRE(again.Decode(shapes.Encode()));
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
  TagShapes shapes;
  for (size_t i = 0; i < 2 * TagShapes::kMax; ++i)
    Note(&shapes, Dialect::kWords, "key" + std::to_string(i) + "=x");
  CHECK(shapes.All().size() == TagShapes::kMax);
  TagShapes again;
  REQUIRE(again.Decode(shapes.Encode()));
  Note(&again, Dialect::kWords, "another=x");
  CHECK(again.All().size() == TagShapes::kMax);
  CHECK(Texts(again).front() == "key1=?");
  CHECK(Texts(again).back() == "another=?");
}

}  // namespace hg::tsd
