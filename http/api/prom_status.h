#pragma once
// Requests by which clients identify a Prometheus server and list its other data: rules, alerts,
// targets, and /api/v1/status.

#include "http/request/services.h"

namespace hg::http {

/// Returns empty lists of targets, metadata of targets, rules, alerts and Alertmanagers, because
/// Hourglass has none of them. Some clients request these lists from every data source and would
/// show an error otherwise.
void HandlePromNothing(const Request& request, Services& services, ResponseWriter& out);

void HandlePromBuildInfo(const Request& request, Services& services, ResponseWriter& out);
/// The settings as YAML.
void HandlePromConfig(const Request& request, Services& services, ResponseWriter& out);
/// The settings as texts.
void HandlePromFlags(const Request& request, Services& services, ResponseWriter& out);
void HandlePromRuntimeInfo(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
