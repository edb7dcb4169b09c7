#include "http/wire/media_type.h"

#include <doctest/doctest.h>

namespace hg::http {

TEST_CASE("a media type has parameters, quoted or not") {
  const MediaType media =
      ParseMediaType(" Application/X-Protobuf ;proto=a.B.C; Charset = \"utf-8\" ;; flag; empty=");
  CHECK(media.type == "application/x-protobuf");
  CHECK(media.Find("proto") == "a.B.C");
  CHECK(media.Find("charset") == "utf-8");
  CHECK(media.parameters.size() == 3);
  CHECK(media.Find("empty").empty());
  CHECK(media.Find("flag").empty());
}

TEST_CASE("an invalid media type has no type and no parameters") {
  CHECK(ParseMediaType("").type.empty());
  CHECK(ParseMediaType(";;=").type.empty());
  CHECK(ParseMediaType("a=\"").type == "a=\"");
}

}  // namespace hg::http
