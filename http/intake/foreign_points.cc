#include "http/intake/foreign_points.h"

#include "storage/model/utf8.h"

namespace hg::http {

Status ForeignPoints::SetTags(std::span<const std::pair<std::string, std::string>> tags) {
  const size_t before = bytes_;
  std::vector<TagText>& mine = tags_.emplace_back();
  for (const auto& [key, value] : tags) {
    ASSIGN_OR_RETURN(const std::string_view name, Escaped("tag key", key));
    ASSIGN_OR_RETURN(const std::string_view text, Escaped("tag value", value));
    mine.push_back({name, text});
  }
  if (mine.empty()) {
    mine.push_back({options_.default_tag_key, options_.default_tag_value});
  } else if (mine.size() == 1 && mine[0].key == options_.default_tag_key &&
             mine[0].value == options_.default_tag_value) {
    // The client really sent the default tag, as its only tag. MarkedName changes the key, so that
    // the series differs from a series without tags, as in NameSeries.
    mine[0].key = texts_.emplace_back(MarkedName(mine[0].key));
  }
  bytes_ += sizeof(mine) + mine.capacity() * sizeof(TagText);
  bytes_of_tags_ = bytes_ - before;
  return {};
}

Status ForeignPoints::Add(std::string_view metric, Timestamp time, const PointValue& value,
                          RawKey raw_key) {
  ASSIGN_OR_RETURN(const std::string_view name, Escaped("metric", metric));
  points_.push_back({name, tags_.back(), time, value, raw_key});
  bytes_ += sizeof(NamedPoint) + bytes_of_tags_;
  return {};
}

void ForeignPoints::Clear() {
  points_.clear();
  tags_.clear();
  texts_.clear();
  bytes_ = bytes_of_tags_ = 0;
}

Result<std::string_view> ForeignPoints::Escaped(std::string_view what, std::string_view name) {
  std::string& escaped = texts_.emplace_back();
  const bool good = AppendEscapedName(name, rules_, &escaped);
  bytes_ += sizeof(escaped) + escaped.capacity();
  if (good) return std::string_view(escaped);
  std::string shown(name);
  ReplaceInvalidUtf8(&shown);
  return Status::InvalidArgument("the " + std::string(what) + " \"" + shown + "\" is no UTF-8");
}

}  // namespace hg::http
