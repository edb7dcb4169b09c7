#pragma once
// /api/v1/labels, /api/v1/label/NAME/values and /api/v1/series of Prometheus, from Hourglass's own
// index. The time range is ignored: all existing series are returned.

#include "http/request/services.h"

namespace hg::http {

void HandlePromLabels(const Request& request, Services& services, ResponseWriter& out);
void HandlePromLabel(const Request& request, Services& services, ResponseWriter& out);
void HandlePromSeries(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
