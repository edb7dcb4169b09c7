#pragma once
// Requests by which clients identify a Prometheus server and list its other data: rules, alerts,
// targets, and /api/v1/status.

#include "http/services.h"

namespace hg::http {

/// Returns empty lists of what Hourglass does not have: targets and what is scraped from them,
/// rules, alerts and Alertmanagers. Clients that list these of all data sources get no error.
void HandlePromNothing(const Request& request, Services& services, ResponseWriter& out);

void HandlePromBuildInfo(const Request& request, Services& services, ResponseWriter& out);
/// The settings as YAML.
void HandlePromConfig(const Request& request, Services& services, ResponseWriter& out);
/// The settings as texts.
void HandlePromFlags(const Request& request, Services& services, ResponseWriter& out);
void HandlePromRuntimeInfo(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
