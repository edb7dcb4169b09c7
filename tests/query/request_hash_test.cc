#include "query/request/request_hash.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

namespace hg::query {
namespace {

/// A query whose lists all have one element.
Request Base() {
  Request query;
  query.start = "1h-ago";
  query.queries.resize(1);
  SubQuery& sub = query.queries[0];
  sub.aggregator = "sum";
  sub.metric = "m";
  sub.tsuids = SharedVector<std::string>({"000001000001000001"});
  sub.rate_options = RateOptions();
  sub.filters.push_back({.type = "literal_or", .tagk = "host", .filter = "a"});
  sub.percentiles = std::vector<double>{99.0};
  return query;
}

}  // namespace

TEST_CASE("the hash of a query depends on each member that the comparison of queries considers") {
  using Change = std::function<void(Request&)>;
  std::vector<Change> changes = {
      [](Request& r) { r.start = "2h-ago"; },
      [](Request& r) { r.end = ""; },
      [](Request& r) { r.timezone = "UTC"; },
      [](Request& r) { r.queries.clear(); },
      [](Request& r) { r.queries.push_back(r.queries[0]); },
      [](Request& r) { r.ms_resolution = true; },
      [](Request& r) { r.show_tsuids = true; },
      [](Request& r) { r.show_query = true; },
      [](Request& r) { r.show_stats = true; },
      [](Request& r) { r.show_summary = true; },
      [](Request& r) { r.no_annotations = true; },
      [](Request& r) { r.global_annotations = true; },
      [](Request& r) { r.padding = true; },
      [](Request& r) { r.delete_rows = true; },
      [](Request& r) { r.use_calendar = true; },
      [](Request& r) { r.override_byte_limit = true; },
      [](Request& r) { r.override_cell_limit = true; },
  };
  const auto with = [&](const std::function<void(SubQuery&)>& change) {
    changes.emplace_back([change](Request& r) { change(r.queries[0]); });
  };
  with([](SubQuery& q) { q.aggregator = "avg"; });
  with([](SubQuery& q) { q.aggregator.reset(); });
  with([](SubQuery& q) { q.metric = "n"; });
  with([](SubQuery& q) { q.tsuids.reset(); });
  with([](SubQuery& q) { q.tsuids->Edit()[0] = "000001000001000002"; });
  with([](SubQuery& q) { q.downsample = "1m-avg"; });
  with([](SubQuery& q) { q.rate = true; });
  with([](SubQuery& q) { q.rate_options.reset(); });
  with([](SubQuery& q) { q.rate_options->counter = true; });
  with([](SubQuery& q) { q.rate_options->counter_max = 1; });
  with([](SubQuery& q) { q.rate_options->reset_value = 1; });
  with([](SubQuery& q) { q.rate_options->drop_resets = true; });
  with([](SubQuery& q) { q.filters.clear(); });
  with([](SubQuery& q) { q.filters.Edit()[0].type = "wildcard"; });
  with([](SubQuery& q) { q.filters.Edit()[0].tagk = "hosts"; });
  with([](SubQuery& q) { q.filters.Edit()[0].filter = "b"; });
  with([](SubQuery& q) { q.filters.Edit()[0].group_by = true; });
  with([](SubQuery& q) { q.filters.Edit()[0].ignore_case = true; });
  with([](SubQuery& q) { q.filters_given = true; });
  with([](SubQuery& q) { q.explicit_tags = true; });
  with([](SubQuery& q) { q.pre_aggregate = true; });
  with([](SubQuery& q) { q.rollup_usage = "ROLLUP_RAW"; });
  with([](SubQuery& q) { q.percentiles->push_back(50.0); });
  with([](SubQuery& q) { q.show_histogram_buckets = true; });
  with([](SubQuery& q) { q.value_filter = ">= 10"; });
  with([](SubQuery& q) { q.use_fuzzy_filter = false; });
  with([](SubQuery& q) { q.use_multi_gets = false; });

  const uint64_t hash = HashOf(Base());
  for (size_t i = 0; i < changes.size(); ++i) {
    CAPTURE(i);
    Request changed = Base();
    changes[i](changed);
    CHECK(changed != Base());
    CHECK(HashOf(changed) != hash);
  }
}

TEST_CASE("equal queries have equal hashes, even if the signs of their zeros differ") {
  CHECK(HashOf(Base()) == HashOf(Base()));
  Request plus = Base(), minus = Base();
  plus.queries[0].percentiles->push_back(0.0);
  minus.queries[0].percentiles->push_back(-0.0);
  REQUIRE(plus == minus);
  CHECK(HashOf(plus) == HashOf(minus));
}

TEST_CASE("queries whose texts differ only in where one ends and the next begins differ in hash") {
  Request one = Base(), other = Base();
  one.queries[0].filters.push_back({.type = "wildcard", .tagk = "host", .filter = "a"});
  other.queries[0].filters.push_back({.type = "wildcard", .tagk = "hos", .filter = "ta"});
  CHECK(HashOf(one) != HashOf(other));
}

}  // namespace hg::query
