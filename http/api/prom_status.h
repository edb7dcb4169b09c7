#pragma once
// What clients ask a Prometheus to learn whom they talk to, and what it has beside series:
// /api/v1/metadata, rules, alerts, status/buildinfo.

#include "http/services.h"

namespace hg::http {

/// Types and help texts of metrics, of which nothing is stored: an empty object.
void HandlePromMetadata(const Request& request, Services& services, ResponseWriter& out);
/// There are none: empty lists, so that who shows those of all data sources shows no failure here.
void HandlePromAlerts(const Request& request, Services& services, ResponseWriter& out);
void HandlePromRules(const Request& request, Services& services, ResponseWriter& out);
void HandlePromBuildInfo(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
