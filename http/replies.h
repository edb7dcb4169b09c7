#pragma once
// Success replies with the headers of spec http-api.md §5: Content-Type by version, jsonp.

#include <string>
#include <string_view>

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

/// Content-Type of an unversioned (or /api/v0) reply: by the path's ending, else by the first byte
/// of the body (0 if there is none).
std::string_view GuessContentType(const Request& request, char first_byte);

/// The Content-Type of a JSON reply to this request: guessed like those, with a charset below
/// /api/v1.
std::string_view JsonContentType(const Request& request);

/// The callback of jsonp=; "" if absent or empty, or on unversioned paths, which ignore it.
std::string_view JsonpCallback(const Request& request);

/// False where jsonp= is there without a name: the error was sent.
bool RequireCallbackName(const Request& request, ResponseWriter& out);

/// A whole JSON document, wrapped for jsonp. An empty jsonp= gives 500 "Missing callback name",
/// below tree and where metadata and annotations are written 400 (§4.2); endpoints that take it as
/// absent (query) write the document themselves.
void SendJson(ResponseWriter& out, const Request& request, std::string_view json, int status = 200);

/// Body of another type.
void SendBody(ResponseWriter& out, int status, std::string_view content_type,
              std::string_view body);

/// 204 after DELETE and every 304: no Content-Type, no body.
void SendEmpty(ResponseWriter& out, int status);

}  // namespace hg::http
