#pragma once
// From settings to the options structs of the rooms: with http_settings.h, query_settings.h,
// rollup_settings.h and spool_settings.h the only place that knows which key feeds which field.
// Each function fails with InvalidArgument that names key and value.

#include <memory>
#include <optional>

#include "compaction/row_queue.h"
#include "query/options.h"
#include "storage/model/key_layout.h"
#include "storage/points/points.h"
#include "tsd/config.h"
#include "tsd/ingest/ingest.h"
#include "tsd/log.h"
#include "tsd/retention/retention.h"
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
ReconcileOptions ReadReconcileOptions(const Config& config);
/// tsd.memory.limit in bytes; half of the machine's memory if it is not set.
Result<uint64_t> ReadMemoryLimit(const Config& config);
/// UTF-8 of tsd.core.tag.allow_specialchars, which is read as Latin-1, as the file is. Blanks at
/// either end do not count, blanks inside do (spec schema.md §19.2).
std::string ReadExtraNameCharacters(const Config& config);
Result<IngestOptions> ReadIngestOptions(const Config& config);
Result<uid::AnnotationsOptions> ReadAnnotationsOptions(const Config& config);
Result<uid::MetadataOptions> ReadMetadataOptions(const Config& config);
uid::SeriesTrackerOptions ReadSeriesTrackerOptions(const Config& config);
Result<compaction::RowFoldOptions> ReadRowFoldOptions(const Config& config);
/// None: rows that were written are not folded by themselves.
Result<std::optional<compaction::RowQueueOptions>> ReadRowQueueOptions(const Config& config);
/// None: nothing is deleted for its age, or this daemon writes nothing (tsd.mode).
/// `query`: as ReadQueryOptions gave them.
Result<std::optional<RetentionOptions>> ReadRetentionOptions(const Config& config,
                                                             const query::Options& query);
/// How long a daemon that starts waits for a store on another machine; 0 where there is none.
Result<int64_t> ReadStartPatienceMs(const Config& config);

}  // namespace hg::tsd
