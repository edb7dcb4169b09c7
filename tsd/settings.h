#pragma once
// Converts settings to the options structs of the layers. Only this file, http_settings.h,
// query_settings.h, rollup_settings.h and spool_settings.h know which key sets which field. If a
// value is invalid, a function returns InvalidArgument, whose message contains the key and the
// value.

#include <memory>
#include <optional>

#include "compaction/row_queue.h"
#include "query/request/options.h"
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
#include "uid/tree_sorter.h"

namespace hg::tsd {

/// The settings that determine how the daemon stops (docs/operations.md).
struct StopOptions {
  int64_t drain_ms = 0;  // time in which the daemon still serves but /readyz reports "not ready"
  bool flush = true;     // whether to flush memory to files, so that the next start replays nothing
};

Result<StopOptions> ReadStopOptions(const Config& config);
Result<LogOptions> ReadLogOptions(const Config& config);
Result<KeyLayout> ReadKeyLayout(const Config& config);
Result<uid::NamesOptions> ReadNamesOptions(const Config& config);
/// Returns the filter that decides which names may get ids. null: every name may get an id.
Result<std::unique_ptr<uid::NameFilter>> ReadNameFilter(const Config& config);
/// Returns the number of rows of the id table that the daemon reads at its start. nullopt: the
/// daemon starts with an empty cache of names.
Result<std::optional<size_t>> ReadPreloadedRows(const Config& config);
ReconcileOptions ReadReconcileOptions(const Config& config);
/// Returns the value of tsd.memory.limit in bytes. The default is half of MachineMemoryBytes()
/// (tsd/machine_memory.h).
Result<uint64_t> ReadMemoryLimit(const Config& config);
/// Returns the value of tsd.core.tag.allow_specialchars in UTF-8. The settings file is in Latin-1.
/// Blanks at both ends of the value are ignored; blanks inside the value are allowed characters
/// (opentsdb-schema.md §19.2).
std::string ReadExtraNameCharacters(const Config& config);
Result<IngestOptions> ReadIngestOptions(const Config& config);
Result<uid::AnnotationsOptions> ReadAnnotationsOptions(const Config& config);
Result<uid::MetadataOptions> ReadMetadataOptions(const Config& config);
uid::SeriesTrackerOptions ReadSeriesTrackerOptions(const Config& config);
/// Returns the options of the tree sorter. They contain a function that logs a warning if some
/// enabled trees get no new series, because the rules of all enabled trees need too much memory.
Result<uid::TreeSorterOptions> ReadTreeSorterOptions(const Config& config);
Result<compaction::RowCompactorOptions> ReadRowCompactorOptions(const Config& config);
/// Returns the options of row compaction; nullopt if rows are not compacted automatically after
/// they were written.
Result<std::optional<compaction::RowQueueOptions>> ReadRowQueueOptions(const Config& config);
/// Returns the options of retention; nullopt if there are no retention rules, or if the mode of
/// this daemon (tsd.mode) allows no writes. `query` is the result of ReadQueryOptions.
Result<std::optional<RetentionOptions>> ReadRetentionOptions(const Config& config,
                                                             const query::Options& query);
/// Returns how long a daemon that starts waits for a remote store, in milliseconds; 0 for local
/// stores.
Result<int64_t> ReadStartPatienceMs(const Config& config);

}  // namespace hg::tsd
