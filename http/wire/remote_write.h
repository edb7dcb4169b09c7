#pragma once
// Parses the unpacked body of Prometheus' remote write 1.0, a WriteRequest. It is read series by
// series, so that a body takes no more memory than its largest series.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "http/wire/request_memory.h"
#include "http/wire/series_labels.h"
#include "storage/base/status.h"

namespace hg::http {

/// Maximum size of one encoded series with all its samples, in bytes. Parsing two bytes may take a
/// hundred bytes of memory.
inline constexpr size_t kWriteSeriesBytesMax = 4 << 20;

/// A series with its samples, as sent. Borrows its texts.
struct WrittenSeries {
  struct Sample {
    double value = 0;
    int64_t time_ms = 0;
  };
  std::vector<Label> labels;  // includes kNameLabel
  std::vector<Sample> samples;
  size_t histograms = 0;  // native histograms, which are not read
};

/// Calls visit for each series in order. InvalidArgument: the bytes are invalid (visit was called
/// for the series before the damage), a text is not UTF-8, or a series is too long. If
/// `memory` refuses memory, the result is its refusal.
Status ReadWriteRequest(std::string_view bytes,
                        const std::function<void(const WrittenSeries&)>& visit,
                        RequestMemory::Share* memory);

}  // namespace hg::http
