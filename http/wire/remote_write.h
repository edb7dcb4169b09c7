#pragma once
// The body of Prometheus' remote write 1.0, unpacked: a WriteRequest, read series by series, so
// that no body takes more memory than its largest series.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "http/wire/series_labels.h"
#include "storage/base/status.h"

namespace hg::http {

/// Of one series with all its samples, as sent. Taken apart, two bytes may become a hundred.
inline constexpr size_t kWriteSeriesBytesMax = 4 << 20;

/// A series with its samples, as sent. Borrowed.
struct WrittenSeries {
  struct Sample {
    double value = 0;
    int64_t time_ms = 0;
  };
  std::vector<Label> labels;  // kNameLabel among them
  std::vector<Sample> samples;
  size_t histograms = 0;  // native ones, which are not read
};

/// Calls visit with each series in order. InvalidArgument: the bytes are none (what stands before
/// the damage was visited), a text is not UTF-8, or a series is too long.
Status ReadWriteRequest(std::string_view bytes,
                        const std::function<void(const WrittenSeries&)>& visit);

}  // namespace hg::http
