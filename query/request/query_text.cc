#include "query/request/query_text.h"

#include <string_view>

namespace hg::query {
namespace {

constexpr std::string_view kCut = "…";

/// Appends text up to the maximum length. Replaces control characters, which would break a line of
/// the log.
class Line {
 public:
  explicit Line(size_t bytes_max) : bytes_max_(bytes_max) {}

  Line& operator<<(std::string_view text) {
    if (full()) return *this;
    for (char c : text.substr(0, bytes_max_ - text_.size()))
      text_.push_back(static_cast<unsigned char>(c) < ' ' || c == 0x7F ? '?' : c);
    cut_ = cut_ || text_.size() == bytes_max_;
    return *this;
  }
  [[nodiscard]] bool full() const { return cut_; }

  std::string Take() {
    if (!cut_) return std::move(text_);
    // Does not cut in the middle of a character.
    while (!text_.empty() && (static_cast<unsigned char>(text_.back()) & 0xC0) == 0x80)
      text_.pop_back();
    if (!text_.empty() && static_cast<unsigned char>(text_.back()) >= 0xC0) text_.pop_back();
    return std::move(text_.append(kCut));
  }

 private:
  const size_t bytes_max_;
  std::string text_;
  bool cut_ = false;
};

void AddFilters(const SubQuery& query, bool group_by, Line* line) {
  *line << "{";
  bool first = true;
  for (const FilterSpec& filter : query.filters) {
    if (filter.group_by != group_by) continue;
    *line << (first ? "" : ",") << filter.tagk << "=" << filter.type << "(" << filter.filter << ")";
    first = false;
    if (line->full()) return;
  }
  *line << "}";
}

void AddSubQuery(const SubQuery& query, Line* line) {
  const bool by_tsuid = query.tsuids && !query.tsuids->empty();
  *line << (by_tsuid ? "&tsuid=" : "&m=") << query.aggregator.value_or("");
  if (query.downsample) *line << ":" << *query.downsample;
  if (query.rate) *line << ":rate";
  if (query.value_filter) *line << ":value" << *query.value_filter;
  if (query.explicit_tags) *line << ":explicit_tags";
  *line << ":";
  if (by_tsuid) {
    for (size_t i = 0; i < query.tsuids->size() && !line->full(); ++i)
      *line << (i > 0 ? "," : "") << (*query.tsuids)[i];
    return;
  }
  *line << query.metric.value_or("");
  bool grouping = false, plain = false;
  for (const FilterSpec& filter : query.filters) (filter.group_by ? grouping : plain) = true;
  if (grouping || plain) AddFilters(query, true, line);
  if (plain) AddFilters(query, false, line);
}

}  // namespace

std::string QueryText(const Request& request, size_t bytes_max) {
  Line line(bytes_max);
  line << "start=" << request.start;
  if (request.end) line << "&end=" << *request.end;
  for (const SubQuery& query : request.queries) {
    if (line.full()) break;
    AddSubQuery(query, &line);
  }
  return line.Take();
}

}  // namespace hg::query
