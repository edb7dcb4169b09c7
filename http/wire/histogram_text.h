#pragma once
// Histograms as clients write them (spec http-api.md §9.2, §19.3): buckets by bounds, or the
// codec's bytes in base64. Errors carry OpenTSDB's texts. Pure.

#include <string_view>

#include "storage/base/status.h"
#include "storage/codec/histogram.h"

namespace hg::http {

/// The refusal where tsd.core.histograms.config is not set.
inline constexpr std::string_view kHistogramsOff =
    "Histogram storage has not been enabled. Check the 'tsd.core.histograms.config' "
    "configuration.";

/// Adds a bucket "lower,upper". InvalidArgument: not two parts, or a part is no number.
Status AddBucket(std::string_view bounds, int64_t count, codec::SimpleHistogram* histogram);

/// Reads "0,1.75=12:1.75,3.5=16:u=1:o=2". False: a part cannot be read.
bool ParseBucketWords(std::string_view text, codec::SimpleHistogram* histogram);

/// Base64 of the codec's bytes without its id; what is not base64 is passed over. InvalidArgument:
/// fewer than six bytes, or cut short.
Result<codec::SimpleHistogram> DecodeHistogramText(std::string_view base64, uint8_t codec_id);

}  // namespace hg::http
