#pragma once
// Series of other systems, which are named by a metric and labels with any text. All protobuf
// protocols convert them to OpenTSDB names by the same rules (docs/ingestion.md).

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

/// The label that contains the metric name in Prometheus.
inline constexpr std::string_view kNameLabel = "__name__";

/// A label. Does not own its texts.
struct Label {
  std::string_view name;
  std::string_view value;

  bool operator==(const Label&) const = default;
};

/// Appends labels in the form of RawKey::tags: before each text comes its length as a varint.
/// Together with the metric as sent, these bytes are a raw series key of Dialect::kLabels. A
/// protocol with other rules must not use that dialect: the same metric bytes or tag bytes would
/// then mean different names.
void AppendLabels(std::span<const Label> labels, Bytes* keyed);

/// Decodes labels that AppendLabels wrote.
std::vector<Label> ReadLabels(ByteView keyed);

/// A series with the names that OpenTSDB uses for it.
struct NamedSeries {
  std::string metric;
  std::vector<std::pair<std::string, std::string>> tags;  // in the order of NamedPoint
};

/// Rules for NameSeries.
struct NamingRules {
  NameRules names;
  /// The tag for series without labels, because OpenTSDB requires a tag. Both texts must be valid.
  std::string default_key = "source", default_value = "unknown";
};

/// Converts metric and labels to OpenTSDB's names. Escapes characters that OpenTSDB does not allow.
/// A label with an empty value counts as absent. InvalidArgument: the metric or a label has no
/// name, or a label is duplicated.
Result<NamedSeries> NameSeries(std::string_view metric, std::span<const Label> labels,
                               const NamingRules& rules);

/// Receives the series of a request. A request consists of items, each of which is stored or
/// rejected. An item is a sample, or a data point that becomes several points.
class LabelledSink {
 public:
  virtual ~LabelledSink() = default;
  /// Sets the series of the following items.
  virtual void SetSeries(std::string_view metric, std::span<const Label> labels) = 0;
  /// Begins an item of the request. The points that are added next belong to this item.
  virtual void BeginItem() = 0;
  virtual void Add(int64_t time_ms, PointValue value) = 0;
  /// Rejects the current item.
  virtual void Refuse(std::string_view reason) = 0;
};

/// Returns `metric{name="value", …}` for messages to users. Very long texts are truncated.
std::string SeriesText(std::string_view metric, std::span<const Label> labels);

}  // namespace hg::http
