#pragma once
// Requests by which clients identify a Prometheus server and list its other data: /api/v1/metadata,
// rules, alerts, status/buildinfo.

#include "http/services.h"

namespace hg::http {

/// Returns an empty object, because types and help texts of metrics are not stored.
void HandlePromMetadata(const Request& request, Services& services, ResponseWriter& out);
/// Return empty lists, so that clients that show alerts and rules of all data sources get no error.
void HandlePromAlerts(const Request& request, Services& services, ResponseWriter& out);
void HandlePromRules(const Request& request, Services& services, ResponseWriter& out);
void HandlePromBuildInfo(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
