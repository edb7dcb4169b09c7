#pragma once
// /api/v1/labels, /api/v1/label/NAME/values and /api/v1/series of Prometheus, from our own index:
// every series that there is, whenever it has samples.

#include "http/services.h"

namespace hg::http {

void HandlePromLabels(const Request& request, Services& services, ResponseWriter& out);
void HandlePromLabel(const Request& request, Services& services, ResponseWriter& out);
void HandlePromSeries(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
