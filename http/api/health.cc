#include "http/api/health.h"

#include <map>
#include <string>

#include "http/api/handlers.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"

namespace hg::http {
namespace {

bool RefuseVerb(const Request& request, ResponseWriter& out) {
  if (request.method == Method::kGet || request.method == Method::kHead) return false;
  SendMethodNotAllowed(out, request);
  return true;
}

/// Returns the values of all statistics without tags, by name.
std::map<std::string, int64_t> UntaggedStats(Services& services) {
  std::map<std::string, int64_t> stats;
  if (services.collect_stats) {
    services.collect_stats(
        [&stats](const std::string& name, const std::string& tags, int64_t value) {
          if (tags.empty()) stats.emplace(name, value);
        });
  }
  return stats;
}

/// Returns "" if new series are accepted, otherwise a line that lists the uses of the memory for
/// series.
std::string SeriesRefusal(Services& services) {
  if (services.options.mode == Mode::kReadOnly) return {};
  auto stats = UntaggedStats(services);
  const bool full = stats[std::string(kSeriesFullStat)] != 0;
  if (!full && stats[std::string(kSeriesRefusedNowStat)] == 0) return {};
  const auto megabytes = [&stats](const char* name) {
    return std::to_string(stats[name] >> 20) + " MB";
  };
  return "new series and names are refused" +
         (full ? ": "
               : " until a flush: unflushed data (" + megabytes("storage.memory.bytes") + "), ") +
         "series (" + megabytes("storage.registry.bytes") + "), names (" +
         megabytes("storage.names.bytes") + ") and indexes of files (" +
         megabytes("storage.files.memory_bytes") + ") nearly fill their budget of " +
         megabytes("storage.memory.limit") + "\n";
}

/// Returns "" if large queries get memory, otherwise a line that says how much queries take.
std::string QueryRefusal(Services& services) {
  const query::MemoryBudget& budget = services.queries.running().budget();
  if (!budget.refuses_large()) return {};
  return "large queries are refused: running queries (" + std::to_string(budget.taken() >> 20) +
         " MB) nearly fill their budget of " + std::to_string(budget.limit() >> 20) + " MB\n";
}

}  // namespace

Status Readiness(Services& services) {
  if (UntaggedStats(services)[std::string(kStoppingStat)] != 0)
    return Status::Unavailable("stopping");
  // In read-only mode it does not matter whether the store can take points.
  if (services.options.mode == Mode::kReadOnly) return {};
  // Appending an empty batch changes nothing, but it fails if other batches would fail.
  return services.points.Append({}).status();
}

void HandleHealthz(const Request& request, Services&, ResponseWriter& out) {
  if (RefuseVerb(request, out)) return;
  SendBody(out, 200, "text/plain", "ok\n");
}

void HandleReadyz(const Request& request, Services& services, ResponseWriter& out) {
  if (RefuseVerb(request, out)) return;
  const Status ready = Readiness(services);
  if (ready.ok()) {
    return SendBody(out, 200, "text/plain",
                    "ready\n" + SeriesRefusal(services) + QueryRefusal(services));
  }
  SendBody(out, 503, "text/plain", std::string(ready.message()) + "\n");
}

}  // namespace hg::http
