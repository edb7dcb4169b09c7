#pragma once
// Series of other systems. They are named by a metric and by labels with arbitrary text. All
// protobuf protocols convert these names to OpenTSDB names by the same rules (docs/ingestion.md).

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/name_text.h"
#include "storage/model/point.h"

namespace hg::http {

/// The label in which Prometheus stores the metric name.
inline constexpr std::string_view kNameLabel = "__name__";

/// A label of a series. The object does not own its texts.
struct Label {
  std::string_view name;
  std::string_view value;

  bool operator==(const Label&) const = default;
};

/// Appends labels in the form of RawKey::tags: each text is preceded by its length as a varint. The
/// metric as sent and these bytes together are a raw series key of Dialect::kLabels. Use this
/// dialect only for protocols that convert labels to stored names with NameSeries, because equal
/// raw series keys must mean the same series.
void AppendLabels(std::span<const Label> labels, Bytes* keyed);

/// Decodes labels that AppendLabels has encoded. For other bytes, the labels have no meaning.
std::vector<Label> ReadLabels(ByteView keyed);

/// A series with the names under which it is stored.
struct NamedSeries {
  std::string metric;
  /// Tags, in the order that NamedPoint requires.
  std::vector<std::pair<std::string, std::string>> tags;
};

/// The rules by which NameSeries converts names.
struct NamingRules {
  NameRules names;
  /// The tag that a series without labels gets, because OpenTSDB requires a tag. Both texts must be
  /// valid names.
  std::string default_key = "source", default_value = "unknown";
};

/// Converts a metric and labels to OpenTSDB's names. Characters that OpenTSDB does not allow are
/// escaped. A label with an empty value counts as absent. InvalidArgument: the metric or a label
/// has an empty name, a label occurs twice, or a text is not UTF-8 or too long for a name.
Result<NamedSeries> NameSeries(std::string_view metric, std::span<const Label> labels,
                               const NamingRules& rules);

/// Receives the series and points of a request. The request consists of items: samples of remote
/// write, or data points of OTLP. One item may become several points, which may belong to several
/// series. If one point of an item cannot be stored, the item counts as rejected.
class LabelledSink {
 public:
  virtual ~LabelledSink() = default;
  /// Sets the series to which the following points belong.
  virtual void SetSeries(std::string_view metric, std::span<const Label> labels) = 0;
  /// Begins an item of the request. The points that are added after this call belong to the item.
  /// Returns false if the request has ended. The caller must then add no more points.
  virtual bool BeginItem() = 0;
  virtual void Add(int64_t time_ms, PointValue value) = 0;
  /// Rejects the current item, for the given reason.
  virtual void Refuse(std::string_view reason) = 0;
};

/// Returns a text such as `metric{name="value", …}` for messages to users. Very long texts are
/// truncated.
std::string SeriesText(std::string_view metric, std::span<const Label> labels);

}  // namespace hg::http
