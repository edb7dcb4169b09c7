#pragma once
// Parses put lines of the telnet protocol. The checks and the error messages are those of OpenTSDB
// (PutDataPointRpc, Tags.parse; opentsdb-http-api.md §19.3).

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "http/telnet/tag_words.h"
#include "storage/model/point_sink.h"

namespace hg::http {

/// The points of put lines, and the converted texts to which the points refer.
class PutLines {
 public:
  /// Adds the point of one put line. `line` is the whole line, and `words` are its words, of which
  /// the first is "put". The bytes of the line must stay valid until Clear, because the point may
  /// refer to them. Returns "" on success, and otherwise the error message that the caller must
  /// send after "put: ".
  std::string Add(std::string_view line, const std::vector<std::string_view>& words);

  [[nodiscard]] const std::vector<NamedPoint>& points() const { return points_; }
  void Clear();

 private:
  std::vector<NamedPoint> points_;
  std::deque<std::vector<TagText>> tags_;
  LineTexts texts_;
};

}  // namespace hg::http
