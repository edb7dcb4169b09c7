#pragma once
// Sends the files of the embedded web page (http/page/files.h).

#include <string_view>

#include "http/page/files.h"
#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

/// Returns a file of the web page. `path` is the part of the request's path after "/s/". Returns
/// nullptr if the web page of this build has no file with that path.
const page::File* FindPageFile(std::string_view path);

/// Sends a file of the web page. Browsers may cache the file without a time limit, because a file
/// with other contents gets another path.
void SendPageFile(const page::File& file, const Request& request, ResponseWriter& out);

/// Sends index.html. Browsers request index.html each time, and get 304 if they already have the
/// current version.
void SendPageIndex(const Request& request, ResponseWriter& out);

}  // namespace hg::http
