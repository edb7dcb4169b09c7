#pragma once
// Points of other products' languages on their way to the sink: names escaped, the default tag
// where there is none, another key where that is the only one (docs/languages.md), and the texts
// that they borrow.

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/counters.h"
#include "http/options.h"
#include "storage/base/status.h"
#include "storage/model/escaped_name.h"
#include "storage/model/point_sink.h"

namespace hg::http {

/// One thread at a time.
class ForeignPoints {
 public:
  /// `options` outlive the object.
  explicit ForeignPoints(const Options& options)
      : options_(options), rules_(options.extra_name_characters) {}

  /// The tags of the points that are added from now on, until Clear. InvalidArgument: a text is no
  /// UTF-8.
  Status SetTags(std::span<const std::pair<std::string, std::string>> tags);
  /// Behind SetTags. `spelling`: the caller's bytes (NamedPoint). InvalidArgument as above.
  Status Add(std::string_view metric, Timestamp time, const PointValue& value,
             Spelling spelling = {});

  [[nodiscard]] const std::vector<NamedPoint>& points() const { return points_; }
  /// What is held until Clear, about, with what the refusals of the points may repeat.
  [[nodiscard]] size_t bytes() const { return bytes_; }
  void Clear();

 private:
  Result<std::string_view> Escaped(std::string_view what, std::string_view name);

  const Options& options_;
  const NameRules rules_;
  std::vector<NamedPoint> points_;
  std::deque<std::vector<TagText>> tags_;  // of the points
  std::deque<std::string> texts_;          // names
  size_t bytes_ = 0, bytes_of_tags_ = 0;   // of all; of the last tags
};

/// Counts a verdict of AppendNamed that is not ok. True: the point is at fault; false: the store
/// is, or a rate that was met, so that the client should send it again.
bool CountRefusal(const Status& verdict, Counters* counters);

}  // namespace hg::http
