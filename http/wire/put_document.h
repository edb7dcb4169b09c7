#pragma once
// The slow path for the body of /api/put. It accepts the same documents as OpenTSDB's JSON binding,
// and rejects all others (opentsdb-http-api.md §8.1, §8.4).

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace hg::http {

/// A tag of a put point. The value is nullopt if the body has JSON null.
struct PutTag {
  std::string key;
  std::optional<std::string> value;
};

/// A bucket of a histogram: its bounds in the form "lower,upper", and its count.
struct PutBucket {
  std::string bounds;
  int64_t count = 0;
};

/// The kind of a body. The kinds differ in the fields of their points.
enum class PutKind : uint8_t { kPoints, kRollups, kHistograms };

/// One element of a body. The element was parsed but not validated.
struct PutPoint {
  bool null = false;  // whether the element is the JSON value null
  std::optional<std::string> metric;
  int64_t timestamp = 0;
  std::optional<std::string> value;  // text of the value as written in the body
  /// The tags, in the order in which OpenTSDB's Java map iterates over them (java_hash.h). Each key
  /// occurs only once. nullopt: the element has no field "tags", or the field is null.
  std::optional<std::vector<PutTag>> tags;
  std::optional<std::string> tsuid;
  // The following members are set only for /api/rollup.
  std::optional<std::string> interval, aggregator, group_by;
  // The following members are set only for /api/histogram.
  int64_t id = 0;
  /// One bucket for each pair of bounds in the request.
  std::optional<std::vector<PutBucket>> buckets;
  int64_t underflow = 0;
  int64_t overflow = 0;
};

/// Sorts tags in the order of OpenTSDB's map (java_hash.h).
void OrderPutTags(std::vector<PutTag>* tags);

/// Parses a body that begins with { or [. Unless `memory` is null, charges it for the points, for
/// the memory to read each point, and for the memory that a handler needs for each point. If
/// charging fails, returns the error of `memory`. InvalidArgument: a part of the body is invalid;
/// the message describes the error and its place. LimitExceeded: the body is nested too deep.
/// Errors of `context` end the parsing.
Result<std::deque<PutPoint>> ParsePutDocument(
    std::string_view body, RequestMemory::Share* memory, PutKind kind = PutKind::kPoints,
    RequestContext& context = RequestContext::Unlimited());

}  // namespace hg::http
