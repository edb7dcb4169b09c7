#pragma once
// The slow path for the body of /api/put. It accepts and rejects the same documents as OpenTSDB's
// JSON binding (opentsdb-http-api.md §8.1, §8.4).

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace hg::http {

/// A tag of a put point. The value nullopt stands for JSON null.
struct PutTag {
  std::string key;
  std::optional<std::string> value;
};

/// A bucket of a histogram: its bounds as "lower,upper", and its count.
struct PutBucket {
  std::string bounds;
  int64_t count = 0;
};

/// The kind of body. Each kind has other fields.
enum class PutKind : uint8_t { kPoints, kRollups, kHistograms };

/// One element of the body. It is parsed but not validated.
struct PutPoint {
  bool null = false;  // whether the element was JSON null
  std::optional<std::string> metric;
  int64_t timestamp = 0;
  std::optional<std::string> value;  // the text as written in the body
  /// The tags, one for each key, in the order of OpenTSDB's map (java_hash.h). nullopt: the body
  /// has no such field.
  std::optional<std::vector<PutTag>> tags;
  std::optional<std::string> tsuid;
  // The following members are set only for /api/rollup.
  std::optional<std::string> interval, aggregator, group_by;
  // The following members are set only for /api/histogram.
  int64_t id = 0;
  std::optional<std::vector<PutBucket>> buckets;  // one per pair of bounds in the request
  int64_t underflow = 0;
  int64_t overflow = 0;
};

/// Sorts tags in the order of OpenTSDB's map.
void OrderPutTags(std::vector<PutTag>* tags);

/// Parses a body that begins with { or [. If any part is invalid, returns InvalidArgument, whose
/// message describes the error and its place. The memory of the points, and the memory that a
/// handler needs for each of them, is charged to `memory`; if that fails, returns its error.
Result<std::deque<PutPoint>> ParsePutDocument(std::string_view body, RequestMemory::Share* memory,
                                              PutKind kind = PutKind::kPoints);

}  // namespace hg::http
