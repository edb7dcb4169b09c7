#pragma once
// /api/v1/status/tsdb of Prometheus: how many series the store has, and which metrics and labels
// have most of them.

#include "http/services.h"

namespace hg::http {

/// Visits every series of the store. A store that does not list its series by number (HBase) has
/// empty lists.
void HandlePromTsdb(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
