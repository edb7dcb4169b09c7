#pragma once
// From settings to the options structs of the rooms. The only place that knows which key feeds
// which field. Each function fails with InvalidArgument that names key and value.

#include <memory>
#include <optional>

#include "compaction/row_queue.h"
#include "http/access/client_limits.h"
#include "http/options.h"
#include "query/options.h"
#include "storage/model/key_layout.h"
#include "storage/points/points.h"
#include "tsd/config.h"
#include "tsd/ingest/ingest.h"
#include "tsd/ingest/metric_limits.h"
#include "tsd/ingest/rollup_ingest.h"
#include "tsd/log.h"
#include "tsd/retention/retention.h"
#include "tsd/rollup/automatic_rollups.h"
#include "uid/annotations.h"
#include "uid/metadata.h"
#include "uid/name_filter.h"
#include "uid/names.h"
#include "uid/series_tracker.h"

namespace hg::tsd {

/// How the daemon ends (docs/operations.md).
struct StopOptions {
  int64_t drain_ms = 0;  // clients are served on, while /readyz says no
  bool flush = true;     // memory goes to files, so that the next start has nothing to replay
};

Result<StopOptions> ReadStopOptions(const Config& config);
Result<LogOptions> ReadLogOptions(const Config& config);
Result<KeyLayout> ReadKeyLayout(const Config& config);
Result<uid::NamesOptions> ReadNamesOptions(const Config& config);
/// Null: every name may get an id.
Result<std::unique_ptr<uid::NameFilter>> ReadNameFilter(const Config& config);
/// Rows of the table of ids that are read at start; none: the daemon begins with an empty cache.
Result<std::optional<size_t>> ReadPreloadedRows(const Config& config);
Result<http::Options> ReadHttpOptions(const Config& config);
/// The file of users; "" = authentication is off.
Result<std::string> ReadUsersFile(const Config& config);
/// InvalidArgument: others must say who they are, and a port of Graphite's, which cannot ask, is
/// open; but for tsd.graphite.anonymous.
Status CheckAnonymousPorts(const Config& config);
struct WriteLimits {
  http::ClientLimitOptions client;
  MetricLimitOptions metric;
};
Result<WriteLimits> ReadWriteLimits(const Config& config);
ReconcileOptions ReadReconcileOptions(const Config& config);
/// tsd.memory.limit in bytes; half of the machine's memory if it is not set.
Result<uint64_t> ReadMemoryLimit(const Config& config);
Result<IngestOptions> ReadIngestOptions(const Config& config);
Result<uid::AnnotationsOptions> ReadAnnotationsOptions(const Config& config);
Result<uid::MetadataOptions> ReadMetadataOptions(const Config& config);
uid::SeriesTrackerOptions ReadSeriesTrackerOptions(const Config& config);
Result<compaction::RowFoldOptions> ReadRowFoldOptions(const Config& config);
/// None: rows that were written are not folded by themselves.
Result<std::optional<compaction::RowQueueOptions>> ReadRowQueueOptions(const Config& config);
Result<query::Options> ReadQueryOptions(const Config& config);
/// tsd.query.slow_log in milliseconds; 0 = slow queries are not logged.
Result<int64_t> ReadSlowQueryMs(const Config& config);
/// None: nothing is deleted for its age, or this daemon writes nothing (tsd.mode).
/// `query`: as ReadQueryOptions gave them.
Result<std::optional<RetentionOptions>> ReadRetentionOptions(const Config& config,
                                                             const query::Options& query);
/// How long a daemon that starts waits for a store on another machine; 0 where there is none.
Result<int64_t> ReadStartPatienceMs(const Config& config);
/// None: rollups are made by others, if there are any.
Result<std::optional<AutomaticRollups>> ReadAutomaticRollups(const Config& config);
/// None: rollups are not configured.
Result<std::optional<RollupIngestOptions>> ReadRollupOptions(const Config& config);

}  // namespace hg::tsd
