#pragma once
// Validates a point of a put document (opentsdb-http-api.md §8.2, §9), and converts the parts of
// the point for the sinks.

#include <optional>
#include <string>
#include <vector>

#include "http/request/counters.h"
#include "http/wire/put_document.h"
#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/point_sink.h"

namespace hg::http {

/// Returns whether the field is absent or is the empty string.
inline bool Missing(const std::optional<std::string>& field) { return !field || field->empty(); }

/// Validates a point. If the point is invalid, counts the error and returns the error message;
/// otherwise returns "". Sets *value to the number of the point, except for histograms.
std::string CheckPutPoint(const PutPoint& point, PutKind kind, Counters* counters,
                          PointValue* value);

/// Returns the tags of a point, as views of the texts in `point`. The point must have tags.
std::vector<TagText> TagsOf(const PutPoint& point);

/// Inserts a tag into the tags of a point, in the order of OpenTSDB's map. Does nothing if `value`
/// is empty. If the point already has the key, the existing value stays, unless it differs from
/// `value` only in case; then `value` replaces it. The sink decides whether the existing value is
/// allowed.
void AddTag(const std::string& key, std::string value, PutPoint* point);

/// Encodes the histogram of a point for storage. The message of InvalidArgument describes the
/// error.
Result<Bytes> EncodeHistogram(const PutPoint& point, uint8_t codec_id);

}  // namespace hg::http
