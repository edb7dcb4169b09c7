#include "query/promql/annotations.h"

#include <algorithm>
#include <utility>

namespace hg::query::promql {

void Annotations::Add(Remark kind, size_t at, std::string text) {
  const auto same = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& other) {
    return other.kind == kind && other.text == text;
  });
  if (same != entries_.end()) {
    same->at = at;
    return;
  }
  const auto kept = std::count_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& other) { return other.kind == kind; });
  if (static_cast<size_t>(kept) == kMost) {
    more_[static_cast<size_t>(kind)] = true;
  } else {
    entries_.push_back({kind, at, std::move(text)});
  }
}

std::vector<std::string> Annotations::Texts(Remark kind, std::string_view query) const {
  const std::string word = kind == Remark::kWarning ? "warning" : "info";
  std::vector<std::string> texts;
  for (const Entry& entry : entries_) {
    if (entry.kind != kind) continue;
    texts.push_back("PromQL " + word + ": " + entry.text + " (" + PlaceText(query, entry.at) + ")");
  }
  if (more_[static_cast<size_t>(kind)]) texts.push_back("more " + word + " annotations omitted");
  return texts;
}

std::string PlaceText(std::string_view query, size_t at) {
  const std::string_view before = query.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 = 0
  return std::to_string(line) + ":" + std::to_string(at - line_begin + 1);
}

}  // namespace hg::query::promql
