#pragma once
// Parses the decompressed body of Prometheus' remote write: the message WriteRequest of version
// 1.0, or the message Request of version 2.0. The parser reads one series at a time, so it needs
// only as much memory as the largest series needs. For version 2.0, it needs memory for the table
// of symbols in addition.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "http/wire/request_memory.h"
#include "http/wire/series_labels.h"
#include "storage/base/status.h"
#include "storage/codec/row_key.h"

namespace hg::http {

// The names of the protobuf messages, as they are written in the Content-Type.
inline constexpr std::string_view kWriteRequest1 = "prometheus.WriteRequest";
inline constexpr std::string_view kWriteRequest2 = "io.prometheus.write.v2.Request";

/// The maximum size in bytes of one encoded series with all its samples, and of the labels of one
/// series. The limit is needed because parsing may need fifty times as much memory as the encoded
/// series.
inline constexpr size_t kWriteSeriesBytesMax = 4 << 20;

/// The maximum number of labels of one series. No row key is long enough for the ids of more tags.
inline constexpr size_t kWriteLabelsMax = 16383;
static_assert(kWriteLabelsMax == codec::kRowKeyBytesMax / 2);

/// A series with its samples, as the client sent it. The texts are valid only during the call of
/// the visitor.
struct WrittenSeries {
  struct Sample {
    double value = 0;
    int64_t time_ms = 0;
  };
  std::vector<Label> labels;  // labels of the series, including kNameLabel
  std::vector<Sample> samples;
  size_t histograms = 0;  // number of native histograms, which are not parsed
  /// The reason why the samples of the series cannot be stored; "" if they can be stored. If there
  /// is a reason, `labels` is empty.
  std::string fault;
};

/// The description of a metric that a client sent. The object does not own its texts. A text may be
/// empty.
struct MetricDescription {
  std::string_view metric;
  std::string_view type;  // one of Prometheus' types, such as "counter"
  std::string_view help;
  std::string_view unit;

  bool operator==(const MetricDescription&) const = default;
};

/// A function that is called for each series. If it returns an error, parsing ends with this error.
using SeriesVisitor = std::function<Status(const WrittenSeries&)>;
using DescriptionVisitor = std::function<void(const MetricDescription&)>;

/// Parses a request of version 1.0. Calls `visit` for each series in order, and `describe` for the
/// metadata of metrics. Metadata that cannot be parsed is skipped. Texts of labels may contain
/// bytes that are not UTF-8. If a series has more than kWriteLabelsMax labels, `visit` gets the
/// series with a fault. The memory is charged to `memory` (nullptr = no limit); if charging
/// fails, the function returns the error of `memory`.
///
/// InvalidArgument: the bytes are invalid, or a series is too long; `visit` was called for the
/// series before the invalid bytes. Also fails with the first error of `visit`.
Status ReadWriteRequest(std::string_view bytes, const SeriesVisitor& visit,
                        const DescriptionVisitor& describe, RequestMemory::Share* memory);

/// Parses a request of version 2.0, in the same way as ReadWriteRequest does for version 1.0. If a
/// series refers to a symbol that does not exist, or if its labels are too long, `visit` gets the
/// series with a fault. A metric is described under the name of its family, without a suffix such
/// as "_bucket".
///
/// LimitExceeded: the labels of all series together have more than `labels_bytes_max` bytes. Even a
/// small body can exceed this limit, because many series may refer to the same long symbols.
Status ReadWriteRequest2(std::string_view bytes, uint64_t labels_bytes_max,
                         const SeriesVisitor& visit, const DescriptionVisitor& describe,
                         RequestMemory::Share* memory);

}  // namespace hg::http
