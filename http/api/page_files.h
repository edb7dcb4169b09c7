#pragma once
// Sends the files of the embedded web page (http/page/files.h).

#include <string_view>

#include "http/page/files.h"
#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

/// The file for a path behind "/s/". nullptr: not a file of the page, or of another build.
const page::File* FindPageFile(std::string_view path);

/// Sends a file of the page. Its content cannot change under that path, so browsers may cache it.
void SendPageFile(const page::File& file, const Request& request, ResponseWriter& out);

/// Sends index.html. Browsers request it each time, and get 304 if they have this build's file.
void SendPageIndex(const Request& request, ResponseWriter& out);

}  // namespace hg::http
