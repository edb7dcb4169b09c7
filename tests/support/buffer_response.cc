#include "tests/support/buffer_response.h"

#include "http/routes/router.h"

namespace hg::http {

void BufferResponse::AddHeader(std::string_view name, std::string_view value) {
  headers.emplace_back(name, value);
}

bool BufferResponse::Write(std::string_view bytes) {
  if (cancelled) return false;
  body.append(bytes);
  return true;
}

void BufferResponse::Reset() {
  status = 200;
  content_type = "application/json; charset=UTF-8";
  body.clear();
}

const std::string* BufferResponse::Header(std::string_view name) const {
  for (auto it = headers.rbegin(); it != headers.rend(); ++it) {
    if (it->first == name) return &it->second;
  }
  return nullptr;
}

Request MakeRequest(std::string_view method, std::string_view target, std::string_view body) {
  Request request;
  request.method_text = method;
  request.method = MethodOf(method);
  request.target = target;
  request.body = body;
  request.remote = "127.0.0.1:50000";
  ParseTarget(&request);
  return request;
}

}  // namespace hg::http
