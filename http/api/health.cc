#include "http/api/health.h"

#include "http/errors.h"
#include "http/replies.h"
#include "http/services.h"

namespace hg::http {
namespace {

bool RefuseVerb(const Request& request, ResponseWriter& out) {
  if (request.method == Method::kGet || request.method == Method::kHead) return false;
  SendMethodNotAllowed(out, request);
  return true;
}

}  // namespace

Status Readiness(Services& services) {
  bool stopping = false;
  if (services.collect_stats) {
    services.collect_stats([&stopping](const std::string& name, const std::string&, int64_t value) {
      stopping = stopping || (name == kStoppingStat && value != 0);
    });
  }
  if (stopping) return Status::Unavailable("stopping");
  // In read-only mode it does not matter whether the store can take points.
  if (services.options.mode == Mode::kReadOnly) return {};
  // An empty batch is refused like any other, and changes nothing.
  return services.points.Append({}).status();
}

void HandleHealthz(const Request& request, Services&, ResponseWriter& out) {
  if (RefuseVerb(request, out)) return;
  SendBody(out, 200, "text/plain", "ok\n");
}

void HandleReadyz(const Request& request, Services& services, ResponseWriter& out) {
  if (RefuseVerb(request, out)) return;
  const Status ready = Readiness(services);
  if (ready.ok()) return SendBody(out, 200, "text/plain", "ready\n");
  SendBody(out, 503, "text/plain", std::string(ready.message()) + "\n");
}

}  // namespace hg::http
