#pragma once
// /federate of Prometheus: the newest samples of selected series, in the text format for scrapes.

#include "http/request/services.h"

namespace hg::http {

/// Series are selected by match[]; without it the response is empty. A series without a sample in
/// the last five minutes, or whose newest sample is a stale marker, is left out. Clients that
/// accept "escaping=allow-utf-8" get names in quotes where they need them. For others, characters
/// that the format does not allow in names become '_'.
void HandleFederate(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
