#include "http/api/page_files.h"

#include <algorithm>
#include <string>

#include "http/request/replies.h"
#include "storage/base/invariant.h"

namespace hg::http {
namespace {

constexpr std::string_view kFolder = "page-";

// The page loads nothing from other sites and runs no inline scripts, so metric names and values
// cannot run code. Other pages must not embed this page, because it has a button that cancels
// queries.
constexpr std::string_view kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const page::File* Named(std::string_view name) {
  const auto files = page::Files();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const page::File& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

std::string_view TypeOf(std::string_view name) {
  if (name.ends_with(".js")) return "text/javascript; charset=UTF-8";
  if (name.ends_with(".css")) return "text/css; charset=UTF-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  if (name.ends_with(".html")) return "text/html; charset=UTF-8";
  return "text/plain; charset=UTF-8";
}

// Returns the tag of index.html. The checksum in the tag includes this source file, because the
// headers may change with this file. After a 304 response, the browser keeps using some of the
// headers that it stored. The tag is weak, because the same content is sent compressed or
// uncompressed (RFC 9110 §8.8.1).
std::string EntityTag() { return "W/\"" + std::string(page::FilesSum()) + "\""; }

void Send(const page::File& file, const Request& request, std::string_view cache_control,
          ResponseWriter& out) {
  out.AddHeader("ETag", EntityTag());
  out.AddHeader("Cache-Control", cache_control);
  out.AddHeader("Content-Security-Policy", kContentSecurityPolicy);
  out.AddHeader("Referrer-Policy", "no-referrer");
  const std::string* known = request.Header("if-none-match");
  if (known != nullptr && request.method == Method::kGet &&
      known->find(page::FilesSum()) != std::string::npos) {
    out.SetStatus(304);  // keeps the headers that a response with the file would have
    out.SetContentType("");
    return;
  }
  SendBody(out, 200, TypeOf(file.name), file.bytes);
}

}  // namespace

const page::File* FindPageFile(std::string_view path) {
  if (!path.starts_with(kFolder)) return nullptr;
  path.remove_prefix(kFolder.size());
  if (!path.starts_with(page::FilesSum())) return nullptr;
  path.remove_prefix(page::FilesSum().size());
  return path.starts_with('/') ? Named(path.substr(1)) : nullptr;
}

void SendPageFile(const page::File& file, const Request& request, ResponseWriter& out) {
  Send(file, request, "public, max-age=31536000, immutable", out);
}

void SendPageIndex(const Request& request, ResponseWriter& out) {
  const page::File* index = Named("index.html");
  INVARIANT(index != nullptr);
  Send(*index, request, "no-cache", out);
}

}  // namespace hg::http
