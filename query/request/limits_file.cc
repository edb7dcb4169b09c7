#include "query/request/limits_file.h"

#include <fstream>
#include <sstream>

#include "query/request/json_array.h"

namespace hg::query {

Result<std::vector<MetricLimits>> ParseLimitsFile(std::string_view json) {
  rapidjson::Document document;
  RETURN_IF_ERROR(ParseJsonArray(json, "limits", &document));
  std::vector<MetricLimits> out;
  for (const auto& item : document.GetArray()) {
    if (!item.IsObject() || !item.HasMember("regex") || !item["regex"].IsString()) {
      return Status::InvalidArgument("every entry needs a \"regex\"");
    }
    MetricLimits limits;
    ASSIGN_OR_RETURN(limits.pattern, uid::JavaPattern::Compile(item["regex"].GetString()));
    for (auto [key, field] :
         {std::pair{"byteLimit", &limits.bytes_max}, {"dataPointsLimit", &limits.cells_max}}) {
      auto member = item.FindMember(key);
      if (member == item.MemberEnd()) continue;
      if (!member->value.IsInt64())
        return Status::InvalidArgument(std::string("\"") + key + "\" must be an integer");
      *field = member->value.GetInt64();
    }
    out.push_back(std::move(limits));
  }
  return out;
}

Status LimitsFile::Reload() {
  loaded_ns_ = clock_.MonotonicNs();
  if (path_.starts_with('[')) {
    Result<std::vector<MetricLimits>> entries = ParseLimitsFile(path_);
    if (!entries.ok()) return Prepend(entries.status(), "The limits " + path_);
    entries_ = std::move(*entries);
    loaded_ = true;
    return {};
  }
  std::ifstream file(path_, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Status::InvalidArgument("The file of query limits cannot be read: " + path_);
  Result<std::vector<MetricLimits>> entries = ParseLimitsFile(text.str());
  if (!entries.ok()) return Prepend(entries.status(), "The file of query limits " + path_);
  entries_ = std::move(*entries);
  loaded_ = true;
  return {};
}

Result<bool> LimitsFile::Find(std::string_view metric, RequestContext& context, int64_t* bytes_max,
                              int64_t* cells_max) {
  if (path_.empty()) return false;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) {  // another thread may be reading the file
    RETURN_IF_ERROR(context.MayWait());
    lock.lock();
  }
  if (!loaded_ || clock_.MonotonicNs() - loaded_ns_ > interval_ns_) {
    RETURN_IF_ERROR(context.MayWait());
    Status status = Reload();
    if (!status.ok() && !loaded_) return status;
  }
  for (const MetricLimits& entry : entries_) {
    if (!entry.pattern->Search(metric)) continue;
    *bytes_max = entry.bytes_max;
    *cells_max = entry.cells_max;
    return true;
  }
  return false;
}

}  // namespace hg::query
