#include "tsd/settings.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "query/time_zone.h"
#include "storage/model/name_text.h"
#include "tsd/machine_memory.h"
#include "tsd/rollup_config.h"
#include "tsd/tables.h"

namespace hg::tsd {
namespace {

/// Stores a whole number into a field of whatever width; the bounds are the caller's.
template <typename T>
Status ReadInt(const Config& config, std::string_view key, int64_t min, int64_t max, T* field) {
  ASSIGN_OR_RETURN(const int64_t value, config.Int(key, static_cast<int64_t>(*field), min, max));
  *field = static_cast<T>(value);
  return {};
}

/// Less could not hold one active and one frozen memory.
constexpr int64_t kMemoryLimitBytesMin = 16 << 20;
constexpr int64_t kIntMax = 2147483647;
constexpr int64_t kLongMax = std::numeric_limits<int64_t>::max();

http::Mode ReadMode(const Config& config) {
  const std::string& mode = config.String("tsd.mode");
  if (mode == "ro") return http::Mode::kReadOnly;
  if (mode == "wo") return http::Mode::kWriteOnly;
  return http::Mode::kReadWrite;
}

/// UTF-8 of a text read as Latin-1, as the file is. Blanks at either end do not count, blanks
/// inside do (spec schema.md §19.2).
std::string ExtraNameCharacters(const Config& config) {
  const std::string& text = config.String("tsd.core.tag.allow_specialchars");
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return FromLatin1(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

/// {"<class>": id}: the class tells the codec, and simple histograms are the only ones.
Result<std::optional<uint8_t>> ReadHistogramCodec(const Config& config) {
  constexpr std::string_view kKey = "tsd.core.histograms.config";
  ASSIGN_OR_RETURN(const std::string text, config.JsonText(kKey));
  if (text.empty()) return std::optional<uint8_t>();
  const auto wrong = [&](const std::string& why) {
    return Status::InvalidArgument("setting " + std::string(kKey) + " = \"" + text + "\" " + why);
  };
  rapidjson::Document document;
  document.Parse(text.data(), text.size());
  if (document.HasParseError() || !document.IsObject() || document.MemberCount() != 1)
    return wrong("is not a JSON object of one codec and its id");
  const auto& codec = *document.MemberBegin();
  const std::string_view name(codec.name.GetString(), codec.name.GetStringLength());
  if (!name.ends_with("SimpleHistogramDecoder"))
    return wrong("names a codec that is not known: " + std::string(name));
  if (!codec.value.IsInt() || codec.value.GetInt() < 0 || codec.value.GetInt() > 255)
    return wrong("has an id that is not 0…255");
  return std::optional<uint8_t>(static_cast<uint8_t>(codec.value.GetInt()));
}

std::vector<std::string> SplitAtSemicolons(std::string_view text) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(';', begin), text.size());
    out.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

/// "*" stands alone, and the list of headers goes out as it is: what could not be one is refused
/// (spec http-api.md §7).
Status ReadCors(const Config& config, http::Options* options) {
  options->cors_domains = config.List("tsd.http.request.cors_domains");
  const auto& domains = options->cors_domains;
  if (domains.size() > 1 && std::find(domains.begin(), domains.end(), "*") != domains.end())
    return Status::InvalidArgument("setting tsd.http.request.cors_domains = \"" +
                                   config.String("tsd.http.request.cors_domains") +
                                   "\": \"*\" must stand alone");
  options->cors_headers = config.String("tsd.http.request.cors_headers");
  const auto in_header_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  const std::vector<std::string> names = config.List("tsd.http.request.cors_headers");
  for (const std::string& name : names)
    if (!std::all_of(name.begin(), name.end(), in_header_name))
      return Status::InvalidArgument("setting tsd.http.request.cors_headers = \"" +
                                     options->cors_headers + "\": \"" + name +
                                     "\" is no header's name");
  return {};
}

Status ReadGraphitePorts(const Config& config, http::Options* options) {
  const auto read = [&config](std::string_view key, std::optional<uint16_t>* port) -> Status {
    if (!config.Has(key)) return {};
    ASSIGN_OR_RETURN(const int64_t number, config.Int(key, 0, 0, 65535));
    *port = static_cast<uint16_t>(number);
    return {};
  };
  RETURN_IF_ERROR(read("tsd.graphite.port", &options->graphite_port));
  return read("tsd.graphite.pickle.port", &options->graphite_pickle_port);
}

Status ReadDefaultTag(const Config& config, http::Options* options) {
  constexpr std::string_view kKey = "tsd.ingest.default_tag";
  const std::string& tag = config.String(kKey);
  const size_t equals = tag.find('=');
  options->default_tag_key = tag.substr(0, equals);
  options->default_tag_value = equals == std::string::npos ? "" : tag.substr(equals + 1);
  const NameRules rules(options->extra_name_characters);
  for (const std::string& name : {options->default_tag_key, options->default_tag_value}) {
    RETURN_IF_ERROR(Prepend(rules.Check("tag, KEY=VALUE is wanted,", name),
                            "setting " + std::string(kKey) + " = \"" + tag + "\""));
  }
  return {};
}

Status ReadTls(const Config& config, http::TlsOptions* tls) {
  tls->certificate_file = config.String("tsd.network.tls.certificate");
  tls->key_file = config.String("tsd.network.tls.key");
  tls->bind = config.String("tsd.network.tls.bind");
  tls->authorities_file = config.String("tsd.network.tls.authorities");
  if (config.Has("tsd.network.tls.port")) {
    RETURN_IF_ERROR(ReadInt(config, "tsd.network.tls.port", 0, 65535, &tls->port.emplace()));
  }
  const std::string& clients = config.String("tsd.network.tls.clients");
  if (clients == "optional") {
    tls->clients = http::ClientCertificates::kOptional;
  } else if (clients == "required") {
    tls->clients = http::ClientCertificates::kRequired;
  } else if (clients != "none" && !clients.empty()) {
    return Status::InvalidArgument("setting tsd.network.tls.clients = \"" + clients +
                                   "\": there are none, optional and required");
  }
  const auto needs = [](const char* key, const char* other) {
    return Status::InvalidArgument("setting " + std::string(key) + " needs " + other);
  };
  // Whoever asks for a part of it must not get a daemon that speaks plainly.
  if (tls->certificate_file.empty()) {
    for (const char* key : {"tsd.network.tls.key", "tsd.network.tls.port", "tsd.network.tls.bind",
                            "tsd.network.tls.authorities"})
      if (config.Has(key)) return needs(key, "tsd.network.tls.certificate");
    if (tls->clients != http::ClientCertificates::kNone)
      return needs("tsd.network.tls.clients", "tsd.network.tls.certificate");
    return {};
  }
  if (tls->key_file.empty()) return needs("tsd.network.tls.certificate", "tsd.network.tls.key");
  if (tls->clients != http::ClientCertificates::kNone && tls->authorities_file.empty())
    return needs("tsd.network.tls.clients", "tsd.network.tls.authorities");
  if (!tls->bind.empty() && !tls->port)
    return needs("tsd.network.tls.bind", "tsd.network.tls.port");
  return {};
}

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
                                   "\": only net.opentsdb.uid.UniqueIdWhitelistFilter is known");
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

Result<http::Options> ReadHttpOptions(const Config& config) {
  http::Options options;
  if (config.Has("tsd.network.bind")) options.bind = config.String("tsd.network.bind");
  RETURN_IF_ERROR(ReadInt(config, "tsd.network.port", 0, 65535, &options.port));
  RETURN_IF_ERROR(ReadTls(config, &options.tls));
  RETURN_IF_ERROR(ReadInt(config, "tsd.network.backlog", 1, kIntMax, &options.backlog));
  RETURN_IF_ERROR(ReadInt(config, "tsd.network.worker_threads", 0, 1024, &options.loop_threads));
  RETURN_IF_ERROR(
      ReadInt(config, "tsd.core.response.worker.num", 1, 1024, &options.worker_threads));
  options.tcp_no_delay = config.Bool("tsd.network.tcp_no_delay");
  options.keep_alive = config.Bool("tsd.network.keep_alive");
  options.reuse_address = config.Bool("tsd.network.reuse_address");
  RETURN_IF_ERROR(
      ReadInt(config, "tsd.core.connections.limit", 0, kLongMax, &options.connections_max));
  RETURN_IF_ERROR(ReadInt(config, "tsd.core.socket.timeout", 0, kIntMax, &options.idle_timeout_s));
  options.chunked_enabled = config.Bool("tsd.http.request.enable_chunked");
  RETURN_IF_ERROR(
      ReadInt(config, "tsd.http.request.max_chunk", 1, kLongMax, &options.body_bytes_max));
  options.telnet_return_errors = config.Bool("tsd.rpc.telnet.return_errors");
  options.mode = ReadMode(config);
  // These three are literal in OpenTSDB: only the very text counts (spec schema.md §19.2).
  options.api_enabled = config.String("tsd.core.enable_api") == "true";
  options.ui_enabled = config.String("tsd.core.enable_ui") == "true";
  options.diediedie_enabled = config.String("tsd.no_diediedie") == "false";
  RETURN_IF_ERROR(ReadCors(config, &options));
  options.graph_options = SplitAtSemicolons(config.String("tsd.gnuplot.options.allowlist"));
  options.static_root = config.String("tsd.http.staticroot");
  options.delete_enabled = config.Bool("tsd.http.query.allow_delete");
  options.omit_nan = config.Bool("tsd.http.query.omit_nan");
  options.lookup_distinct_first = config.Bool("tsd.http.lookup.distinct_first");
  options.admin_remote = config.Bool("tsd.http.admin.remote");
  options.stats_canonical = config.Bool("tsd.stats.canonical");
  options.stats_with_port = config.Bool("tsd.core.stats_with_port");
  ASSIGN_OR_RETURN(options.histogram_codec_id, ReadHistogramCodec(config));
  options.extra_name_characters = ExtraNameCharacters(config);
  RETURN_IF_ERROR(ReadInt(config, "tsd.storage.max_tags", 1, kIntMax, &options.max_tags));
  RETURN_IF_ERROR(ReadDefaultTag(config, &options));
  RETURN_IF_ERROR(ReadGraphitePorts(config, &options));
  return options;
}

Result<std::string> ReadUsersFile(const Config& config) {
  if (!config.Bool("tsd.core.authentication.enable")) return std::string();
  // Whoever asks for a check of passwords must not get a daemon without one.
  if (!config.Has("tsd.core.authentication.users"))
    return Status::InvalidArgument(
        "setting tsd.core.authentication.enable = \"" +
        config.String("tsd.core.authentication.enable") +
        "\" needs tsd.core.authentication.users, the file of users that `tsdb user` writes");
  return config.String("tsd.core.authentication.users");
}

Status CheckAnonymousPorts(const Config& config) {
  if (config.Bool("tsd.graphite.anonymous")) return {};
  std::string_view guard;
  if (config.Bool("tsd.core.authentication.enable")) guard = "tsd.core.authentication.enable";
  if (config.String("tsd.network.tls.clients") == "required") guard = "tsd.network.tls.clients";
  if (guard.empty()) return {};
  for (const char* port : {"tsd.graphite.port", "tsd.graphite.pickle.port"}) {
    if (!config.Has(port)) continue;
    return Status::InvalidArgument(
        "setting " + std::string(port) + " = \"" + config.String(port) + "\" with " +
        std::string(guard) + " = \"" + config.String(guard) +
        "\": Graphite's clients cannot say who they are; tsd.graphite.anonymous = true lets "
        "whoever reaches that port write");
  }
  return {};
}

Result<WriteLimits> ReadWriteLimits(const Config& config) {
  WriteLimits limits;
  const auto read = [&config](const char* key, uint64_t* field) {
    return ReadInt(config, key, 0, 1'000'000'000, field);
  };
  RETURN_IF_ERROR(read("tsd.limits.client.points", &limits.client.points_per_s));
  RETURN_IF_ERROR(read("tsd.limits.client.series", &limits.client.new_series_per_hour));
  RETURN_IF_ERROR(read("tsd.limits.metric.points", &limits.metric.points_per_s));
  RETURN_IF_ERROR(read("tsd.limits.metric.series", &limits.metric.series_max));
  return limits;
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

Result<IngestOptions> ReadIngestOptions(const Config& config) {
  IngestOptions options;
  options.auto_create_metrics = config.Bool("tsd.core.auto_create_metrics");
  options.auto_create_tagks = config.Bool("tsd.core.auto_create_tagks");
  options.auto_create_tagvs = config.Bool("tsd.core.auto_create_tagvs");
  ASSIGN_OR_RETURN(const uint64_t memory_bytes, ReadMemoryLimit(config));
  options.spelling_bytes_max = memory_bytes / 8;
  RETURN_IF_ERROR(ReadInt(config, "tsd.storage.max_tags", 1, kIntMax, &options.max_tags));
  options.extra_name_characters = ExtraNameCharacters(config);
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
  // The row of an append cell is never folded.
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

Result<compaction::RowFoldOptions> ReadRowFoldOptions(const Config& config) {
  compaction::RowFoldOptions options;
  ASSIGN_OR_RETURN(options.layout, ReadKeyLayout(config));
  options.table = config.String("tsd.storage.hbase.data_table");
  options.enable_compaction = config.Bool("tsd.storage.enable_compaction");
  options.reconcile = ReadReconcileOptions(config);
  return options;
}

namespace {

/// A quarter of the memory limit for all queries, half of that for one. A large query works within
/// its share from the start; of what makes it one, kLargeShares fit into the limit.
Status ReadQueryBudgets(const Config& config, query::Options* options) {
  constexpr int64_t kLargeShares = 256;
  constexpr int64_t kLargeBytesMin = 256 << 10, kLargeBytesMax = 4 << 20;
  ASSIGN_OR_RETURN(const uint64_t memory_bytes, ReadMemoryLimit(config));
  options->memory_bytes_max = static_cast<int64_t>(memory_bytes / 4);
  RETURN_IF_ERROR(
      ReadInt(config, "tsd.query.memory.limit", 0, kLongMax, &options->memory_bytes_max));
  options->query_memory_bytes_max = options->memory_bytes_max / 2;
  RETURN_IF_ERROR(
      ReadInt(config, "tsd.query.memory.per_query", 0, kLongMax, &options->query_memory_bytes_max));
  if (options->memory_bytes_max > 0) {
    options->large_bytes =
        std::clamp(options->memory_bytes_max / kLargeShares, kLargeBytesMin, kLargeBytesMax);
  }
  query::LargeLaneOptions& lane = options->large_lane;
  lane.width = std::max(1U, std::thread::hardware_concurrency());
  RETURN_IF_ERROR(ReadInt(config, "tsd.query.large.concurrent", 0, kIntMax, &lane.width));
  RETURN_IF_ERROR(ReadInt(config, "tsd.query.large.waiting", 0, kIntMax, &lane.waiting_max));
  return ReadInt(config, "tsd.query.large.wait", 0, kLongMax / 1'000'000, &lane.wait_max_ms);
}

}  // namespace

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
                                   "\" is none of " + words);
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

Result<int64_t> ReadSlowQueryMs(const Config& config) {
  return config.Int("tsd.query.slow_log", 0, 0, kLongMax);
}

Result<int64_t> ReadStartPatienceMs(const Config& config) {
  if (config.String("tsd.storage.backend") != "hbase") return int64_t{0};
  return config.Int("tsd.storage.hbase.start_patience", 60'000, 0, kLongMax);
}

Result<query::Options> ReadQueryOptions(const Config& config) {
  query::Options options;
  RETURN_IF_ERROR(ReadInt(config, "tsd.query.filter.expansion_limit", 0, kIntMax,
                          &options.filter_expansion_limit));
  options.skip_unresolved_tagvs = config.Bool("tsd.query.skip_unresolved_tagvs");
  options.fuzzy_filter = config.Bool("tsd.query.enable_fuzzy_filter");
  RETURN_IF_ERROR(ReadInt(config, "tsd.query.timeout", 0, kLongMax, &options.timeout_ms));
  RETURN_IF_ERROR(
      ReadInt(config, "tsd.query.limits.bytes.default", 0, kLongMax, &options.bytes_max));
  options.bytes_override_allowed = config.Bool("tsd.query.limits.bytes.allow_override");
  RETURN_IF_ERROR(
      ReadInt(config, "tsd.query.limits.data_points.default", 0, kLongMax, &options.cells_max));
  options.cells_override_allowed = config.Bool("tsd.query.limits.data_points.allow_override");
  options.limits_file = config.String("tsd.query.limits.overrides.config");
  RETURN_IF_ERROR(ReadInt(config, "tsd.query.limits.overrides.interval", 1, kIntMax,
                          &options.limits_file_interval_s));
  options.simultaneous_duplicates = config.Bool("tsd.query.allow_simultaneous_duplicates");
  RETURN_IF_ERROR(ReadQueryBudgets(config, &options));
  options.delete_allowed = config.Bool("tsd.http.query.allow_delete");
  options.tsuid_tracking = config.Bool("tsd.core.meta.enable_tsuid_tracking");
  options.tsuid_incrementing = config.Bool("tsd.core.meta.enable_tsuid_incrementing");
  options.reconcile = ReadReconcileOptions(config);
  RETURN_IF_ERROR(
      ReadInt(config, "tsd.storage.hbase.scanner.maxNumRows", 1, kIntMax, &options.batch_rows));
  options.timezone = config.String("tsd.core.timezone");
  if (!options.timezone.empty()) {
    const Status known = query::TimeZone::Find(options.timezone).status();
    if (!known.ok())
      return Prepend(known, "setting tsd.core.timezone = \"" + options.timezone + "\"");
  }
  options.data_table = config.String("tsd.storage.hbase.data_table");
  options.meta_table = config.String("tsd.storage.hbase.meta_table");
  ASSIGN_OR_RETURN(std::optional<RollupIngestOptions> rollups, ReadRollupOptions(config));
  if (rollups) options.rollups = std::move(rollups->tables);
  options.split_rollups = config.Bool("tsd.rollups.split_query.enable");
  options.aggregate_key = config.String("tsd.rollups.agg_tag_key");
  options.raw_aggregate = config.String("tsd.rollups.raw_agg_tag_value");
  return options;
}

Result<std::optional<RollupIngestOptions>> ReadRollupOptions(const Config& config) {
  if (!config.Bool("tsd.rollups.enable")) return std::optional<RollupIngestOptions>();
  if (!config.Has("tsd.rollups.config"))
    return Status::InvalidArgument(
        "setting tsd.rollups.enable = \"" + config.String("tsd.rollups.enable") +
        "\" needs tsd.rollups.config, which says what rollups there are");
  RollupIngestOptions options;
  ASSIGN_OR_RETURN(const std::string text, config.JsonText("tsd.rollups.config"));
  ASSIGN_OR_RETURN(options.tables, ParseRollupConfig(text));
  options.aggregate_key = config.String("tsd.rollups.agg_tag_key");
  if (config.Bool("tsd.rollups.tag_raw"))
    options.raw_value = config.String("tsd.rollups.raw_agg_tag_value");
  options.block_derived = config.Bool("tsd.rollups.block_derived");
  options.automatic = config.Bool("tsd.rollups.automatic");
  return std::optional<RollupIngestOptions>(std::move(options));
}

Result<std::optional<AutomaticRollups>> ReadAutomaticRollups(const Config& config) {
  if (!config.Bool("tsd.rollups.automatic")) return std::optional<AutomaticRollups>();
  const auto refuse = [&config](const std::string& why) {
    return Status::InvalidArgument("setting tsd.rollups.automatic = \"" +
                                   config.String("tsd.rollups.automatic") + "\" " + why);
  };
  ASSIGN_OR_RETURN(std::optional<RollupIngestOptions> rollups, ReadRollupOptions(config));
  if (!rollups) return refuse("needs tsd.rollups.enable and tsd.rollups.config");
  if (config.String("tsd.storage.backend") != "embedded") {
    return refuse("needs tsd.storage.backend = \"embedded\": over \"" +
                  config.String("tsd.storage.backend") +
                  "\" other daemons may write what this one is not told of");
  }
  ASSIGN_OR_RETURN(const int64_t ttl_s, config.Int("tsd.storage.ttl", 0, 0, kTtlForever));
  if (ttl_s > 0) {
    return refuse("does not go with tsd.storage.ttl = \"" + config.String("tsd.storage.ttl") +
                  "\", by which points go unseen: let tsd.retention.config say what is kept");
  }
  AutomaticRollups options;
  options.tables = std::move(rollups->tables);
  options.state_table = RollupStateTable(config.String("tsd.storage.hbase.data_table"));
  ASSIGN_OR_RETURN(options.ids, RollupIds::Of(options.tables));
  RETURN_IF_ERROR(CheckAutomatic(options.tables, config.String("tsd.storage.hbase.data_table")));
  RETURN_IF_ERROR(ReadInt(config, "tsd.rollups.automatic.delay", 0, kIntMax, &options.delay_s));
  return std::optional<AutomaticRollups>(std::move(options));
}

}  // namespace hg::tsd
