#pragma once
// Series as other systems name them: a metric and labels of any text. One rule for every language
// of protobuf makes OpenTSDB's names of them (docs/languages.md).

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

/// The label under which Prometheus keeps the metric's name; no other label is called so.
inline constexpr std::string_view kNameLabel = "__name__";

/// Borrowed.
struct Label {
  std::string_view name;
  std::string_view value;

  bool operator==(const Label&) const = default;
};

/// Appends labels to the bytes by which their series is known the next time (Spelling::tags): each
/// text behind its length as a varint. With the metric as sent they are a spelling of
/// Dialect::kLabels. Another dialect's it must not be: halves of spellings are known each by
/// itself, and a metric that is escaped here, or no labels at all, mean something else elsewhere.
void AppendLabels(std::span<const Label> labels, Bytes* spelled);

/// The labels of such a spelling; nothing of it was appended otherwise.
std::vector<Label> ReadLabels(ByteView spelled);

/// A series as OpenTSDB names it.
struct NamedSeries {
  std::string metric;
  std::vector<std::pair<std::string, std::string>> tags;  // as NamedPoint wants them
};

/// How NameSeries makes names.
struct NamingRules {
  NameRules names;
  /// Of series without labels, which OpenTSDB does not know: a legal key and value.
  std::string default_key = "source", default_value = "unknown";
};

/// Names and values are escaped. A label without a value is none. InvalidArgument: the metric or a
/// label has no name, or a label stands there twice.
Result<NamedSeries> NameSeries(std::string_view metric, std::span<const Label> labels,
                               const NamingRules& rules);

/// Takes what a request says of series. A request consists of items, each stored or refused: a
/// sample, or a data point that becomes several points.
class LabelledSink {
 public:
  virtual ~LabelledSink() = default;
  /// What follows is this series', until the next one.
  virtual void SetSeries(std::string_view metric, std::span<const Label> labels) = 0;
  /// What follows is of one item.
  virtual void BeginItem() = 0;
  virtual void Add(int64_t time_ms, PointValue value) = 0;
  /// The item cannot be stored.
  virtual void Refuse(std::string_view reason) = 0;
};

/// `metric{name="value", …}` for people, cut where it is very long.
std::string SeriesText(std::string_view metric, std::span<const Label> labels);

}  // namespace hg::http
