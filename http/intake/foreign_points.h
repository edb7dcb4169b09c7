#pragma once
// Converts points of InfluxDB, Prometheus, OTLP and Graphite for the PointSink (docs/ingestion.md).
// ForeignPoints escapes names, adds the default tag to points without tags, and owns the converted
// texts. If a client sends the default tag as the only tag of a point, ForeignPoints adds a suffix
// to the tag key, so that the point is not confused with a point without tags.

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/request/options.h"
#include "storage/base/status.h"
#include "storage/model/escaped_name.h"
#include "storage/model/point_sink.h"

namespace hg::http {

/// A batch of points that were converted from InfluxDB, Prometheus, OTLP or Graphite. The object
/// owns the texts of the points until Clear. Only one thread at a time may use the object.
class ForeignPoints {
 public:
  /// `options` must outlive the object, which reads its naming settings.
  explicit ForeignPoints(const Options& options)
      : options_(options), rules_(options.extra_name_characters) {}

  /// Sets the tags of all points that are added from now until the next SetTags or Clear.
  /// InvalidArgument: a text is not UTF-8.
  Status SetTags(std::span<const std::pair<std::string, std::string>> tags);
  /// Adds a point that has the tags of the last SetTags, which must have been called before.
  /// `raw_key` is the raw series key that the client sent (NamedPoint). The object does not copy
  /// the bytes of `raw_key`. InvalidArgument: the metric is not UTF-8.
  Status Add(std::string_view metric, Timestamp time, const PointValue& value, RawKey raw_key = {});

  [[nodiscard]] const std::vector<NamedPoint>& points() const { return points_; }
  /// Returns the approximate number of bytes of memory that the points need until Clear. The number
  /// includes the tags once for each point, because the error message of a point may repeat them.
  [[nodiscard]] size_t bytes() const { return bytes_; }
  void Clear();

 private:
  Result<std::string_view> Escaped(std::string_view what, std::string_view name);

  const Options& options_;
  const NameRules rules_;
  std::vector<NamedPoint> points_;
  std::deque<std::vector<TagText>> tags_;  // one element for each call of SetTags
  std::deque<std::string> texts_;          // the escaped names of the points and tags
  /// bytes() returns bytes_. bytes_of_tags_ is the memory of the tags that SetTags set last.
  size_t bytes_ = 0, bytes_of_tags_ = 0;
};

}  // namespace hg::http
