#pragma once
// Sends the files of the embedded web page (http/page/files.h).

#include <string_view>

#include "http/page/files.h"
#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

/// Returns the file of the web page for the part of a path after "/s/". Returns nullptr if the web
/// page has no file with that path in this build.
const page::File* FindPageFile(std::string_view path);

/// Sends a file of the web page. Browsers may cache it without limit, because a file whose content
/// changes gets another path.
void SendPageFile(const page::File& file, const Request& request, ResponseWriter& out);

/// Sends index.html. Browsers request it each time, and get 304 if they already have this version.
void SendPageIndex(const Request& request, ResponseWriter& out);

}  // namespace hg::http
