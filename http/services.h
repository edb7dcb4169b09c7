#pragma once
// All that a handler may touch, and what a handler is. Everything here outlives every request.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "http/counters.h"
#include "http/options.h"
#include "http/request.h"
#include "http/response_writer.h"
#include "storage/base/clock.h"
#include "storage/base/latency.h"
#include "storage/points/points.h"
#include "storage/store.h"
#include "uid/annotations.h"
#include "uid/highest_ids.h"
#include "uid/metadata.h"
#include "uid/names.h"

namespace hg {
class HistogramSink;
class Maintenance;
class PointSink;
class RollupSink;
namespace query {
class Engine;
}
}  // namespace hg

namespace hg::http {

class Access;
class ClientLimits;

struct Services {
  const Options& options;
  /// Every effective setting by its OpenTSDB key, defaults included: /api/config prints it.
  const std::map<std::string, std::string>& settings;
  const Clock& clock;
  Store& cells;
  Points& points;
  uid::Names& names;
  uid::Annotations& annotations;
  uid::Metadata& metadata;
  query::Engine& queries;
  PointSink& sink;  // where put, telnet and import hand their points (storage/model/point_sink.h)
  Counters& counters;
  /// Numbers that other rooms wish to show in stats: name without "tsd.", tags as "k=v k=v", value.
  std::function<void(
      const std::function<void(const std::string& name, const std::string& tags, int64_t value)>&)>
      collect_stats;
  // storage/model/aggregate_sink.h. Histograms: nullptr = the settings do not enable them. Rollups:
  // never null where put is served; without settings it says so.
  HistogramSink* histograms = nullptr;
  RollupSink* rollups = nullptr;
  /// The last lines of the process's log, newest first, without line ends. May be empty.
  std::function<std::vector<std::string>()> recent_log = {};
  /// Lets through lines of that level ("INFO") and above. False: no such level. May be empty.
  std::function<bool(const std::string& level)> set_log_level = {};
  /// Who may what; nullptr = nobody is asked who he is.
  Access* access = nullptr;
  /// How much which client may write; nullptr = as much as he likes.
  ClientLimits* client_limits = nullptr;
  /// Copies and checks of the store; nullptr = it has no files of its own.
  Maintenance* maintenance = nullptr;
  /// Where a store on another machine is not asked for them; nullptr: names are.
  const uid::HighestIds* highest_ids = nullptr;
  /// Says something to whoever reads the process's log. May be empty.
  std::function<void(const std::string&)> warn = {};
  /// How long things took in other rooms, for /metrics: names and tags as of collect_stats. May be
  /// empty.
  std::function<void(const std::function<void(const std::string& name, const std::string& tags,
                                              const LatencyHistogram&)>&)>
      collect_latencies = {};
};

/// Answers one request. Runs on a pool thread, may block, must not throw. Errors go through
/// http/errors.h. Those of Where::kLoop (endpoints.h) are called on loops first, under NoWait.
using Handler = void (*)(const Request&, Services&, ResponseWriter&);

}  // namespace hg::http
