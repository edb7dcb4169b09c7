#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "http/api/handlers.h"
#include "http/api/page_files.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/json_writer.h"
#include "storage/model/letter_case.h"

namespace hg::http {
namespace {

/// Maximum size of a file. Files of web pages are smaller.
constexpr uintmax_t kFileBytesMax = 64 << 20;
constexpr size_t kFilePieceBytes = 64 << 10;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::string_view PathOf(const Request& request) {
  return std::string_view(request.target).substr(0, request.target.find('?'));
}

/// Returns the type of a file by its ending, otherwise by its first byte ('\0' if the file is
/// empty).
std::string_view TypeOfFile(std::string_view path, char first_byte) {
  struct Ending {
    std::string_view ending, type;
  };
  static constexpr Ending kEndings[] = {
      {".png", "image/png"}, {".html", "text/html; charset=UTF-8"},
      {".css", "text/css"},  {".js", "text/javascript"},
      {".gif", "image/gif"}, {".ico", "image/x-icon"},
  };
  for (const auto& [ending, type] : kEndings) {
    if (path.ends_with(ending)) return type;
  }
  switch (first_byte) {
    case '<':
      return "text/html; charset=UTF-8";
    case '{':
    case '[':
      return "application/json";
    case '\x89':
      return "image/png";
    default:
      return "text/plain";
  }
}

/// Sends a fixed text with the content type that the missing file would have, as OpenTSDB does.
void SendNoFile(const Request& request, ResponseWriter& out) {
  constexpr std::string_view kBody = R"({"error":{"code":404,"message":"Page not found"}})";
  SendBody(out, 404, TypeOfFile(PathOf(request), kBody.front()), kBody);
}

}  // namespace

void HandleHome(const Request& request, Services&, ResponseWriter& out) {
  SendPageIndex(request, out);
}

void HandleLogs(const Request& request, Services& services, ResponseWriter& out) {
  if (!services.recent_log)
    return SendError(out, request, 400, "This server does not keep the last lines of the log");
  if (const std::string* asked = request.parameters.Find("level"); asked != nullptr) {
    const std::string level = UpperCase(*asked);
    if (!services.set_log_level || !services.set_log_level(level))
      return SendError(out, request, 400, "Invalid level: " + *asked);
    return SendBody(out, 200, "text/plain", "Set the log level to " + level + " on 1 logger.\n");
  }
  std::string text;
  if (request.parameters.Has("json")) {
    JsonWriter json(&text);
    json.BeginArray();
    for (const std::string& line : services.recent_log()) json.String(line);
    json.EndArray();
    return SendJson(out, request, text);
  }
  for (const std::string& line : services.recent_log()) text += line + "\n";
  // Clients determine much of the log's contents, so it is never shown as HTML.
  SendBody(out, 200, "text/plain", text);
}

void HandleFile(const Request& request, Services& services, ResponseWriter& out) {
  std::string_view path = PathOf(request);
  if (path.find("..") != std::string_view::npos)
    return SendError(out, request, 400, "Malformed URI: it must not contain \"..\"");
  if (request.Endpoint() == "s") {
    if (request.segments.size() < 2)
      return SendError(out, request, 400, "Malformed URI: /s/ and a file are expected");
    path.remove_prefix(2);
  }
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  if (const page::File* own = FindPageFile(path)) return SendPageFile(*own, request, out);
  if (services.options.static_root.empty() || path.empty()) return SendNoFile(request, out);

  const std::filesystem::path file = std::filesystem::path(services.options.static_root) / path;
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (error || !std::filesystem::is_regular_file(status)) return SendNoFile(request, out);
  const uintmax_t size = std::filesystem::file_size(file, error);
  const std::unique_ptr<std::FILE, CloseFile> in(std::fopen(file.c_str(), "rb"));
  if (error || in == nullptr) return SendNoFile(request, out);
  if (size > kFileBytesMax)
    return SendError(
        out, request, 400,
        "The file has " + std::to_string(size) + " bytes, which is too large to be sent");

  std::string piece(kFilePieceBytes, '\0');
  piece.resize(std::fread(piece.data(), 1, piece.size(), in.get()));
  if (std::ferror(in.get()) != 0) return SendError(out, request, 500, "The file cannot be read");
  out.SetStatus(200);
  out.SetContentType(TypeOfFile(path, piece.empty() ? '\0' : piece.front()));
  // The operator's pages may contain scripts, unlike the daemon's own pages (reply.h).
  out.AddHeader("Content-Security-Policy", "frame-ancestors 'self'");
  out.AddHeader("Age", "0");
  const bool cached = request.target.find("nocache") == std::string::npos;
  out.AddHeader("Cache-Control", cached ? "max-age=31536000" : "max-age=0");
  while (!piece.empty() && out.Write(piece)) {
    piece.resize(kFilePieceBytes);
    piece.resize(std::fread(piece.data(), 1, piece.size(), in.get()));
  }
  if (std::ferror(in.get()) != 0) out.Cut();
}

}  // namespace hg::http
