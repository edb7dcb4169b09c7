#pragma once
// A ResponseWriter that writes to strings, and requests without a socket, for tests of handlers.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

/// One response in memory. Nothing is sent to a client, so Started returns false unless a test sets
/// `started`.
class BufferResponse : public ResponseWriter {
 public:
  int status = 200;
  std::string content_type = "application/json; charset=UTF-8";
  /// The headers of the response. Their names are not converted to lower case.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool started = false;
  bool cancelled = false;
  bool takes_long = false, cut = false;

  void SetStatus(int value) override { status = value; }
  void SetContentType(std::string_view type) override { content_type = type; }
  void AddHeader(std::string_view name, std::string_view value) override;
  bool Write(std::string_view bytes) override;
  [[nodiscard]] bool Started() const override { return started; }
  void Reset() override;
  [[nodiscard]] bool Cancelled() const override { return cancelled; }
  void TakesLong() override { takes_long = true; }
  void Cut() override { cut = true; }

  /// Returns the last header with that name, or nullptr if there is no such header.
  [[nodiscard]] const std::string* Header(std::string_view name) const;
};

/// Builds a request as the server would build it from a method, a target with a query string
/// ("/api/put?details") and a body. The caller must keep the bytes of the body. If the query string
/// has an invalid percent escape, the parameters of the request are incomplete.
Request MakeRequest(std::string_view method, std::string_view target, std::string_view body = {});

}  // namespace hg::http
