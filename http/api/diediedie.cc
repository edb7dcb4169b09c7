#include "http/api/diediedie.h"

#include "http/replies.h"
#include "http/services.h"
#include "http/shut_down.h"

namespace hg::http {

void HandleDiediedie(const Request&, Services&, ResponseWriter& out) {
  SendBody(out, 200, "text/html; charset=UTF-8",
           "<!DOCTYPE html>\n<html><head><title>TSD Exiting</title></head>"
           "<body><h1>Cleaning up and exiting now.</h1></body></html>\n");
  RequestShutDown();
}

}  // namespace hg::http
