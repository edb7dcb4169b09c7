#include "http/request/client_notes.h"

#include "query/promql/label_names.h"
#include "storage/base/status.h"

namespace hg::http {

void ClientNotes::Describe(const MetricDescription& description) {
  std::string_view metric = description.metric;
  std::string underscored;
  if (options_.underscore_names) metric = underscored = query::UnderscoredName(metric);
  if (metric.empty() || metric.size() > kTextBytesMax) return;
  constexpr uint64_t kEntryBytes = 256;  // memory of a map node with four strings
  const MutexLock lock(mutex_);
  auto place = metrics_.find(metric);
  if (place == metrics_.end()) {
    const uint64_t bytes = bytes_ + kEntryBytes + metric.size();
    if (bytes > options_.description_bytes_max) return;
    bytes_ = bytes;
    place = metrics_.emplace(metric, Texts()).first;
  }
  Replace(description.type, &place->second.type);
  Replace(description.help, &place->second.help);
  Replace(description.unit, &place->second.unit);
}

void ClientNotes::Replace(std::string_view text, std::string* kept) {
  if (text.empty() || text == *kept) return;
  const std::string shortened = Shortened(text, kTextBytesMax);
  const uint64_t bytes = bytes_ - kept->size() + shortened.size();
  if (bytes > options_.description_bytes_max) return;
  bytes_ = bytes;
  *kept = std::string(shortened);  // a copy has no spare capacity
}

std::vector<ClientNotes::Description> ClientNotes::Descriptions(std::string_view first,
                                                                size_t max) const {
  std::vector<Description> found;
  const MutexLock lock(mutex_);
  for (auto at = metrics_.lower_bound(first); at != metrics_.end() && found.size() < max; ++at)
    found.push_back({at->first, at->second.type, at->second.help, at->second.unit});
  return found;
}

void ClientNotes::AddDatabase(std::string_view name) {
  if (name.empty() || name.size() > kDatabaseNameBytesMax) return;
  const MutexLock lock(mutex_);
  if (databases_.size() < kDatabasesMax) databases_.emplace(name);
}

std::vector<std::string> ClientNotes::Databases() const {
  const MutexLock lock(mutex_);
  return {databases_.begin(), databases_.end()};
}

}  // namespace hg::http
