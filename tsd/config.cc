#include "tsd/config.h"

#include <charconv>
#include <fstream>
#include <sstream>

#include "tsd/properties.h"

namespace hg::tsd {
namespace {

struct Default {
  std::string_view key;
  std::string_view value;
};

// Spec schema.md §19.2 in its order; values that differ from OpenTSDB's are those of design.md §3.
constexpr Default kDefaults[] = {
    {"tsd.mode", "rw"},
    {"tsd.no_diediedie", "false"},

    {"tsd.network.port", "4242"},
    {"tsd.network.bind", "127.0.0.1"},
    {"tsd.network.backlog", "3072"},
    {"tsd.network.worker_threads", ""},
    {"tsd.network.async_io", "true"},
    {"tsd.network.tcp_no_delay", "true"},
    {"tsd.network.keep_alive", "true"},
    {"tsd.network.reuse_address", "true"},

    {"tsd.http.staticroot", ""},
    {"tsd.http.cachedir", ""},
    {"tsd.http.show_stack_trace", "false"},
    {"tsd.http.query.allow_delete", "false"},
    {"tsd.http.header_tag", ""},
    {"tsd.http.request.enable_chunked", "true"},
    {"tsd.http.request.max_chunk", "67108864"},
    {"tsd.http.request.cors_domains", ""},
    {"tsd.http.request.cors_headers",
     "Authorization, Content-Type, Accept, Origin, User-Agent, DNT, Cache-Control, X-Mx-ReqToken, "
     "Keep-Alive, X-Requested-With, If-Modified-Since"},
    {"tsd.http.rpc.plugins", ""},
    {"tsd.gnuplot.options.allowlist", ";axis x1y2"},

    {"tsd.core.auto_create_metrics", "false"},
    {"tsd.core.auto_create_tagks", "true"},
    {"tsd.core.auto_create_tagvs", "true"},
    {"tsd.core.authentication.enable", "false"},
    {"tsd.core.authentication.plugin", ""},
    {"tsd.core.bulk.allow_out_of_order_timestamps", "false"},
    {"tsd.core.connections.limit", "0"},
    {"tsd.core.enable_api", "true"},
    {"tsd.core.enable_ui", "true"},
    {"tsd.core.histograms.config", ""},
    {"tsd.core.meta.enable_realtime_ts", "false"},
    {"tsd.core.meta.enable_realtime_uid", "false"},
    {"tsd.core.meta.enable_tsuid_incrementing", "false"},
    {"tsd.core.meta.enable_tsuid_tracking", "false"},
    {"tsd.core.meta.cache.enable", "false"},
    {"tsd.core.meta.cache.plugin", ""},
    {"tsd.core.plugin_path", ""},
    {"tsd.core.preload_uid_cache", "false"},
    {"tsd.core.preload_uid_cache.max_entries", "300000"},
    {"tsd.core.response.async", "true"},
    {"tsd.core.response.worker.num", "10"},
    {"tsd.core.socket.timeout", "0"},
    {"tsd.core.stats_with_port", "false"},
    {"tsd.core.storage_exception_handler.enable", "false"},
    {"tsd.core.storage_exception_handler.plugin", ""},
    {"tsd.core.tag.allow_specialchars", ""},
    {"tsd.core.timezone", ""},
    {"tsd.core.tree.enable_processing", "false"},
    {"tsd.core.uid.random_metrics", "false"},
    {"tsd.core.flushinterval", ""},

    {"tsd.query.allow_simultaneous_duplicates", "true"},
    {"tsd.query.enable_fuzzy_filter", "true"},
    {"tsd.query.filter.expansion_limit", "4096"},
    {"tsd.query.limits.bytes.default", "0"},
    {"tsd.query.limits.bytes.allow_override", "false"},
    {"tsd.query.limits.data_points.default", "0"},
    {"tsd.query.limits.data_points.allow_override", "false"},
    {"tsd.query.limits.overrides.config", ""},
    {"tsd.query.limits.overrides.interval", "60000"},
    {"tsd.query.multi_get.enable", "false"},
    {"tsd.query.multi_get.limit", "131072"},
    {"tsd.query.multi_get.batch_size", "1024"},
    {"tsd.query.multi_get.concurrent", "20"},
    {"tsd.query.multi_get.get_all_salts", "false"},
    {"tsd.query.skip_unresolved_tagvs", "false"},
    {"tsd.query.timeout", "0"},

    {"tsd.rpc.plugins", ""},
    {"tsd.rpc.telnet.return_errors", "true"},
    {"tsd.rtpublisher.enable", "false"},
    {"tsd.rtpublisher.plugin", ""},
    {"tsd.search.enable", "false"},
    {"tsd.search.plugin", ""},
    {"tsd.startup.enable", "false"},
    {"tsd.startup.plugin", ""},
    {"tsd.stats.canonical", "false"},

    {"tsd.rollups.enable", "false"},
    {"tsd.rollups.config", ""},
    {"tsd.rollups.tag_raw", "false"},
    {"tsd.rollups.agg_tag_key", "_aggregate"},
    {"tsd.rollups.raw_agg_tag_value", "RAW"},
    {"tsd.rollups.block_derived", "true"},
    {"tsd.rollups.split_query.enable", "false"},

    {"tsd.storage.hbase.data_table", "tsdb"},
    {"tsd.storage.hbase.uid_table", "tsdb-uid"},
    {"tsd.storage.hbase.tree_table", "tsdb-tree"},
    {"tsd.storage.hbase.meta_table", "tsdb-meta"},
    {"tsd.storage.hbase.zk_quorum", "localhost"},
    {"tsd.storage.hbase.zk_basedir", "/hbase"},
    {"tsd.storage.hbase.prefetch_meta", "false"},
    {"tsd.storage.hbase.scanner.maxNumRows", "128"},
    {"tsd.storage.flush_interval", "1000"},
    {"tsd.storage.enable_compaction", "true"},
    {"tsd.storage.compaction.flush_interval", "10"},
    {"tsd.storage.compaction.min_flush_threshold", "100"},
    {"tsd.storage.compaction.max_concurrent_flushes", "10000"},
    {"tsd.storage.compaction.flush_speed", "2"},
    {"tsd.storage.enable_appends", "false"},
    {"tsd.storage.repair_appends", "false"},
    {"tsd.storage.fix_duplicates", "false"},
    {"tsd.storage.max_tags", "8"},
    {"tsd.storage.salt.width", "0"},
    {"tsd.storage.salt.buckets", "20"},
    {"tsd.storage.uid.width.metric", "3"},
    {"tsd.storage.uid.width.tagk", "3"},
    {"tsd.storage.uid.width.tagv", "3"},
    {"tsd.storage.use_otsdb_timestamp", "false"},
    {"tsd.storage.use_max_value", "true"},
    {"tsd.storage.get_date_tiered_compaction_start", "0"},

    {"tsd.timeseriesfilter.enable", "false"},
    {"tsd.timeseriesfilter.plugin", ""},
    {"tsd.uidfilter.enable", "false"},
    {"tsd.uidfilter.plugin", ""},
    {"tsd.uidfilter.whitelist.delimiter", ","},
    {"tsd.uidfilter.whitelist.metric_patterns", ""},
    {"tsd.uidfilter.whitelist.tagk_patterns", ""},
    {"tsd.uidfilter.whitelist.tagv_patterns", ""},
    {"tsd.uid.use_mode", "false"},
    {"tsd.uid.lru.enable", "false"},
    {"tsd.uid.lru.name.size", "5000000"},
    {"tsd.uid.lru.id.size", "5000000"},

    // Ours.
    {"tsd.storage.backend", "embedded"},
    {"tsd.storage.path", "data"},
    {"tsd.storage.durability", "logged"},
    {"tsd.storage.sync_interval", "1000"},
    {"tsd.storage.log.max", "536870912"},
    {"tsd.storage.hbase.thrift", "127.0.0.1:9090"},
    {"tsd.memory.limit", ""},
    {"tsd.query.memory.limit", ""},
    {"tsd.query.memory.per_query", ""},
    {"tsd.query.large.concurrent", ""},
    {"tsd.query.large.waiting", "64"},
    {"tsd.query.large.wait", "60000"},
    {"tsd.query.slow_log", "10000"},
};

/// Keys whose family is open: the HBase client's own, and those of plugins, which OpenTSDB reads
/// from the same file.
bool KnownFamily(std::string_view key) {
  return key.starts_with("hbase.") || key.starts_with("zookeeper.");
}

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  if (!in || !(text << in.rdbuf())) {
    // An empty file sets the fail bit of the insertion, yet it is a good file.
    if (!in.is_open() || in.bad()) return Status::IoError("cannot read the settings file " + path);
  }
  return std::move(text).str();
}

}  // namespace

Config::Config() {
  for (const Default& d : kDefaults) values_.emplace(d.key, d.value);
}

const std::vector<std::string>& Config::DefaultPlaces() {
  static const std::vector<std::string> places = {"./opentsdb.conf", "/etc/opentsdb.conf",
                                                  "/etc/opentsdb/opentsdb.conf",
                                                  "/opt/opentsdb/opentsdb.conf"};
  return places;
}

Result<Config> Config::Load(const std::string& path) {
  Config config;
  if (!path.empty()) {
    ASSIGN_OR_RETURN(std::string text, ReadFile(path));
    config.file_ = path;
    config.Apply(text);
    return config;
  }
  for (const std::string& place : DefaultPlaces()) {
    Result<std::string> text = ReadFile(place);
    if (!text.ok()) continue;
    config.file_ = place;
    config.Apply(*text);
    break;
  }
  return config;
}

void Config::Apply(std::string_view properties) {
  for (auto& [key, value] : ParseProperties(properties)) {
    if (!values_.contains(key) && !KnownFamily(key)) unknown_keys_.push_back(key);
    Set(key, value);
  }
}

void Config::Set(std::string_view key, std::string_view value) {
  values_[std::string(key)] = std::string(value);
}

const std::string& Config::String(std::string_view key) const {
  static const std::string empty;
  auto it = values_.find(key);
  return it == values_.end() ? empty : it->second;
}

bool Config::Bool(std::string_view key) const {
  const std::string value = Lower(Trim(String(key)));
  return value == "1" || value == "true" || value == "yes";
}

Result<int64_t> Config::Int(std::string_view key, int64_t absent, int64_t min, int64_t max) const {
  const std::string_view text = Trim(String(key));
  if (text.empty()) return absent;
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string named = "setting " + std::string(key) + " = \"" + std::string(text) + "\"";
  if (error != std::errc() || end != text.data() + text.size())
    return Status::InvalidArgument(named + " is not a whole number");
  if (value < min || value > max) {
    const bool open = max == std::numeric_limits<int64_t>::max();
    return Status::InvalidArgument(named + " is out of range: it must be at least " +
                                   std::to_string(min) +
                                   (open ? "" : " and at most " + std::to_string(max)));
  }
  return value;
}

std::vector<std::string> Config::List(std::string_view key) const {
  std::vector<std::string> out;
  std::string_view rest = String(key);
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view item = Trim(rest.substr(0, comma));
    if (!item.empty()) out.emplace_back(item);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return out;
}

std::map<std::string, std::string> Config::Shown() const {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : values_)
    out[key] = Lower(key).find("pass") != std::string::npos ? "********" : value;
  return out;
}

}  // namespace hg::tsd
