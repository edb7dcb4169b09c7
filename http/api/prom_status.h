#pragma once
// /api/v1/metadata and /api/v1/status/buildinfo of Prometheus: what clients ask to learn whom they
// talk to.

#include "http/services.h"

namespace hg::http {

/// Types and help texts of metrics, of which nothing is stored: an empty object.
void HandlePromMetadata(const Request& request, Services& services, ResponseWriter& out);
void HandlePromBuildInfo(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
