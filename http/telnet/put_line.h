#pragma once
// A put line taken apart with OpenTSDB's checks and texts (PutDataPointRpc, Tags.parse; spec
// http-api.md §19.3).

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "http/telnet/tag_words.h"
#include "storage/model/point_sink.h"

namespace hg::http {

/// Points and the texts they borrow.
class PutLines {
 public:
  /// Adds the point of one line, given as its words ("put" first) and as a whole. Empty: taken;
  /// else what to say behind "put: ".
  std::string Add(std::string_view line, const std::vector<std::string_view>& words);

  [[nodiscard]] const std::vector<NamedPoint>& points() const { return points_; }
  void Clear();

 private:
  std::vector<NamedPoint> points_;
  std::deque<std::vector<TagText>> tags_;
  LineTexts texts_;
};

}  // namespace hg::http
