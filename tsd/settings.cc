#include "tsd/settings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "storage/model/name_text.h"
#include "tsd/http_settings.h"
#include "tsd/machine_memory.h"
#include "tsd/setting_values.h"

namespace hg::tsd {
namespace {

/// Minimum of tsd.memory.limit in bytes. It is enough for one active and one frozen memtable.
constexpr int64_t kMemoryLimitBytesMin = 16 << 20;

}  // namespace

Result<KeyLayout> ReadKeyLayout(const Config& config) {
  KeyLayout layout;
  RETURN_IF_ERROR(ReadInt(config, "tsd.storage.uid.width.metric", 1, 8, &layout.metric_width));
  RETURN_IF_ERROR(ReadInt(config, "tsd.storage.uid.width.tagk", 1, 8, &layout.tagk_width));
  RETURN_IF_ERROR(ReadInt(config, "tsd.storage.uid.width.tagv", 1, 8, &layout.tagv_width));
  RETURN_IF_ERROR(ReadInt(config, "tsd.storage.salt.width", 0, 8, &layout.salt_width));
  RETURN_IF_ERROR(ReadInt(config, "tsd.storage.salt.buckets", 1, kIntMax, &layout.salt_buckets));
  return layout;
}

Result<uid::NamesOptions> ReadNamesOptions(const Config& config) {
  uid::NamesOptions options;
  options.table = config.String("tsd.storage.hbase.uid_table");
  ASSIGN_OR_RETURN(options.layout, ReadKeyLayout(config));
  options.random_metrics = config.Bool("tsd.core.uid.random_metrics");
  if (options.random_metrics && options.layout.metric_width == 8) {
    return Status::InvalidArgument(
        "tsd.core.uid.random_metrics needs tsd.storage.uid.width.metric of at most 7, not 8");
  }
  if (config.Bool("tsd.uid.use_mode")) {
    const http::Mode mode = ReadMode(config);
    options.cache.ids = mode != http::Mode::kReadOnly;
    options.cache.names = mode != http::Mode::kWriteOnly;
  }
  if (config.Bool("tsd.uid.lru.enable")) {
    RETURN_IF_ERROR(ReadInt(config, "tsd.uid.lru.id.size", 1, kLongMax, &options.cache.ids_max));
    RETURN_IF_ERROR(
        ReadInt(config, "tsd.uid.lru.name.size", 1, kLongMax, &options.cache.names_max));
  }
  return options;
}

Result<std::unique_ptr<uid::NameFilter>> ReadNameFilter(const Config& config) {
  if (!config.Bool("tsd.uidfilter.enable")) return std::unique_ptr<uid::NameFilter>();
  const std::string& plugin = config.String("tsd.uidfilter.plugin");
  if (!plugin.ends_with("UniqueIdWhitelistFilter"))
    return Status::InvalidArgument("setting tsd.uidfilter.plugin = \"" + plugin +
                                   "\": the only supported value is "
                                   "net.opentsdb.uid.UniqueIdWhitelistFilter");
  Result<std::unique_ptr<uid::NameFilter>> filter =
      uid::NameFilter::Compile({config.String("tsd.uidfilter.whitelist.metric_patterns"),
                                config.String("tsd.uidfilter.whitelist.tagk_patterns"),
                                config.String("tsd.uidfilter.whitelist.tagv_patterns")},
                               config.String("tsd.uidfilter.whitelist.delimiter"));
  if (!filter.ok()) return Prepend(filter.status(), "settings tsd.uidfilter.whitelist");
  return filter;
}

Result<std::optional<size_t>> ReadPreloadedRows(const Config& config) {
  if (!config.Bool("tsd.core.preload_uid_cache")) return std::optional<size_t>();
  size_t rows = 300000;
  RETURN_IF_ERROR(ReadInt(config, "tsd.core.preload_uid_cache.max_entries", 0, kLongMax, &rows));
  return std::optional<size_t>(rows);
}

ReconcileOptions ReadReconcileOptions(const Config& config) {
  ReconcileOptions options;
  options.fix_duplicates = config.Bool("tsd.storage.fix_duplicates");
  options.use_otsdb_timestamp = config.Bool("tsd.storage.use_otsdb_timestamp");
  options.use_max_value = config.Bool("tsd.storage.use_max_value");
  options.repair_appends = config.Bool("tsd.storage.repair_appends");
  return options;
}

Result<uint64_t> ReadMemoryLimit(const Config& config) {
  ASSIGN_OR_RETURN(const int64_t bytes,
                   config.Int("tsd.memory.limit", static_cast<int64_t>(MachineMemoryBytes() / 2),
                              kMemoryLimitBytesMin));
  return static_cast<uint64_t>(bytes);
}

std::string ReadExtraNameCharacters(const Config& config) {
  const std::string& text = config.String("tsd.core.tag.allow_specialchars");
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return FromLatin1(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

Result<IngestOptions> ReadIngestOptions(const Config& config) {
  IngestOptions options;
  options.auto_create_metrics = config.Bool("tsd.core.auto_create_metrics");
  options.auto_create_tagks = config.Bool("tsd.core.auto_create_tagks");
  options.auto_create_tagvs = config.Bool("tsd.core.auto_create_tagvs");
  ASSIGN_OR_RETURN(const uint64_t memory_bytes, ReadMemoryLimit(config));
  options.raw_key_bytes_max = memory_bytes / 8;
  RETURN_IF_ERROR(ReadInt(config, "tsd.storage.max_tags", 1, kIntMax, &options.max_tags));
  RETURN_IF_ERROR(ReadInt(config, "tsd.ingest.max_tags", 1, kIntMax, &options.foreign_max_tags));
  options.extra_name_characters = ReadExtraNameCharacters(config);
  return options;
}

Result<uid::AnnotationsOptions> ReadAnnotationsOptions(const Config& config) {
  uid::AnnotationsOptions options;
  options.table = config.String("tsd.storage.hbase.data_table");
  ASSIGN_OR_RETURN(options.layout, ReadKeyLayout(config));
  options.use_otsdb_timestamp = config.Bool("tsd.storage.use_otsdb_timestamp");
  return options;
}

Result<uid::MetadataOptions> ReadMetadataOptions(const Config& config) {
  uid::MetadataOptions options;
  options.uid_table = config.String("tsd.storage.hbase.uid_table");
  options.meta_table = config.String("tsd.storage.hbase.meta_table");
  ASSIGN_OR_RETURN(options.layout, ReadKeyLayout(config));
  return options;
}

uid::SeriesTrackerOptions ReadSeriesTrackerOptions(const Config& config) {
  uid::SeriesTrackerOptions options;
  options.meta_table = config.String("tsd.storage.hbase.meta_table");
  options.tracking = config.Bool("tsd.core.meta.enable_tsuid_tracking");
  options.realtime_ts = config.Bool("tsd.core.meta.enable_realtime_ts");
  options.incrementing = config.Bool("tsd.core.meta.enable_tsuid_incrementing");
  return options;
}

Result<uid::TreeSorterOptions> ReadTreeSorterOptions(const Config& config) {
  uid::TreeSorterOptions options;
  ASSIGN_OR_RETURN(const uint64_t memory_bytes, ReadMemoryLimit(config));
  options.bytes_max = std::min(options.bytes_max, static_cast<int64_t>(memory_bytes / 32));
  options.warn = [](const uid::LeftOutTrees& left_out) {
    LogWarning("trees",
               "some enabled trees get no new series, because the rules of all enabled trees need "
               "too much memory",
               {{"first_tree", left_out.first_id}, {"trees", left_out.count}});
  };
  return options;
}

Result<std::optional<compaction::RowQueueOptions>> ReadRowQueueOptions(const Config& config) {
  compaction::RowQueueOptions options;
  const auto read = [&](const char* key, int64_t preset, int64_t least, auto* to) -> Status {
    ASSIGN_OR_RETURN(const int64_t value, config.Int(key, preset, least, 1'000'000'000));
    *to = static_cast<std::remove_pointer_t<decltype(to)>>(value);
    return {};
  };
  RETURN_IF_ERROR(read("tsd.storage.compaction.flush_interval", 10, 1, &options.flush_interval_s));
  RETURN_IF_ERROR(
      read("tsd.storage.compaction.min_flush_threshold", 100, 0, &options.min_flush_threshold));
  RETURN_IF_ERROR(read("tsd.storage.compaction.max_concurrent_flushes", 10'000, 1,
                       &options.max_concurrent_flushes));
  RETURN_IF_ERROR(read("tsd.storage.compaction.flush_speed", 2, 1, &options.flush_speed));
  // Rows with append cells are never compacted.
  const bool wanted =
      config.Bool("tsd.storage.enable_compaction") && !config.Bool("tsd.storage.enable_appends");
  return wanted ? std::optional(options) : std::nullopt;
}

Result<std::optional<RetentionOptions>> ReadRetentionOptions(const Config& config,
                                                             const query::Options& query) {
  RetentionOptions options;
  ASSIGN_OR_RETURN(options.rules, ReadRetentionRules(config.String("tsd.retention.config")));
  ASSIGN_OR_RETURN(options.interval_s,
                   config.Int("tsd.retention.interval", 3600, 1, 1'000'000'000));
  options.query = query;
  const bool wanted = !options.rules.empty() && config.String("tsd.mode") != "ro";
  return wanted ? std::optional(std::move(options)) : std::nullopt;
}

Result<compaction::RowCompactorOptions> ReadRowCompactorOptions(const Config& config) {
  compaction::RowCompactorOptions options;
  ASSIGN_OR_RETURN(options.layout, ReadKeyLayout(config));
  options.table = config.String("tsd.storage.hbase.data_table");
  options.enable_compaction = config.Bool("tsd.storage.enable_compaction");
  options.reconcile = ReadReconcileOptions(config);
  return options;
}

Result<StopOptions> ReadStopOptions(const Config& config) {
  StopOptions options;
  RETURN_IF_ERROR(ReadInt(config, "tsd.core.stop.drain", 0, 3'600'000, &options.drain_ms));
  options.flush = config.Bool("tsd.core.stop.flush");
  return options;
}

Result<LogOptions> ReadLogOptions(const Config& config) {
  LogOptions options;
  const auto wrong = [&config](const char* key, const char* words) {
    return Status::InvalidArgument("setting " + std::string(key) + " = \"" + config.String(key) +
                                   "\" is not one of " + words);
  };
  const std::string& format = config.String("tsd.log.format");
  if (format == "json") {
    options.format = LogFormat::kJson;
  } else if (format != "text") {
    return wrong("tsd.log.format", "text, json");
  }
  const std::string& level = config.String("tsd.log.level");
  if (level == "debug") {
    options.level = LogLevel::kDebug;
  } else if (level == "warning") {
    options.level = LogLevel::kWarning;
  } else if (level == "error") {
    options.level = LogLevel::kError;
  } else if (level != "info") {
    return wrong("tsd.log.level", "debug, info, warning, error");
  }
  return options;
}

Result<int64_t> ReadStartPatienceMs(const Config& config) {
  if (config.String("tsd.storage.backend") != "hbase") return int64_t{0};
  return config.Int("tsd.storage.hbase.start_patience", 60'000, 0, kLongMax);
}

}  // namespace hg::tsd
