#include "http/api/handlers.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "storage/model/point_sink.h"

namespace hg::http {

void HandleDropcaches(const Request& request, Services& services, ResponseWriter& out) {
  services.names.DropCaches();
  services.sink.ForgetRawKeys();
  SendJson(out, request, R"({"message":"Caches dropped","status":"200"})");
}

}  // namespace hg::http
