#include "http/api/collected_stats.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "http/api/process_stats.h"
#include "http/request/services.h"
#include "query/engine.h"

namespace hg::http {
namespace {

/// Parses tags in the form "k=v k=v …". The text may be empty.
void AddTags(std::string_view text, std::vector<StatTag>* tags) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos)
      tags->emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
}

class Collector {
 public:
  void Add(std::string_view name, int64_t value, std::string_view own = {},
           std::string_view type_class = {}) {
    Stat& stat = stats_.emplace_back();
    stat.name = name;
    stat.value = value;
    AddTags(own, &stat.tags);
    AddTags(type_class, &stat.classes);
  }

  [[nodiscard]] std::vector<Stat> Take() { return std::move(stats_); }

 private:
  std::vector<Stat> stats_;
};

int64_t Value(const Counters::Counter& counter) {
  return static_cast<int64_t>(counter.load(std::memory_order_relaxed));
}

void AddLatency(std::string_view name, const Latency& latency, std::string_view own,
                std::string_view type_class, Collector* to) {
  for (int percent : {50, 75, 90, 95})
    to->Add(std::string(name) + "_" + std::to_string(percent) + "pct", latency.Percentile(percent),
            own, type_class);
}

void CollectEdge(const Counters& c, Collector* to) {
  to->Add("connectionmgr.connections", Value(c.connections_open), "type=open");
  to->Add("connectionmgr.connections", Value(c.connections_rejected), "type=rejected");
  to->Add("connectionmgr.connections", Value(c.connections_total), "type=total");
  to->Add("connectionmgr.exceptions", Value(c.exceptions_closed), "type=closed");
  to->Add("connectionmgr.exceptions", Value(c.exceptions_reset), "type=reset");
  to->Add("connectionmgr.exceptions", Value(c.exceptions_timeout), "type=timeout");
  to->Add("connectionmgr.exceptions", Value(c.exceptions_unknown), "type=unknown");
  to->Add("rpc.received", Value(c.rpc_telnet), "type=telnet");
  to->Add("rpc.received", Value(c.rpc_http), "type=http");
  to->Add("rpc.received", Value(c.rpc_http_plugin), "type=http_plugin");
  to->Add("rpc.received", Value(c.rpc_put), "type=put");
  to->Add("rpc.received", Value(c.rpc_influx), "type=influx");
  to->Add("rpc.received", Value(c.rpc_graphite), "type=graphite");
  to->Add("rpc.exceptions", Value(c.rpc_exceptions));
  to->Add("rpc.errors", Value(c.put_storage_errors), "type=hbase_errors");
  to->Add("rpc.errors", Value(c.put_invalid_values), "type=invalid_values");
  to->Add("rpc.errors", Value(c.put_illegal_arguments), "type=illegal_arguments");
  to->Add("rpc.errors", Value(c.put_unknown_metrics), "type=unknown_metrics");
  to->Add("rpc.errors", Value(c.put_writes_blocked), "type=socket_writes_blocked");
  to->Add("rpc.unauthorized", Value(c.unauthorized_telnet), "type=telnet");
  to->Add("rpc.unauthorized", Value(c.unauthorized_http), "type=http");
  to->Add("rpc.forbidden", Value(c.forbidden_telnet), "type=telnet");
  to->Add("rpc.forbidden", Value(c.forbidden_http), "type=http");
  AddLatency("http.latency", c.all_requests, "type=all", {}, to);
  AddLatency("http.latency", c.graphs, "type=graph", {}, to);
  AddLatency("http.latency", c.drawing, "type=gnuplot", {}, to);
  to->Add("http.loop.stalls", Value(c.loop_stalls));
  to->Add("http.loop.stall_ms", Value(c.loop_stall_ms));
  to->Add("http.graph.requests", 0, "cache=disk");
  to->Add("http.graph.requests", Value(c.graph_requests), "cache=miss");
  to->Add("http.query.success", Value(c.query_success));
  to->Add("http.query.invalid_requests", Value(c.query_invalid));
  to->Add("http.query.exceptions", Value(c.query_exceptions));
  to->Add("http.query.unauthorized", 0);
  to->Add("http.query.forbidden", 0);
}

/// Adds the statistics of OpenTSDB's HBase client. Hourglass does not use that client, but
/// dashboards expect the names. The numbers of requests to the store (hbase.rpcs) come from the
/// store itself.
void CollectStorage(const Counters& c, Collector* to) {
  AddLatency("hbase.latency", Latency(), "method=put", "class=IncomingDataPoints", to);
  AddLatency("hbase.latency", c.scans, "method=scan", "class=TsdbQuery", to);
  to->Add("hbase.root_lookups", 0);
  for (const char* type : {"type=uncontended", "type=contended"})
    to->Add("hbase.meta_lookups", 0, type);
  for (const char* name :
       {"hbase.flushes", "hbase.connections.created", "hbase.connections.idle_closed", "hbase.nsre",
        "hbase.nsre.rpcs_delayed", "hbase.region_clients.open", "hbase.region_clients.idle_closed"})
    to->Add(name, 0);
}

void CollectQueries(query::RunningRequests& queries, Collector* to) {
  to->Add("query.memory", queries.budget().taken(), "type=taken");
  to->Add("query.memory", queries.budget().limit(), "type=limit");
  to->Add("query.large", static_cast<int64_t>(queries.large_queries().working()), "state=working");
  to->Add("query.large", static_cast<int64_t>(queries.large_queries().waiting()), "state=waiting");
}

std::optional<int64_t> HighestId(Services& services, UidKind kind) {
  if (services.highest_ids != nullptr) return services.highest_ids->Of(kind);
  const Result<int64_t> read = services.names.HighestId(kind);
  return read.ok() ? std::optional(*read) : std::nullopt;
}

void CollectNames(Services& services, Collector* to) {
  std::array<uid::Names::CacheStats, 3> cache;
  for (UidKind kind : kUidKinds) cache[static_cast<size_t>(kind)] = services.names.Stats(kind);
  for (UidKind kind : kUidKinds) {
    const std::string tag = "kind=" + std::string(UidKindName(kind));
    const auto& stats = cache[static_cast<size_t>(kind)];
    to->Add("uid.cache-hit", static_cast<int64_t>(stats.hits), tag);
    to->Add("uid.cache-miss", static_cast<int64_t>(stats.misses), tag);
    to->Add("uid.cache-size", static_cast<int64_t>(stats.size), tag);
    to->Add("uid.random-collisions", static_cast<int64_t>(stats.random_collisions), tag);
    to->Add("uid.rejected-assignments", static_cast<int64_t>(stats.rejected), tag);
    // If the store cannot be read now, the numbers of ids are omitted, because the other statistics
    // are still useful.
    const std::optional<int64_t> used = HighestId(services, kind);
    if (!used) continue;
    to->Add("uid.ids-used", *used, tag);
    to->Add("uid.ids-available",
            std::max<int64_t>(0, LargestId(UidWidth(services.points.layout(), kind)) - *used), tag);
  }
}

}  // namespace

std::vector<Stat> CollectStats(Services& services, bool with_threads) {
  Collector collector;
  CollectEdge(services.counters, &collector);
  CollectQueries(services.queries.running(), &collector);
  CollectNames(services, &collector);
  for (const char* kind : {"kind=raw", "kind=aggregate"})
    collector.Add("uid.filter.rejected", 0, kind);
  CollectStorage(services.counters, &collector);
  const ProcessStats process = ReadProcessStats();
  collector.Add("jvm.ramfree", static_cast<int64_t>(process.memory_available_bytes));
  collector.Add("jvm.ramused", static_cast<int64_t>(process.memory_resident_bytes));
  if (with_threads) {
    collector.Add("jvm.thread.count", static_cast<int64_t>(process.threads.size()));
    int64_t runnable = 0;
    for (const ThreadStats& thread : process.threads) runnable += thread.state == 'R' ? 1 : 0;
    for (const char* state :
         {"state=new", "state=blocked", "state=timed_waiting", "state=terminated"})
      collector.Add("jvm.thread.states", 0, state);
    collector.Add("jvm.thread.states", runnable, "state=runnable");
    collector.Add("jvm.thread.states", static_cast<int64_t>(process.threads.size()) - runnable,
                  "state=waiting");
  }
  collector.Add("datapoints.added", Value(services.counters.points_added), "type=all",
                "class=TSDB");
  collector.Add("ingest.text_fields", Value(services.counters.text_fields));
  if (services.collect_stats) {
    services.collect_stats([&](const std::string& name, const std::string& tags, int64_t value) {
      collector.Add(name, value, tags);
    });
  }
  return collector.Take();
}

std::vector<LatencyStat> CollectLatencies(Services& services) {
  std::vector<LatencyStat> latencies;
  const auto add = [&latencies](const std::string& name, const std::string& tags,
                                const LatencyHistogram& took) {
    LatencyStat& latency = latencies.emplace_back();
    latency.name = name;
    AddTags(tags, &latency.tags);
    latency.took = took;
  };
  const Counters& counters = services.counters;
  add("http.latency", "type=all", counters.all_requests.Histogram());
  add("http.latency", "type=graph", counters.graphs.Histogram());
  add("http.latency", "type=gnuplot", counters.drawing.Histogram());
  add("hbase.latency", "method=scan", counters.scans.Histogram());
  if (services.collect_latencies) services.collect_latencies(add);
  return latencies;
}

}  // namespace hg::http
