#include "http/api/handlers.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/request/shut_down.h"

namespace hg::http {

void HandleDiediedie(const Request&, Services&, ResponseWriter& out) {
  SendBody(out, 200, "text/html; charset=UTF-8",
           "<!DOCTYPE html>\n<html><head><title>TSD Exiting</title></head>"
           "<body><h1>Cleaning up and exiting now.</h1></body></html>\n");
  RequestShutDown();
}

}  // namespace hg::http
