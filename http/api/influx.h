#pragma once
// The part of InfluxDB's HTTP API that writing clients need (docs/ingestion.md). It includes the
// slow path for line protocol, and the replies to requests that Telegraf and the client libraries
// send before they write. The connection first tries the fast path (http/wire/influx_lines.h).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// /write, /api/v2/write: 204, or 400 "partial write: …" that names the invalid lines; valid lines
/// are stored. POST only. Blocks.
void HandleInfluxWrite(const Request& request, Services& services, ResponseWriter& out);

/// /query: CREATE DATABASE notes the name, and SHOW DATABASES lists the noted names. CREATE
/// RETENTION POLICY is confirmed without doing anything. Other statements get 400.
void HandleInfluxQuery(const Request& request, Services& services, ResponseWriter& out);

void HandleInfluxPing(const Request& request, Services& services, ResponseWriter& out);
void HandleInfluxHealth(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
