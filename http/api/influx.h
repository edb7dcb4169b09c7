#pragma once
// InfluxDB's API as far as its writers need it (docs/languages.md): lines, the exact way, and what
// Telegraf and the client libraries ask before they write. The connection tries lines the fast way
// first (http/wire/influx_lines.h).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// /write, /api/v2/write: 204, or 400 "partial write: …" that names the bad lines; the good ones
/// are stored. POST only. Blocks.
void HandleInfluxWrite(const Request& request, Services& services, ResponseWriter& out);

/// /query: statements that make databases are done before they are asked for; others are refused.
void HandleInfluxQuery(const Request& request, Services& services, ResponseWriter& out);

void HandleInfluxPing(const Request& request, Services& services, ResponseWriter& out);
void HandleInfluxHealth(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
