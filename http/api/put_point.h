#pragma once
// A point of a put document: what it must be like (spec http-api.md §8.2, §9), and its parts as
// sinks take them.

#include <optional>
#include <string>
#include <vector>

#include "http/counters.h"
#include "http/wire/put_document.h"
#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/point_sink.h"

namespace hg::http {

/// Absent, or an empty text.
inline bool Missing(const std::optional<std::string>& field) { return !field || field->empty(); }

/// Why it is refused, which is counted; "": it is good so far. `value`: its number, but for
/// histograms.
std::string CheckPutPoint(const PutPoint& point, PutKind kind, Counters* counters,
                          PointValue* value);

/// Of a point that has tags; they borrow its texts.
std::vector<TagText> TagsOf(const PutPoint& point);

/// Adds a tag in its place, if there is a value and no such key. One that is there is given in any
/// case and stored as `value` is; whether it may be another is the sink's business.
void AddTag(const std::string& key, std::string value, PutPoint* point);

/// A histogram as it is stored. InvalidArgument says what is wrong.
Result<Bytes> EncodeHistogram(const PutPoint& point, uint8_t codec_id);

}  // namespace hg::http
