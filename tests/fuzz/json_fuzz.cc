// Request bodies: where the fast parser of points meets spellings that the patient one accepts, it
// takes no body that the patient one refuses; and its points lie inside the body.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/wire/json_value.h"
#include "http/wire/put_json.h"
#include "storage/base/invariant.h"

namespace {

/// Whether the bytes could be in the table of accepted spellings: any others send the whole body to
/// the patient parser.
bool MayBeKnown(const hg::Spelling& spelling) {
  const auto both = hg::http::ParseJson("[\"" + std::string(spelling.metric) + "\"," +
                                        std::string(spelling.tags) + "]");
  return both.ok() && both->items.size() == 2 && both->items[1].is_object();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A heap block of exactly the promised size: reading behind the padding is an error that ASAN
  // sees.
  const auto block = std::make_unique<char[]>(size + hg::http::kPutPadding);
  std::memcpy(block.get(), data, size);
  const std::string_view body(block.get(), size);

  static hg::http::PutJsonParser parser;
  std::vector<hg::SpelledPoint> points;
  if (parser.Parse(body, &points)) {
    bool known = true;
    for (const hg::SpelledPoint& point : points) {
      for (const std::string_view text : {point.series.metric, point.series.tags}) {
        INVARIANT(text.data() >= body.data() && text.data() + text.size() <= body.data() + size);
      }
      known = known && MayBeKnown(point.series);
    }
    INVARIANT(!known || hg::http::ParseJson(body).ok());
  }
  std::vector<hg::Spelling> spellings;
  parser.ParseSpellings(body, &spellings);
  return 0;
}
