#pragma once
// Words of a line as UTF-8, and its tags with OpenTSDB's checks and texts (Tags.parse; spec
// http-api.md §19.3).

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/point_sink.h"

namespace hg::http {

/// Keeps the texts that its results borrow.
class LineTexts {
 public:
  /// UTF-8 of bytes of the wire, which are ISO-8859-1.
  std::string_view Text(std::string_view latin1);
  /// Keeps a text of ours.
  std::string_view Keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  /// Reads words[first…] as tags, in the order of OpenTSDB's map. Empty: taken; else what to say
  /// behind the command.
  std::string ParseTags(const std::vector<std::string_view>& words, size_t first,
                        std::vector<TagText>* tags);

  void Clear() { texts_.clear(); }

 private:
  std::deque<std::string> texts_;
};

/// Puts the tags in the order of OpenTSDB's map.
void OrderTags(std::vector<TagText>* tags);

}  // namespace hg::http
