#pragma once
// /api/uid/…: assign and rename here, uidmeta and tsmeta in files of their own (spec http-api.md
// §17).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// Any verb; the third segment says what is asked, and each checks its verbs. Others are 501.
void HandleUid(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
