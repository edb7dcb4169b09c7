#pragma once
// /healthz and /readyz: what a service manager or a load balancer asks every few seconds.

#include <string_view>

#include "http/request.h"
#include "http/response_writer.h"
#include "storage/base/status.h"

namespace hg::http {

struct Services;

/// The number that the daemon shows among its statistics: 1 once it was told to stop.
inline constexpr std::string_view kStoppingStat = "stopping";

/// Why no request should be sent here now; ok: nothing speaks against it. Waits for no disk.
Status Readiness(Services& services);

/// GET, HEAD: 200 as long as the process answers at all. If it does not, only a restart helps.
void HandleHealthz(const Request& request, Services& services, ResponseWriter& out);

/// GET, HEAD: 200, or 503 with the reason while requests had better go elsewhere.
void HandleReadyz(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
