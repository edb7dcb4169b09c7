#pragma once
// Parses the unpacked body of Prometheus' remote write: the WriteRequest of 1.0 or the Request of
// 2.0. It is read series by series, so that a body takes no more memory than its largest series,
// and for 2.0 its table of symbols.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "http/wire/request_memory.h"
#include "http/wire/series_labels.h"
#include "storage/base/status.h"

namespace hg::http {

// The names of the messages, as in the Content-Type.
inline constexpr std::string_view kWriteRequest1 = "prometheus.WriteRequest";
inline constexpr std::string_view kWriteRequest2 = "io.prometheus.write.v2.Request";

/// Maximum size in bytes of one encoded series with all its samples, and of the labels of one
/// series. Parsing two bytes may take a hundred bytes of memory.
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
  /// Not empty: why no sample of the series can be stored. `labels` is then empty.
  std::string fault;
};

/// What a client says about a metric. Borrows its texts, which may be empty.
struct MetricDescription {
  std::string_view metric;
  std::string_view type;  // a type of Prometheus, such as "counter"
  std::string_view help;
  std::string_view unit;

  bool operator==(const MetricDescription&) const = default;
};

using SeriesVisitor = std::function<void(const WrittenSeries&)>;
using DescriptionVisitor = std::function<void(const MetricDescription&)>;

/// Calls `visit` for each series in order, and `describe` for the metadata of metrics; metadata
/// that cannot be parsed is skipped. InvalidArgument: the bytes are invalid (`visit` was called for
/// the series before the damage), a text is not UTF-8, or a series is too long. If `memory` refuses
/// memory, the result is its refusal. nullptr = no limit.
Status ReadWriteRequest(std::string_view bytes, const SeriesVisitor& visit,
                        const DescriptionVisitor& describe, RequestMemory::Share* memory);

/// The same for remote write 2.0. A series that refers to a symbol that does not exist, or whose
/// labels are too long, is visited with a fault. A metric is described under the name of its
/// family, without a suffix such as "_bucket". Symbols may be long and may be referred to often.
/// Therefore LimitExceeded is returned when the labels of all series have more than
/// `labels_bytes_max` bytes.
Status ReadWriteRequest2(std::string_view bytes, uint64_t labels_bytes_max,
                         const SeriesVisitor& visit, const DescriptionVisitor& describe,
                         RequestMemory::Share* memory);

}  // namespace hg::http
