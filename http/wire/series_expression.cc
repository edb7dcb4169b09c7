#include "http/wire/series_expression.h"

#include <algorithm>

namespace hg::http {
namespace {

Result<TagWish> ParseTag(std::string_view text) {
  TagWish wish;
  if (text.size() > 1 && text.front() == '=') {
    wish.value = text.substr(1);  // may contain another '='
    return wish;
  }
  if (text.size() > 1 && text.back() == '=') {
    wish.key = text.substr(0, text.size() - 1);
    return wish;
  }
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || text.size() == 1 ||
      text.find('=', equals + 1) != std::string_view::npos)
    return Status::InvalidArgument("When parsing tag '" + std::string(text) +
                                   "': invalid tag: " + std::string(text));
  wish.key = text.substr(0, equals);
  wish.value = text.substr(equals + 1);
  return wish;
}

}  // namespace

Result<SeriesExpression> ParseSeriesExpression(std::string_view text) {
  SeriesExpression expression;
  const size_t brace = text.find('{');
  if (brace == std::string_view::npos) {
    expression.metric = text;
    return expression;
  }
  if (text.back() != '}')
    return Status::InvalidArgument("Missing '}' at the end of: " + std::string(text));
  if (brace > 0) expression.metric = text.substr(0, brace);
  std::string_view rest = text.substr(brace + 1, text.size() - brace - 2);
  while (!rest.empty()) {
    const std::string_view tag = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), tag.size() + 1));
    ASSIGN_OR_RETURN(TagWish wish, ParseTag(tag));
    expression.tags.push_back(std::move(wish));
  }
  return expression;
}

}  // namespace hg::http
