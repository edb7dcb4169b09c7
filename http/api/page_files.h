#pragma once
// The embedded page (http/page/files.h) as replies.

#include <string_view>

#include "http/page/files.h"
#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

/// The file of a path behind "/s/"; nullptr if it is none of the page's, or one of another build.
const page::File* FindPageFile(std::string_view path);

/// One of the page's own, whose content cannot change: for the browser to keep.
void SendPageFile(const page::File& file, const Request& request, ResponseWriter& out);

/// index.html; asked for anew each time, answered with 304 where the browser has this build's.
void SendPageIndex(const Request& request, ResponseWriter& out);

}  // namespace hg::http
