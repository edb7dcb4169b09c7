#pragma once
// The objects that handlers may use, and the type of handler functions. The objects outlive every
// request.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "http/request/admin_calls.h"
#include "http/request/counters.h"
#include "http/request/options.h"
#include "http/request/request.h"
#include "http/request/response_writer.h"
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
class ClientNotes;

struct Services {
  const Options& options;
  /// All effective settings, including defaults, by the names that OpenTSDB uses. /api/config
  /// prints them.
  const std::map<std::string, std::string>& settings;
  const Clock& clock;
  Store& cells;
  Points& points;
  uid::Names& names;
  uid::Annotations& annotations;
  uid::Metadata& metadata;
  query::Engine& queries;
  PointSink& sink;  // stores the points of all ingestion protocols (storage/model/point_sink.h)
  Counters& counters;
  ClientNotes& notes;
  /// Calls its argument once for each statistic of the modules outside http. The argument gets the
  /// name without "tsd.", the tags as "k=v k=v", and the value. This member may be empty.
  std::function<void(
      const std::function<void(const std::string& name, const std::string& tags, int64_t value)>&)>
      collect_stats;
  // The sinks for values that are not single raw points (storage/model/aggregate_sink.h).
  // `histograms` is nullptr if the settings do not enable histograms. `rollups` is not nullptr in
  // any mode that serves put; if no rollups are configured, this sink returns an error.
  HistogramSink* histograms = nullptr;
  RollupSink* rollups = nullptr;
  /// Returns the last lines of the process log, newest line first, without line ends. This member
  /// may be empty.
  std::function<std::vector<std::string>()> recent_log = {};
  /// Sets the lowest level that is logged, such as "INFO". Returns false if the level does not
  /// exist. This member may be empty.
  std::function<bool(const std::string& level)> set_log_level = {};
  /// Authenticates clients and knows their roles; nullptr = authentication is off.
  Access* access = nullptr;
  /// The write limits of clients; nullptr = unlimited.
  ClientLimits* client_limits = nullptr;
  /// Copies and checks the files of the store; nullptr if the store has no files of its own.
  Maintenance* maintenance = nullptr;
  /// Caches the highest ids of a store on another machine, so that statistics need no request to
  /// that store. If this is nullptr, the highest ids are read through `names`.
  const uid::HighestIds* highest_ids = nullptr;
  /// Writes a warning to the process log. This member may be empty.
  std::function<void(const std::string&)> warn = {};
  /// Calls its argument once for each latency histogram of the modules outside http. /metrics
  /// prints these histograms. The argument gets the name and the tags in the form of collect_stats,
  /// and the histogram. This member may be empty.
  std::function<void(const std::function<void(const std::string& name, const std::string& tags,
                                              const LatencyHistogram&)>&)>
      collect_latencies = {};
  AdminCalls admin_calls = {};
};

/// A function that handles one request. It runs on a pool thread, may block, and must not throw. It
/// sends errors by means of http/request/errors.h. Handlers with Where::kLoop (endpoints.h) are
/// first called on event loops (Request::on_loop).
using Handler = void (*)(const Request&, Services&, ResponseWriter&);

}  // namespace hg::http
