#pragma once
// Validates a point of a put document (opentsdb-http-api.md §8.2, §9) and converts its parts for
// the sinks.

#include <optional>
#include <string>
#include <vector>

#include "http/counters.h"
#include "http/wire/put_document.h"
#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/point_sink.h"

namespace hg::http {

/// True if the field is absent or empty.
inline bool Missing(const std::optional<std::string>& field) { return !field || field->empty(); }

/// Returns the error message of an invalid point and counts it; "" if the point is valid. Sets
/// *value to the point's number, except for histograms.
std::string CheckPutPoint(const PutPoint& point, PutKind kind, Counters* counters,
                          PointValue* value);

/// The tags of a point that has tags. They borrow its texts.
std::vector<TagText> TagsOf(const PutPoint& point);

/// Inserts a tag in the order of OpenTSDB's map, unless `value` is empty or the key exists. An
/// existing value may have any case and is replaced by `value` if it is equal apart from case.
/// Other values stay; the sink decides whether they are allowed.
void AddTag(const std::string& key, std::string value, PutPoint* point);

/// Encodes a histogram for storage. InvalidArgument says what is wrong.
Result<Bytes> EncodeHistogram(const PutPoint& point, uint8_t codec_id);

}  // namespace hg::http
