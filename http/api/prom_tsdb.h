#pragma once
// /api/v1/status/tsdb of Prometheus: how many series the store has, and which metrics and labels
// have most of them.

#include "http/request/services.h"

namespace hg::http {

/// Visits every series of the store. With HBase, the lists are empty, because that store does not
/// number its series.
void HandlePromTsdb(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
