#pragma once
// Validates a point of a put document (opentsdb-http-api.md §8.2, §9) and converts its parts for
// the sinks.

#include <optional>
#include <string>
#include <vector>

#include "http/request/counters.h"
#include "http/wire/put_document.h"
#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/point_sink.h"

namespace hg::http {

/// Returns whether the field is absent or empty.
inline bool Missing(const std::optional<std::string>& field) { return !field || field->empty(); }

/// If a point is invalid, counts the error and returns its message; returns "" if the point is
/// valid. Sets *value to the point's number, except for histograms.
std::string CheckPutPoint(const PutPoint& point, PutKind kind, Counters* counters,
                          PointValue* value);

/// Returns the tags of a point that has tags, as views of the texts in `point`.
std::vector<TagText> TagsOf(const PutPoint& point);

/// Inserts a tag in the order of OpenTSDB's map. Does nothing if `value` is empty or the key
/// exists. If an existing value equals `value` except for its case, it is replaced by `value`.
/// Other existing values stay; the sink decides whether they are allowed.
void AddTag(const std::string& key, std::string value, PutPoint* point);

/// Encodes a histogram for storage. The message of InvalidArgument names the invalid field.
Result<Bytes> EncodeHistogram(const PutPoint& point, uint8_t codec_id);

}  // namespace hg::http
