#include "tsd/daemon.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "compaction/row_queue.h"
#include "http/access/access.h"
#include "http/access/client_limits.h"
#include "http/api/health.h"
#include "http/request/build_info.h"
#include "http/request/client_notes.h"
#include "http/server/graphite_server.h"
#include "http/server/server.h"
#include "http/server/waiting_ports.h"
#include "query/engine.h"
#include "storage/base/file.h"
#include "storage/local/local_server.h"
#include "storage/table_name.h"
#include "storage/thrift2/thrift2_server.h"
#include "tsd/access_log.h"
#include "tsd/heap.h"
#include "tsd/http_settings.h"
#include "tsd/ingest/histogram_ingest.h"
#include "tsd/ingest/ingest.h"
#include "tsd/ingest/metric_limits.h"
#include "tsd/ingest/rollup_ingest.h"
#include "tsd/ingest/stored_tag_formats.h"
#include "tsd/ingest/tracking_ingest.h"
#include "tsd/log.h"
#include "tsd/open_files.h"
#include "tsd/query_log.h"
#include "tsd/query_settings.h"
#include "tsd/retention/retention.h"
#include "tsd/rollup/rollup_maker.h"
#include "tsd/rollup_settings.h"
#include "tsd/service_manager.h"
#include "tsd/settings.h"
#include "tsd/signals.h"
#include "tsd/thrift2_settings.h"
#include "uid/annotations.h"
#include "uid/highest_ids.h"
#include "uid/metadata.h"
#include "uid/tree_sorter.h"

namespace hg::tsd {
namespace {

/// The options of the layers above the store.
struct DaemonOptions {
  http::Options http;
  std::string users_file;  // "" = no authentication
  WriteLimits limits;
  IngestOptions ingest;
  query::Options query;
  int64_t slow_query_ms = 0;
  uid::AnnotationsOptions annotations;
  uid::MetadataOptions metadata;
  uid::TreeSorterOptions trees;
  compaction::RowCompactorOptions compactor;
  std::optional<compaction::RowQueueOptions> row_queue;
  std::optional<RetentionOptions> retention;
  std::optional<RollupIngestOptions> rollups;
  std::optional<size_t> preloaded_rows;
  int64_t cache_bytes = 0;                         // for the query cache; 0 = none
  std::optional<thrift2::Thrift2Options> thrift2;  // nullopt: Thrift2 is not served
};

/// Returns null if no cache is configured, or if the store does not report changes of old hours
/// (append mode, HBase).
std::shared_ptr<query::BucketCache> MakeCache(Points& points, int64_t bytes, const Clock& clock) {
  WatchedPoints* const watched = points.watched();
  if (watched == nullptr || bytes == 0) return nullptr;
  return query::BucketCache::Make(bytes, *watched, clock);
}

Result<DaemonOptions> ReadDaemonOptions(const Config& config) {
  DaemonOptions options;
  ASSIGN_OR_RETURN(options.http, ReadHttpOptions(config));
  ASSIGN_OR_RETURN(options.users_file, ReadUsersFile(config));
  RETURN_IF_ERROR(CheckAnonymousPorts(config));
  ASSIGN_OR_RETURN(options.limits, ReadWriteLimits(config));
  ASSIGN_OR_RETURN(options.ingest, ReadIngestOptions(config));
  ASSIGN_OR_RETURN(options.query, ReadQueryOptions(config));
  ASSIGN_OR_RETURN(options.slow_query_ms, ReadSlowQueryMs(config));
  ASSIGN_OR_RETURN(options.annotations, ReadAnnotationsOptions(config));
  ASSIGN_OR_RETURN(options.metadata, ReadMetadataOptions(config));
  ASSIGN_OR_RETURN(options.trees, ReadTreeSorterOptions(config));
  ASSIGN_OR_RETURN(options.compactor, ReadRowCompactorOptions(config));
  ASSIGN_OR_RETURN(options.row_queue, ReadRowQueueOptions(config));
  ASSIGN_OR_RETURN(options.retention, ReadRetentionOptions(config, options.query));
  ASSIGN_OR_RETURN(options.rollups, ReadRollupOptions(config));
  ASSIGN_OR_RETURN(options.preloaded_rows, ReadPreloadedRows(config));
  ASSIGN_OR_RETURN(options.cache_bytes, ReadQueryCacheBytes(config));
  ASSIGN_OR_RETURN(options.thrift2, ReadThrift2Options(config));
  return options;
}

/// Interval in ms between two checks of the store's health and the heap's size.
constexpr int64_t kWatchIntervalMs = 1'000;
/// Number of threads that write to a store on another machine. The points of several threads are
/// sent together.
constexpr int kRemoteWriteThreads = 64;

/// Accepts the level names of OpenTSDB's logging.
bool SetLogLevelByName(const std::string& name) {
  static const std::map<std::string, LogLevel> kLevels = {
      {"ALL", LogLevel::kDebug}, {"TRACE", LogLevel::kDebug},  {"DEBUG", LogLevel::kDebug},
      {"INFO", LogLevel::kInfo}, {"WARN", LogLevel::kWarning}, {"ERROR", LogLevel::kError}};
  const auto known = kLevels.find(name);
  if (known != kLevels.end()) SetLogLevel(known->second);
  return known != kLevels.end();
}

/// Returns whether a change of a row in the table of ids may change names or ids. Changes of
/// metadata do not change them.
bool ChangesNames(const RowMutation& row) {
  const auto of_name = [](const CellChange& change) {
    using Kind = CellChange::Kind;
    return change.kind == Kind::kDeleteFamily || change.kind == Kind::kDeleteFamilyVersion ||
           std::any_of(std::begin(kUidKinds), std::end(kUidKinds),
                       [&](UidKind kind) { return change.qualifier == UidKindName(kind); });
  };
  return row.changes.empty() || std::any_of(row.changes.begin(), row.changes.end(), of_name);
}

/// All layers of the daemon, built from the bottom up. Each member is constructed from members
/// before it only.
class Daemon {
 public:
  Daemon(Session& session, const Clock& clock, DaemonOptions options)
      : session_(session),
        options_(CountingMerges(std::move(options), &merges_)),
        settings_(session.config().Shown()),
        compactor_(&session.cells(), options_.compactor, clock),
        metric_limits_(options_.limits.metric, session.points(), clock,
                       session.backend().name_bytes()),
        ingest_(session.points(), session.names(), options_.ingest,
                options_.limits.metric.any() ? &metric_limits_ : nullptr),
        tracker_(session.cells().CommittedLater(), clock, TrackerOptions()),
        tracking_ingest_(ingest_, session.points(), session.names(), tracker_),
        histogram_ingest_(ingest_, session.cells(), session.layout(), session.data_table(),
                          tracker_),
        rollup_ingest_(ingest_, session.cells(), session.layout(),
                       options_.rollups.value_or(RollupIngestOptions())),
        no_rollups_(ingest_),
        queries_(session.points(), session.names(), session.cells(), clock, options_.query,
                 MakeCache(session.points(), options_.cache_bytes, clock), session.rollups()),
        annotations_(session.cells(), options_.annotations),
        metadata_(session.cells(), session.names(), options_.metadata),
        tree_sorter_(session.cells().CommittedLater(), metadata_, clock,
                     session.config().String("tsd.storage.hbase.tree_table"), options_.trees),
        highest_ids_(session.backend().remote() ? std::make_unique<uid::HighestIds>(session.names())
                                                : nullptr),
        notes_(options_.http),
        access_log_(clock),
        query_log_(clock, options_.slow_query_ms),
        client_limits_(options_.limits.client, clock),
        services_{
            .options = options_.http,
            .settings = settings_,
            .clock = clock,
            .cells = session.cells(),
            .points = session.points(),
            .names = session.names(),
            .annotations = annotations_,
            .metadata = metadata_,
            .queries = queries_,
            .sink = tracker_.enabled() ? static_cast<PointSink&>(tracking_ingest_) : ingest_,
            .counters = counters_,
            .notes = notes_,
            .collect_stats = [this](const StatVisitor& visit) { CollectStats(visit); },
            .histograms = options_.http.histogram_codec_id ? &histogram_ingest_ : nullptr,
            .rollups = options_.rollups ? static_cast<RollupSink*>(&rollup_ingest_) : &no_rollups_,
            .recent_log = RecentLogLines,
            .set_log_level = SetLogLevelByName,
            .access = options_.users_file.empty() ? nullptr : &access_,
            .client_limits = options_.limits.client.any() ? &client_limits_ : nullptr,
            .maintenance = session.backend().maintenance(),
            .highest_ids = highest_ids_.get(),
            .warn = [](const std::string& text) { LogWarning("http", text); },
            .collect_latencies =
                [&session](const LatencyVisitor& visit) {
                  session.backend().CollectLatencies(visit);
                },
        },
        server_(options_.http, services_),
        graphite_(options_.http, services_) {
    if (options_.row_queue) {
      row_queue_ = std::make_unique<compaction::RowQueue>(&compactor_, *options_.row_queue, clock);
      session.backend().ListenForWrittenRows(
          [this](ByteView key, uint32_t base) { row_queue_->Written(key, base); });
      row_queue_->PauseWhile([&session] { return session.backend().WritesWait(); });
    }
    if (session.rollups() != nullptr && options_.http.mode != http::Mode::kReadOnly) {
      const AutomaticRollups& automatic = session.automatic_rollups();
      rollup_maker_ = std::make_unique<RollupMaker>(
          session.points(), *session.backend().watched(), session.cells(), *session.rollups(),
          clock,
          RollupMakerOptions{.ids = automatic.ids,
                             .reconcile = options_.query.reconcile,
                             .delay_s = automatic.delay_s,
                             .report = [](const std::string& text) { LogInfo("rollups", text); }});
    }
    if (options_.retention) {
      RetentionOptions retention = *options_.retention;
      if (RollupState* const rollups = session.rollups(); rollups != nullptr) {
        retention.may_delete = [rollups](const Bytes& metric, uint32_t end_s) {
          return rollups->KeepBefore(metric, end_s);
        };
      } else if (EndedRollups* const ended = session.ended_rollups(); ended != nullptr) {
        LogInfo("rollups",
                "tsd.rollups.automatic is off. When old points are deleted, their existing rollups "
                "stay, and no new rollups are computed");
        retention.may_delete = [ended](const Bytes& metric, uint32_t end_s) {
          return ended->KeepBefore(metric, end_s);
        };
      }
      retention_ = std::make_unique<Retention>(session.points(), session.names(), clock,
                                               std::move(retention));
    }
    if (session.backend().maintenance() != nullptr && options_.http.mode != http::Mode::kReadOnly &&
        !tracker_.enabled()) {
      stored_tag_formats_ = std::make_unique<StoredTagFormats>(
          ingest_, PosixFileSystem(), session.config().String("tsd.storage.path"),
          [](const std::string& text) { LogWarning("ingest", text); });
    }
    session.points().ListenForUnsettledRows(
        [this](ByteView key, uint32_t base) { compactor_.Offer(key, base); });
    access_.ListenForRefusals(
        [this](const http::AccessRefusal& refusal) { access_log_.Refused(refusal); });
    queries_.running().ListenForEnds(
        [this](const query::CompletedQuery& query) { query_log_.Ended(query); });
  }

  /// Starts all servers. The HTTP server takes over the ports of `waiting`.
  Status Start(http::WaitingPorts* waiting) {
    if (highest_ids_) highest_ids_->Start();
    Status prepared;
    if (options_.preloaded_rows) {
      prepared =
          Prepend(session_.names().Preload(*options_.preloaded_rows), "tsd.core.preload_uid_cache");
    }
    if (prepared.ok()) prepared = LoadUsers();
    RETURN_IF_ERROR(prepared);
    // The HTTP port is opened last, so that a successful /readyz means that all ports and the
    // socket for the tools are open.
    if (options_.http.mode != http::Mode::kReadOnly) RETURN_IF_ERROR(graphite_.Start());
    RETURN_IF_ERROR(ServeThrift2());
    ServeTools();
    RETURN_IF_ERROR(server_.Start(waiting->Close()));
    WarnIfOpen();
    if (stored_tag_formats_) stored_tag_formats_->Start();
    compactor_.Start();
    if (row_queue_) row_queue_->Start();
    if (retention_) retention_->Start();
    if (rollup_maker_) rollup_maker_->Start();
    return {};
  }
  /// Reports at /readyz that the daemon will stop. Requests are still served.
  void AnnounceStop() { stopping_.store(true, std::memory_order_relaxed); }
  /// Stops the HTTP server before the row compaction, so that rows that the last queries have found
  /// are still compacted.
  void Stop() {
    AnnounceStop();
    server_.Stop();
    graphite_.Stop();
    if (thrift2_) thrift2_->Stop();
    if (stored_tag_formats_) stored_tag_formats_->Stop();
    if (rollup_maker_) rollup_maker_->Stop();
    if (retention_) retention_->Stop();
    tools_.reset();
    if (row_queue_) row_queue_->Stop();
    compactor_.Stop();
    if (highest_ids_) highest_ids_->Stop();
  }

  /// Returns for example "127.0.0.1:4242" or "127.0.0.1:4242 and 0.0.0.0:4243 (TLS)".
  [[nodiscard]] std::string Address() const {
    const http::Options& options = options_.http;
    const std::string plain = Place(options.bind, server_.port());
    std::string text = plain;
    if (server_.tls_port() != 0) {
      const std::string& bind = options.tls.bind.empty() ? options.bind : options.tls.bind;
      text = (options.tls.port ? plain + " and " : "") + Place(bind, server_.tls_port()) + " (TLS)";
    }
    if (graphite_.port() != 0)
      text += ", Graphite's plaintext protocol on " + std::to_string(graphite_.port());
    if (graphite_.pickle_port() != 0)
      text += ", Graphite's pickle protocol on " + std::to_string(graphite_.pickle_port());
    if (thrift2_)
      text += ", HBase's Thrift2 protocol on " + Place(options_.thrift2->bind, thrift2_->port());
    return text;
  }

  /// Drops cached names, because another process may have changed them.
  void DropNames() {
    session_.names().DropCaches();
    ingest_.ForgetRawKeys();
  }

  /// Drops cached names, and reloads users and certificates.
  void Reload() {
    DropNames();
    LogInfo("daemon", "dropped the cached names");
    if (const Status loaded = LoadUsers(); !loaded.ok())
      LogError("access", "the file of users cannot be read; the previous users stay valid",
               {{"path", options_.users_file}, LogField(loaded)});
    if (const Status loaded = server_.ReloadTls(); !loaded.ok())
      LogError("access", "the TLS files cannot be read; the previous ones stay in use",
               {LogField(loaded)});
  }

 private:
  static std::string Place(const std::string& bind, uint16_t port) {
    const bool v6 = bind.find(':') != std::string::npos;
    return (v6 ? "[" + bind + "]" : bind) + ":" + std::to_string(port);
  }

  Status LoadUsers() {
    if (options_.users_file.empty()) return {};
    ASSIGN_OR_RETURN(const Bytes text, ReadWholeFile(PosixFileSystem(), options_.users_file));
    return Prepend(access_.Load(text), options_.users_file);
  }

  void WarnIfOpen() const {
    if (!options_.users_file.empty()) return;
    constexpr std::string_view kUsers = "tsd.core.authentication.users";
    if (session_.config().Has(kUsers)) {
      LogWarning("access",
                 "the users of tsd.core.authentication.users have no effect, because "
                 "tsd.core.authentication.enable is off",
                 {{"path", session_.config().String(kUsers)}});
    }
    if (!server_.reached_by_strangers()) return;
    LogWarning("access",
               "every client that can reach this daemon may read, write and delete everything, "
               "because tsd.core.authentication.enable is off",
               {{"address", Address()}});
  }

  /// Returns the options of the series tracker. If the settings enable trees, new series are placed
  /// in trees.
  uid::SeriesTrackerOptions TrackerOptions() {
    uid::SeriesTrackerOptions options = ReadSeriesTrackerOptions(session_.config());
    if (session_.config().Bool("tsd.core.tree.enable_processing"))
      options.stored = [this](const Bytes& tsuid, RequestContext& context) {
        return tree_sorter_.Sort(tsuid, context);
      };
    return options;
  }

  /// Drops cached names if the changed rows may contain names or ids.
  void NoteChanges(const std::string& table, const std::vector<RowMutation>& rows) {
    const bool names =
        WithoutDefaultNamespace(table) == WithoutDefaultNamespace(session_.uid_table()) &&
        std::any_of(rows.begin(), rows.end(), ChangesNames);
    if (names) DropNames();
  }

  /// Serves clients of HBase's Thrift2 protocol, if there is a port for them. They may write, so a
  /// daemon that only reads does not serve them.
  Status ServeThrift2() {
    if (!options_.thrift2 || options_.http.mode == http::Mode::kReadOnly) return {};
    thrift2::Thrift2Options options = *options_.thrift2;
    options.changed = [this](const std::string& table, const std::vector<RowMutation>& rows) {
      NoteChanges(table, rows);
    };
    auto started = thrift2::Thrift2Server::Start([this]() -> Store& { return session_.cells(); },
                                                 std::move(options));
    RETURN_IF_ERROR(Prepend(started.status(), "tsd.thrift2.port"));
    thrift2_ = std::move(*started);
    if (thrift2_->reached_by_others())
      LogWarning("thrift2",
                 "every client that can reach the port tsd.thrift2.port may read, write and delete "
                 "everything, because HBase's Thrift2 protocol has no authentication",
                 {{"address", Place(options_.thrift2->bind, thrift2_->port())}});
    return {};
  }

  /// Serves the tsdb tools on this machine, which cannot open the data directory while this process
  /// has it. If this fails, the daemon still serves its clients.
  void ServeTools() {
    local::LocalServerOptions options;
    options.maintenance = session_.backend().maintenance();
    if (options.maintenance == nullptr) return;  // the store has no directory
    options.folder = session_.config().String("tsd.storage.path");
    options.layout = session_.layout();
    options.changed = [this](const std::string& table, const std::vector<RowMutation>& rows) {
      NoteChanges(table, rows);
    };
    auto started =
        local::LocalServer::Start([this]() -> Store& { return session_.cells(); }, options);
    if (started.ok()) {
      tools_ = std::move(*started);
    } else {
      LogWarning("daemon", "tools cannot use the data directory while this daemon runs",
                 {LogField(started.status())});
    }
  }

  void CollectStats(const StatVisitor& visit) {
    const Ingest::Stats raw_keys = ingest_.stats();
    visit("ingest.raw_keys", "", static_cast<int64_t>(raw_keys.raw_keys));
    visit("ingest.raw_key_bytes", "", static_cast<int64_t>(raw_keys.raw_key_bytes));
    visit(std::string(http::kStoppingStat), "", stopping_.load(std::memory_order_relaxed) ? 1 : 0);
    visit("meta.failures", "", static_cast<int64_t>(tracking_ingest_.failures()));
    const auto refused = [&visit](const char* by, uint64_t count) {
      visit("limits.refused", std::string("type=") + by, static_cast<int64_t>(count));
    };
    refused("client_points", client_limits_.refused_points());
    refused("client_series", client_limits_.refused_series());
    refused("metric_points", metric_limits_.refused_points());
    refused("metric_series", metric_limits_.refused_series());
    const compaction::RowCompactorStats compactor = compactor_.Stats();
    const auto show = [&visit](const char* name, const char* tags, uint64_t value) {
      visit(std::string("compaction.") + name, tags, static_cast<int64_t>(value));
    };
    show("count", "", merges_.merges);
    show("duplicates", "type=identical", merges_.identical);
    show("duplicates", "type=variant", merges_.variant);
    const compaction::RowQueueStats waiting =
        row_queue_ ? row_queue_->Stats() : compaction::RowQueueStats();
    show("queue.size", "", compactor.queued + waiting.rows);
    show("errors", "rpc=read", compactor.failed_reads);
    show("errors", "rpc=put", compactor.failed_writes);
    show("errors", "rpc=delete", 0);  // a put contains its deletes, so only puts can fail
    show("writes", "", compactor.cells_written);
    show("deletes", "", compactor.cells_deleted);
    show("rewritten", "", compactor.rewritten);
    show("failed", "", compactor.failed);
    show("dropped", "", compactor.dropped + waiting.dropped);
    const RetentionStats retention = retention_ ? retention_->Stats() : RetentionStats();
    visit("retention.rounds", "", static_cast<int64_t>(retention.rounds));
    visit("retention.failures", "", static_cast<int64_t>(retention.failures));
    CollectThrift2Stats(visit);
    CollectCacheStats(visit);
    CollectRollupStats(visit);
    // Points and the scans of queries do not use the counted cell store, so they are added here.
    const bool appends = session_.config().Bool("tsd.storage.enable_appends");
    StoreCalls calls = session_.store_calls();
    (appends ? calls.append : calls.put) += raw_keys.points;
    if (!appends) calls.batched += raw_keys.points;
    calls.open_scanner += counters_.scans.Count();
    calls.scan += counters_.scans.Count();
    ShowStoreCalls(calls, visit);
    if (const uid::NameFilter* filter = session_.name_filter(); filter != nullptr) {
      for (UidKind kind : kUidKinds) {
        const std::string tags = "type=" + std::string(UidKindName(kind)) + " plugin=uidFilter";
        visit("uid.filter.whitelist.accepted", tags, static_cast<int64_t>(filter->accepted(kind)));
        visit("uid.filter.whitelist.rejected", tags, static_cast<int64_t>(filter->rejected(kind)));
      }
    }
    session_.backend().CollectStats(visit);
  }

  void CollectThrift2Stats(const StatVisitor& visit) {
    const thrift2::Thrift2Stats stats = thrift2_ ? thrift2_->Stats() : thrift2::Thrift2Stats();
    visit("thrift.connections", "type=open", static_cast<int64_t>(stats.connections));
    visit("thrift.connections", "type=rejected", static_cast<int64_t>(stats.refused));
    visit("thrift.calls", "", static_cast<int64_t>(stats.calls));
    visit("thrift.scanners", "", static_cast<int64_t>(stats.scanners));
    visit("thrift.memory", "", stats.memory_bytes);
  }

  void CollectCacheStats(const StatVisitor& visit) {
    const query::BucketCache* const cache = queries_.cache();
    const query::BucketCacheStats stats = cache ? cache->Stats() : query::BucketCacheStats();
    const auto show = [&visit](const char* name, uint64_t value) {
      visit(std::string("query.cache.") + name, "", static_cast<int64_t>(value));
    };
    show("hits", stats.hits);
    show("misses", stats.misses);
    show("stale", stats.stale);
    show("evicted", stats.evicted);
    show("hours", stats.hours);
    show("bytes", static_cast<uint64_t>(stats.bytes));
    show("limit", static_cast<uint64_t>(stats.bytes_max));
  }

  void CollectRollupStats(const StatVisitor& visit) {
    const RollupStats stats = rollup_maker_ ? rollup_maker_->Stats() : RollupStats();
    visit("rollups.rows", "", static_cast<int64_t>(stats.rows_written));
    visit("rollups.repaired", "", static_cast<int64_t>(stats.repaired));
    visit("rollups.failures", "", static_cast<int64_t>(stats.failures));
    visit("rollups.dirty_markers", "", static_cast<int64_t>(stats.markers));
    visit("rollups.lag", "", stats.lag_s);
    visit("rollups.metrics_left", "", static_cast<int64_t>(stats.metrics_left));
  }

  static DaemonOptions CountingMerges(DaemonOptions options, MergeCounters* merges) {
    options.query.reconcile.counters = options.compactor.reconcile.counters = merges;
    return options;
  }

  Session& session_;
  MergeCounters merges_;
  const DaemonOptions options_;
  const std::map<std::string, std::string> settings_;
  compaction::RowCompactor compactor_;
  std::unique_ptr<compaction::RowQueue>
      row_queue_;  // null: rows are compacted when a query has found that they need it
  std::unique_ptr<Retention> retention_;       // null: points are not deleted by age
  std::unique_ptr<RollupMaker> rollup_maker_;  // null: no automatic rollups
  MetricLimits metric_limits_;
  Ingest ingest_;
  std::unique_ptr<StoredTagFormats>
      stored_tag_formats_;  // null: no folder, or raw series keys are not used
  uid::SeriesTracker tracker_;
  TrackingIngest tracking_ingest_;
  HistogramIngest histogram_ingest_;
  RollupIngest rollup_ingest_;
  NoRollups no_rollups_;
  query::Engine queries_;
  uid::Annotations annotations_;
  uid::Metadata metadata_;
  uid::TreeSorter tree_sorter_;
  http::Counters counters_;
  std::unique_ptr<uid::HighestIds> highest_ids_;  // null: highest ids are read on request
  std::atomic<bool> stopping_{false};
  http::ClientNotes notes_;
  http::Access access_;
  AccessLog access_log_;
  QueryLog query_log_;
  http::ClientLimits client_limits_;
  http::Services services_;
  http::Server server_;
  http::GraphiteServer graphite_;
  // Serves the tsdb tools on a socket in the data directory. If it is null, tools cannot use the
  // data directory while this process runs.
  std::unique_ptr<local::LocalServer> tools_;
  std::unique_ptr<thrift2::Thrift2Server> thrift2_;  // null: not served
};

/// Opens the store. If a store on another machine is not reachable yet, waits up to `patience_ms`
/// for it. The daemon does not start without the store, because it would know no ids and could not
/// even spool points. Returns false if a signal stops the daemon.
Result<bool> OpenPatiently(Invocation& call, const Signals& signals, int64_t patience_ms) {
  constexpr int64_t kPauseMs = 1000;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms);
  while (true) {
    const Status opened = call.Open(StoreUse::kServe);
    if (opened.ok()) return true;
    const auto left = give_up - std::chrono::steady_clock::now();
    if (opened.code() != StatusCode::kUnavailable || left <= left.zero()) return opened;
    LogWarning(
        "daemon", "the store cannot be reached; trying again",
        {{"left_s", std::chrono::ceil<std::chrono::seconds>(left).count()}, LogField(opened)});
    if (Signals::IsStop(signals.Wait(kPauseMs))) return false;
  }
}

/// Checks that limits on the number of series are used only with a local store. Only a local store
/// can list series quickly.
Status CheckLimits(const WriteLimits& limits, bool remote) {
  const bool series = limits.client.new_series_per_hour > 0 || limits.metric.series_max > 0;
  if (!remote || !series) return {};
  return Status::InvalidArgument(
      "settings tsd.limits.client.series and tsd.limits.metric.series need tsd.storage.backend = "
      "embedded");
}

}  // namespace

Status RunDaemon(Invocation& call) {
  ASSIGN_OR_RETURN(DaemonOptions options, ReadDaemonOptions(call.session.config()));
  ASSIGN_OR_RETURN(const StopOptions stop, ReadStopOptions(call.session.config()));
  const ServiceManager manager = ServiceManager::FromEnvironment();
  const Signals signals;
  ASSIGN_OR_RETURN(const uint64_t memory_limit_bytes, ReadMemoryLimit(call.session.config()));
  Heap heap(memory_limit_bytes);
  const uint64_t open_files_max = RaiseOpenFilesLimit();
  options.http.connections_max = ConnectionsWithin(open_files_max, options.http.connections_max);
  const int64_t began_ns = call.clock.MonotonicNs();
  LogInfo("daemon", "starting",
          {{"version", http::ThisBuild().product_version},
           {"pid", getpid()},
           {"connections_max", options.http.connections_max},
           {"open_files_max", open_files_max}});
  ASSIGN_OR_RETURN(const int64_t patience_ms, ReadStartPatienceMs(call.session.config()));
  http::WaitingPorts waiting(options.http);
  RETURN_IF_ERROR(waiting.Open(options.http, options.http.connections_max));
  manager.Say("Opening the store");
  ASSIGN_OR_RETURN(const bool is_open, OpenPatiently(call, signals, patience_ms));
  if (!is_open) return {};
  RETURN_IF_ERROR(CheckLimits(options.limits, call.session.backend().remote()));
  options.ingest.append_blocks = call.session.backend().remote();
  if (options.ingest.append_blocks) options.http.write_threads = kRemoteWriteThreads;
  Daemon daemon(call.session, call.clock, std::move(options));
  RETURN_IF_ERROR(daemon.Start(&waiting));
  LogInfo("daemon", "Ready to serve",
          {{"address", daemon.Address()},
           {"duration_ms", (call.clock.MonotonicNs() - began_ns) / 1'000'000}});
  manager.Ready();
  std::string last_failure;
  while (true) {
    const int signal = signals.Wait(kWatchIntervalMs);
    heap.Trim();
    if (const Status health = call.session.backend().Health(); health.message() != last_failure) {
      last_failure = health.message();
      if (health.ok()) {
        LogInfo("store", "the store works again");
      } else {
        LogError("store", "background work of the store failed", {LogField(health)});
      }
    }
    if (Signals::IsStop(signal)) {
      LogInfo("daemon", "stopping", {{"signal", strsignal(signal)}});
      break;
    }
    if (signal != SIGHUP) continue;
    manager.Reloading();
    daemon.Reload();
    manager.Ready();
  }
  const int64_t stop_ns = call.clock.MonotonicNs();
  daemon.AnnounceStop();
  manager.Stopping();
  // Requests are still served, so that load balancers have time to remove this server.
  signals.WaitForStop(call.clock, stop.drain_ms);
  daemon.Stop();
  // After a flush, the next start need not replay the log. If the flush fails or is interrupted, no
  // data is lost, because unflushed data stays in the log.
  const Status flushed = stop.flush ? call.session.cells().Flush() : Status();
  if (!flushed.ok() && flushed.code() != StatusCode::kUnsupported)
    LogWarning("store", "the memory could not be flushed to files; the next start replays the log",
               {LogField(flushed)});
  LogInfo("daemon", "stopped", {{"duration_ms", (call.clock.MonotonicNs() - stop_ns) / 1'000'000}});
  return {};
}

}  // namespace hg::tsd
