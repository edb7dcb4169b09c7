#pragma once
// Parses the decompressed body of Prometheus' remote write: the WriteRequest of 1.0 or the Request
// of 2.0. The parser reads one series at a time, so it needs only the memory of the largest series.
// For 2.0 it also needs memory for the table of symbols.

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

// The names of the protobuf messages, as in the Content-Type.
inline constexpr std::string_view kWriteRequest1 = "prometheus.WriteRequest";
inline constexpr std::string_view kWriteRequest2 = "io.prometheus.write.v2.Request";

/// Maximum size in bytes of one encoded series with all its samples, and of the labels of one
/// series. There is a limit because parsing may need fifty times as much memory as the series.
inline constexpr size_t kWriteSeriesBytesMax = 4 << 20;

/// A series with its samples, as the client sent it. The texts are valid during the call of the
/// visitor.
struct WrittenSeries {
  struct Sample {
    double value = 0;
    int64_t time_ms = 0;
  };
  std::vector<Label> labels;  // includes kNameLabel
  std::vector<Sample> samples;
  size_t histograms = 0;  // number of native histograms, which are not parsed
  /// The reason why the samples of the series cannot be stored; "" if they can be stored. If it is
  /// not "", `labels` is empty.
  std::string fault;
};

/// The description of a metric by a client. Does not own its texts, which may be empty.
struct MetricDescription {
  std::string_view metric;
  std::string_view type;  // one of Prometheus' types, such as "counter"
  std::string_view help;
  std::string_view unit;

  bool operator==(const MetricDescription&) const = default;
};

/// Called for each series. If it returns an error, parsing ends with this error.
using SeriesVisitor = std::function<Status(const WrittenSeries&)>;
using DescriptionVisitor = std::function<void(const MetricDescription&)>;

/// Calls `visit` for each series in order, and `describe` for the metadata of metrics. Skips
/// metadata that cannot be parsed. InvalidArgument: the bytes are invalid (`visit` was called for
/// the series before the damage), or a series is too long. Labels may be texts that are not UTF-8.
/// The memory is charged to `memory` (nullptr = no limit); if that fails, returns its error. Also
/// returns the first error of `visit`.
Status ReadWriteRequest(std::string_view bytes, const SeriesVisitor& visit,
                        const DescriptionVisitor& describe, RequestMemory::Share* memory);

/// Like ReadWriteRequest, for remote write 2.0. If a series refers to a symbol that does not exist,
/// or its labels are too long, `visit` gets the series with a fault. A metric is described under
/// the name of its family, without a suffix such as "_bucket". LimitExceeded: the labels of all
/// series together have more than `labels_bytes_max` bytes. The labels can exceed this limit even
/// in a small body, because many series may refer to the same long symbols.
Status ReadWriteRequest2(std::string_view bytes, uint64_t labels_bytes_max,
                         const SeriesVisitor& visit, const DescriptionVisitor& describe,
                         RequestMemory::Share* memory);

}  // namespace hg::http
