#pragma once
// Parses histograms in requests (opentsdb-http-api.md §9.2, §19.3). A histogram is either a list of
// buckets with bounds, or the base64 of the bytes of a histogram codec. The error messages are
// those of OpenTSDB. All functions are pure.

#include <string_view>

#include "storage/base/status.h"
#include "storage/codec/histogram.h"

namespace hg::http {

/// The error message if tsd.core.histograms.config is not set.
inline constexpr std::string_view kHistogramsOff =
    "Histogram storage has not been enabled. Check the 'tsd.core.histograms.config' "
    "configuration.";

/// Adds a bucket to a histogram. `bounds` has the form "lower,upper". InvalidArgument: `bounds`
/// does not have two parts, or a part is not a number.
Status AddBucket(std::string_view bounds, int64_t count, codec::SimpleHistogram* histogram);

/// Parses buckets, underflow (u) and overflow (o) of a histogram, for example
/// "0,1.75=12:1.75,3.5=16:u=1:o=2". Returns false if a part is invalid.
bool ParseBucketWords(std::string_view text, codec::SimpleHistogram* histogram);

/// Decodes a histogram from the base64 of the codec's bytes. The bytes do not begin with the codec
/// id. Characters that base64 does not use are skipped. InvalidArgument: the histogram has fewer
/// than six bytes, or is truncated.
Result<codec::SimpleHistogram> DecodeHistogramText(std::string_view base64, uint8_t codec_id);

}  // namespace hg::http
