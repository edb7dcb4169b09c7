#include "http/api/handlers.h"
#include "http/request/replies.h"

namespace hg::http {
namespace {

// The names are in the order of OpenTSDB's hash map. Clients sort them for display.
constexpr std::string_view kAggregators =
    R"(["mult","p90","zimsum","mimmax","sum","p50","none","p95","ep99r7","pfsum","p75","p99",)"
    R"("ep99r3","ep95r7","min","avg","ep75r7","dev","ep95r3","ep75r3","ep50r7","ep90r7","mimmin",)"
    R"("p999","ep50r3","ep90r3","ep999r7","last","max","count","diff","median","squareSum",)"
    R"("ep999r3","first"])";

}  // namespace

void HandleAggregators(const Request& request, Services&, ResponseWriter& out) {
  SendJson(out, request, kAggregators);
}

}  // namespace hg::http
