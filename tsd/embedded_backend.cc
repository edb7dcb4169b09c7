#include "tsd/embedded_backend.h"

#include <cstdio>

#include "storage/engine/embedded.h"
#include "storage/region/region_count.h"
#include "tsd/append_mode.h"
#include "tsd/log.h"
#include "tsd/once_a_minute.h"
#include "tsd/open_files.h"
#include "tsd/settings.h"
#include "tsd/tables.h"

namespace hg::tsd {
namespace {

Result<Durability> ReadDurability(const Config& config) {
  const std::string& text = config.String("tsd.storage.durability");
  if (text == "synced") return Durability::kSynced;
  if (text == "logged") return Durability::kLogged;
  if (text == "buffered") return Durability::kBuffered;
  if (text == "none") return Durability::kNone;
  return Status::InvalidArgument("setting tsd.storage.durability = \"" + text +
                                 "\" is not one of synced, logged, buffered, none");
}

Status ReadSplitPolicy(const Config& config, region::SplitPolicy* policy) {
  const std::string& text = config.String("tsd.storage.region.split_policy");
  if (text == "stepping") {
    policy->rule = region::SplitRule::kStepping;
  } else if (text == "constant") {
    policy->rule = region::SplitRule::kConstant;
  } else if (text == "increasing") {
    policy->rule = region::SplitRule::kIncreasingCubed;
  } else if (text == "increasing2") {
    policy->rule = region::SplitRule::kIncreasingSquared;
  } else if (text == "none") {
    policy->rule = region::SplitRule::kNone;
  } else {
    return Status::InvalidArgument(
        "setting tsd.storage.region.split_policy = \"" + text +
        "\" is not one of stepping, constant, increasing, increasing2, none");
  }
  ASSIGN_OR_RETURN(const int64_t max, config.Int("tsd.storage.region.max_size",
                                                 static_cast<int64_t>(policy->bytes_max), 1));
  ASSIGN_OR_RETURN(const int64_t unit,
                   config.Int("tsd.storage.region.flush_size",
                              static_cast<int64_t>(policy->unit_bytes), 1, int64_t{1} << 40));
  policy->bytes_max = static_cast<uint64_t>(max);
  policy->unit_bytes = static_cast<uint64_t>(unit);
  return {};
}

Status ReadOffPeak(const std::string& text, region::MergePolicy* policy) {
  if (text.empty()) return {};
  int begin = -1, end = -1, length = 0;
  const int read = std::sscanf(text.c_str(), "%2d-%2d%n", &begin, &end, &length);
  if (read != 2 || static_cast<size_t>(length) != text.size() || begin < 0 || begin > 23 ||
      end < 0 || end > 24) {
    return Status::InvalidArgument("setting tsd.storage.merge.off_peak = \"" + text +
                                   "\" is not a range of hours such as 22-6");
  }
  policy->off_peak_begin = begin;
  policy->off_peak_end = end;
  return {};
}

Status ReadMergePolicy(const Config& config, region::MergePolicy* policy) {
  RETURN_IF_ERROR(ReadOffPeak(config.String("tsd.storage.merge.off_peak"), policy));
  ASSIGN_OR_RETURN(const int64_t rate,
                   config.Int("tsd.storage.merge.throughput",
                              static_cast<int64_t>(policy->bytes_per_s_low), 0, int64_t{1} << 50));
  ASSIGN_OR_RETURN(const int64_t large, config.Int("tsd.storage.merge.large",
                                                   static_cast<int64_t>(policy->large_bytes), 1));
  ASSIGN_OR_RETURN(const int64_t period_s,
                   config.Int("tsd.storage.merge.major_period", policy->major_period_ms / 1000, 0,
                              int64_t{1} << 40));
  policy->bytes_per_s_low = static_cast<uint64_t>(rate);
  policy->bytes_per_s_high = 2 * policy->bytes_per_s_low;
  policy->large_bytes = static_cast<uint64_t>(large);
  policy->major_period_ms = period_s * 1000;
  return {};
}

Result<EmbeddedOptions> ReadOptions(const Config& config, const std::string& words) {
  EmbeddedOptions options;
  options.path = config.String("tsd.storage.path");
  ASSIGN_OR_RETURN(options.layout, ReadKeyLayout(config));
  ASSIGN_OR_RETURN(options.durability, ReadDurability(config));
  ASSIGN_OR_RETURN(const int64_t sync_interval_ms,
                   config.Int("tsd.storage.sync_interval", 1000, 1, 3'600'000));
  options.sync_interval_ms = static_cast<int>(sync_interval_ms);
  ASSIGN_OR_RETURN(options.memory_limit_bytes, ReadMemoryLimit(config));
  ASSIGN_OR_RETURN(
      const int64_t log_bytes,
      config.Int("tsd.storage.log.max", static_cast<int64_t>(options.log_max_bytes), 1 << 20));
  options.log_max_bytes = static_cast<uint64_t>(log_bytes);
  ASSIGN_OR_RETURN(const int64_t memory, config.Int("tsd.storage.memstore.percent", 40, 1, 100));
  ASSIGN_OR_RETURN(const int64_t cache, config.Int("tsd.storage.block_cache.percent", 15, 0, 100));
  options.memory_share = static_cast<double>(memory) / 100;
  options.cache_share = static_cast<double>(cache) / 100;
  RETURN_IF_ERROR(ReadSplitPolicy(config, &options.split));
  RETURN_IF_ERROR(ReadMergePolicy(config, &options.merge));
  ASSIGN_OR_RETURN(const int64_t interval_s,
                   config.Int("tsd.storage.merge.interval", options.check_interval_ms / 1000, 1,
                              int64_t{1} << 30));
  options.check_interval_ms = interval_s * 1000;
  options.enable_compaction = config.Bool("tsd.storage.enable_compaction");
  options.lock_note = words;
  ASSIGN_OR_RETURN(options.tables, DescribeTables(config));
  return options;
}

/// Sets the TTL of the data table to that of the settings, if there is one.
Status SetTtl(const Config& config, Store& store) {
  if (config.String("tsd.storage.ttl").empty()) return {};
  ASSIGN_OR_RETURN(const int64_t ttl_s, config.Int("tsd.storage.ttl", 0, 0, kTtlForever));
  ASSIGN_OR_RETURN(TableDescriptor table,
                   store.DescribeTable(config.String("tsd.storage.hbase.data_table")));
  const TableDescriptor before = table;
  for (FamilyDescriptor& family : table.families) family.ttl_s = ttl_s > 0 ? ttl_s : kTtlForever;
  return table == before ? Status() : store.AlterTable(table);
}

/// Logs a warning for a table with many families. All families of a row are read and merged
/// together, so each additional family slows down the others (region-store.md D6).
void WarnOfFamilies(const TableDescriptor& table) {
  constexpr size_t kFamiliesAdvised = 3;
  if (table.families.size() <= kFamiliesAdvised) return;
  LogWarning("store",
             "a table with many column families is slow, because the rows of all families are "
             "read together",
             {{"table", table.name},
              {"families", table.families.size()},
              {"families_advised", kFamiliesAdvised}});
}

/// Logs events of the store that users should know.
class LoggingObserver : public StoreObserver {
 public:
  explicit LoggingObserver(const Clock& clock) : all_refused_(clock), series_refused_(clock) {}

  void AfterTable(const TableDescriptor& table) override { WarnOfFamilies(table); }
  void AfterMemoryRefusal(const Status& why) override {
    const bool all = why.code() == StatusCode::kBusy;
    if (!(all ? all_refused_ : series_refused_).Due()) return;
    LogWarning("store", all ? "all writes are refused" : "new series and names are refused",
               {LogField(why)});
  }

 private:
  OnceAMinute all_refused_, series_refused_;
};

class EmbeddedBackend : public Backend {
 public:
  EmbeddedBackend(std::unique_ptr<Embedded> store, const Config& config,
                  std::shared_ptr<std::atomic<uint64_t>> name_bytes)
      : store_(std::move(store)), name_bytes_(std::move(name_bytes)) {
    if (!config.Bool("tsd.storage.enable_appends")) return;
    append_mode_ = MakeAppendModePoints(store_->cells(), store_->points(),
                                        config.String("tsd.storage.hbase.data_table"));
  }

  Store& cells() override { return store_->cells(); }
  Points& points() override { return append_mode_ ? *append_mode_ : store_->points(); }
  [[nodiscard]] bool native_points() const override { return true; }
  Status MayAddSeries(uint64_t name_bytes) override { return store_->MayAddSeries(name_bytes); }
  WatchedPoints* watched() override { return &store_->watched(); }
  [[nodiscard]] std::shared_ptr<std::atomic<uint64_t>> name_bytes() override { return name_bytes_; }

  void CollectStats(const StatVisitor& visit) override {
    const EmbeddedStats stats = store_->Stats();
    const auto show = [&visit](const char* name, uint64_t value) {
      visit(std::string("storage.") + name, "", static_cast<int64_t>(value));
    };
    show("series", stats.series);
    show("memory.bytes", stats.memory_bytes);
    show("memory.limit", stats.memory_limit_bytes);
    show("registry.bytes", stats.registry_bytes);
    show("registry.mapped_bytes", stats.registry_mapped_bytes);
    show("names.bytes", stats.name_bytes);
    show("series.refused", stats.refused_series);
    show("series.full", stats.series_full ? 1 : 0);
    show("series.refused_now", stats.series_refused_now ? 1 : 0);
    show("files", stats.file_count);
    show("files.bytes", stats.file_bytes);
    show("files.memory_bytes", stats.file_memory_bytes);
    show("log.bytes", stats.log_bytes);
    show("flushes", stats.flushes);
    show("merges", stats.merges);
    show("flushes.bytes", stats.flushed_bytes);
    show("merges.bytes_read", stats.merge_read_bytes);
    show("merges.bytes_written", stats.merged_bytes);
    show("merges.bytes_forgotten", stats.forgotten_bytes);
    show("observers.failures", stats.observer_failures);
    show("files.expired", stats.expired_parts);
    show("files.dropped", stats.dropped_parts);
    show("splits", stats.splits);
    show("block_cache.bytes", stats.cache_bytes);
    show("block_cache.hits", stats.cache_hits);
    show("block_cache.misses", stats.cache_misses);
    show("block_cache.evicted", stats.cache_evicted);
    show("files.blocks_read", stats.blocks_read);
    show("files.skipped_by_bloom", stats.skipped_by_bloom);
    show("files.skipped_by_time", stats.skipped_by_time);
    show("regions", stats.regions);
    show("regions.advised", region::RegionsAdvised(stats.memory_limit_bytes));
    show("regions.unmerged", stats.regions_unmerged);
    show("replayed_records", stats.replayed_records);
    show("background_errors", stats.background_error.empty() ? 0 : 1);
  }

  Status Health() override {
    const std::string failure = store_->Stats().background_error;
    return failure.empty() ? Status() : Status::IoError(failure);
  }
  Maintenance* maintenance() override { return &store_->maintenance(); }
  Status Close() override { return store_->Close(); }

 private:
  const std::unique_ptr<Embedded> store_;
  const std::shared_ptr<std::atomic<uint64_t>> name_bytes_;
  std::unique_ptr<Points> append_mode_;  // null: points are stored natively
};

}  // namespace

Result<std::unique_ptr<Backend>> OpenEmbeddedBackend(const Config& config, const std::string& words,
                                                     StoreUse use) {
  return OpenEmbeddedBackendBy(SystemClock(), config, words, use);
}

Result<std::unique_ptr<Backend>> OpenEmbeddedBackendBy(const Clock& clock, const Config& config,
                                                       const std::string& words, StoreUse use) {
  ASSIGN_OR_RETURN(EmbeddedOptions options, ReadOptions(config, words));
  options.open_files_max = RaiseOpenFilesLimit();
  options.background = use != StoreUse::kLook;
  // Tools keep series numbers, so numbers must not be freed while they run.
  if (use == StoreUse::kWork) options.sweep_interval_ms = 0;
  options.observers.push_back(std::make_shared<LoggingObserver>(clock));
  const auto name_bytes = std::make_shared<std::atomic<uint64_t>>(0);
  options.name_bytes = name_bytes;
  ASSIGN_OR_RETURN(auto store, Embedded::Open(options, PosixFileSystem(), clock));
  ASSIGN_OR_RETURN(const auto tables, store->cells().ListTables());
  for (const TableDescriptor& table : tables) WarnOfFamilies(table);
  if (use != StoreUse::kLook) RETURN_IF_ERROR(SetTtl(config, store->cells()));
  const EmbeddedStats stats = store->Stats();
  const uint64_t advised = region::RegionsAdvised(stats.memory_limit_bytes);
  if (stats.regions > advised) {
    LogWarning("store",
               "there are too many regions for this tsd.memory.limit: files become small "
               "and merges become slow",
               {{"path", options.path}, {"regions", stats.regions}, {"regions_advised", advised}});
  }
  return std::unique_ptr<Backend>(
      std::make_unique<EmbeddedBackend>(std::move(store), config, name_bytes));
}

}  // namespace hg::tsd
