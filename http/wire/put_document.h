#pragma once
// The body of /api/put, the exact way: all that OpenTSDB's binding accepts and refuses (spec
// http-api.md §8.1, §8.4).

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::http {

/// A tag of a put point; no value = JSON null.
struct PutTag {
  std::string key;
  std::optional<std::string> value;
};

/// A bucket of a histogram: "lower,upper" and its count.
struct PutBucket {
  std::string bounds;
  int64_t count = 0;
};

/// Whose body it is: each binds fields of its own.
enum class PutKind : uint8_t { kPoints, kRollups, kHistograms };

/// One element of the body as it was bound, nothing checked yet.
struct PutPoint {
  bool null = false;  // the element was JSON null
  std::optional<std::string> metric;
  int64_t timestamp = 0;
  std::optional<std::string> value;  // text as written
  /// One per key, in the order of OpenTSDB's map (hash16).
  std::optional<std::vector<PutTag>> tags;
  std::optional<std::string> tsuid;
  // Of /api/rollup only.
  std::optional<std::string> interval, aggregator, group_by;
  // Of /api/histogram only.
  int64_t id = 0;
  std::optional<std::vector<PutBucket>> buckets;  // one per bounds
  int64_t underflow = 0;
  int64_t overflow = 0;
};

/// Puts tags in the order of OpenTSDB's map.
void OrderPutTags(std::vector<PutTag>* tags);

/// The points of a body that begins with { or [. InvalidArgument says what does not fit where; the
/// whole body is then refused. RequestMemory::Share::Current() is asked for what the points take,
/// and for what a handler keeps beside each; its refusal is the answer then.
Result<std::deque<PutPoint>> ParsePutDocument(std::string_view body,
                                              PutKind kind = PutKind::kPoints);

}  // namespace hg::http
