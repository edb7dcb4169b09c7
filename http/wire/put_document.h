#pragma once
// The slow path for the body of /api/put. It accepts and refuses the same documents as OpenTSDB's
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

/// A tag of a put point; no value = JSON null.
struct PutTag {
  std::string key;
  std::optional<std::string> value;
};

/// A bucket of a histogram: its bounds as "lower,upper", and its count.
struct PutBucket {
  std::string bounds;
  int64_t count = 0;
};

/// The kind of body; each kind has its own fields.
enum class PutKind : uint8_t { kPoints, kRollups, kHistograms };

/// One element of the body, parsed but not validated.
struct PutPoint {
  bool null = false;  // the element was JSON null
  std::optional<std::string> metric;
  int64_t timestamp = 0;
  std::optional<std::string> value;  // text as written
  /// The tags, one for each key, in the order of OpenTSDB's map (java_hash.h). No value: the field
  /// is absent.
  std::optional<std::vector<PutTag>> tags;
  std::optional<std::string> tsuid;
  // The following members are set for /api/rollup only.
  std::optional<std::string> interval, aggregator, group_by;
  // The following members are set for /api/histogram only.
  int64_t id = 0;
  std::optional<std::vector<PutBucket>> buckets;  // one bucket for each pair of bounds
  int64_t underflow = 0;
  int64_t overflow = 0;
};

/// Sorts tags in the order of OpenTSDB's map.
void OrderPutTags(std::vector<PutTag>* tags);

/// Parses a body that begins with { or [. If any part is invalid, returns InvalidArgument, whose
/// message says what is invalid and where. The memory of the points, and the memory that a handler
/// needs for each of them, is charged to `memory`; if that fails, returns its error.
Result<std::deque<PutPoint>> ParsePutDocument(std::string_view body, RequestMemory::Share* memory,
                                              PutKind kind = PutKind::kPoints);

}  // namespace hg::http
