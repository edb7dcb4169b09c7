#include "query/request/query_text.h"

#include <doctest/doctest.h>

namespace hg::query {
namespace {

Request Example() {
  Request request;
  request.start = "1h-ago";
  request.end = "now";
  request.queries.resize(2);
  SubQuery& a = request.queries[0];
  a.aggregator = "sum";
  a.downsample = "1m-avg";
  a.rate = true;
  a.value_filter = ">90";
  a.metric = "sys.cpu";
  a.filters = {{"wildcard", "host", "*", true, false}, {"regexp", "dc", "a.", false, false}};
  SubQuery& b = request.queries[1];
  b.aggregator = "max";
  b.tsuids = {"000001000001000001", "000001000001000002"};
  return request;
}

}  // namespace

TEST_CASE("a request is shown in the form of a query string") {
  CHECK(QueryText(Example(), 1000) ==
        "start=1h-ago&end=now&m=sum:1m-avg:rate:value>90:sys.cpu{host=wildcard(*)}{dc=regexp(a.)}"
        "&tsuid=max:000001000001000001,000001000001000002");
}

TEST_CASE("a long request is cut between characters") {
  CHECK(QueryText(Example(), 12) == "start=1h-ago…");
  Request request;
  request.start = "ääää";
  CHECK(QueryText(request, 9) == "start=ä…");
}

TEST_CASE("control characters of a request are replaced, so that its text stays on one line") {
  Request request;
  request.start = "1h\nago\x7F";
  CHECK(QueryText(request, 1000) == "start=1h?ago?");
}

}  // namespace hg::query
