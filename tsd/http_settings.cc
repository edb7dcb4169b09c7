#include "tsd/http_settings.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "storage/model/name_text.h"
#include "tsd/setting_values.h"
#include "tsd/settings.h"

namespace hg::tsd {
namespace {

/// Reads {"<class>": id}. The class name identifies the codec. Only simple histograms are
/// supported.
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
    return wrong("names an unknown codec: " + std::string(name));
  if (!codec.value.IsInt() || codec.value.GetInt() < 0 || codec.value.GetInt() > 255)
    return wrong("has an id that is not between 0 and 255");
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

/// Reads the host names that requests may use. Each must have the form of a Host header without
/// port. Any other text is rejected as a mistake, because no Host header of a request could be
/// equal to it.
Status ReadHosts(const Config& config, http::Options* options) {
  constexpr std::string_view kKey = "tsd.http.request.hosts";
  options->hosts = config.List(kKey);
  for (const std::string& host : options->hosts) {
    if (host.find_first_of(":/@ ") == std::string::npos) continue;
    return Status::InvalidArgument("setting " + std::string(kKey) + ": \"" + host +
                                   "\" is not a host name such as tsd.example.org (without scheme "
                                   "and port)");
  }
  return {};
}

/// Reads the CORS settings. If the list of domains contains "*", it must contain no other domain.
/// The list of headers must be valid, because it is sent unchanged (opentsdb-http-api.md §7).
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
                                     "\" is not the name of a header");
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
    RETURN_IF_ERROR(Prepend(rules.Check("tag (expected KEY=VALUE)", name),
                            "setting " + std::string(kKey) + " = \"" + tag + "\""));
  }
  return {};
}

Status ReadInfluxSeparator(const Config& config, http::Options* options) {
  constexpr std::string_view kKey = "tsd.ingest.influx.separator";
  options->influx_separator = config.String(kKey);
  if (options->influx_separator == "." || options->influx_separator == "_") return {};
  return Status::InvalidArgument("setting " + std::string(kKey) + " = \"" +
                                 options->influx_separator + "\" (expected . or _)");
}

Status ReadTls(const Config& config, http::TlsOptions* tls) {
  tls->certificate_file = config.String("tsd.network.tls.certificate");
  tls->key_file = config.String("tsd.network.tls.key");
  tls->bind = config.String("tsd.network.tls.bind");
  tls->authorities_file = config.String("tsd.network.tls.authorities");
  tls->revoked_file = config.String("tsd.network.tls.revoked");
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
                                   "\" is not one of none, optional, required");
  }
  const auto needs = [](const char* key, const char* other) {
    return Status::InvalidArgument("setting " + std::string(key) + " needs " + other);
  };
  // If any TLS setting is present, the daemon must not start without TLS, so a missing certificate
  // is an error.
  if (tls->certificate_file.empty()) {
    for (const char* key : {"tsd.network.tls.key", "tsd.network.tls.port", "tsd.network.tls.bind",
                            "tsd.network.tls.authorities", "tsd.network.tls.revoked"})
      if (config.Has(key)) return needs(key, "tsd.network.tls.certificate");
    if (tls->clients != http::ClientCertificates::kNone)
      return needs("tsd.network.tls.clients", "tsd.network.tls.certificate");
    return {};
  }
  if (tls->key_file.empty()) return needs("tsd.network.tls.certificate", "tsd.network.tls.key");
  if (tls->clients != http::ClientCertificates::kNone && tls->authorities_file.empty())
    return needs("tsd.network.tls.clients", "tsd.network.tls.authorities");
  if (tls->clients == http::ClientCertificates::kNone && !tls->revoked_file.empty())
    return needs("tsd.network.tls.revoked", "tsd.network.tls.clients");
  if (!tls->bind.empty() && !tls->port)
    return needs("tsd.network.tls.bind", "tsd.network.tls.port");
  return {};
}

}  // namespace

http::Mode ReadMode(const Config& config) {
  const std::string& mode = config.String("tsd.mode");
  if (mode == "ro") return http::Mode::kReadOnly;
  if (mode == "wo") return http::Mode::kWriteOnly;
  return http::Mode::kReadWrite;
}

Result<http::Options> ReadHttpOptions(const Config& config) {
  http::Options options;
  // This is an environment variable and not a setting, because only test suites use it.
  if (const char* text = std::getenv("HOURGLASS_TURN_CPU_MS_MAX"); text != nullptr)
    options.turn_cpu_ms_max = std::max(0, std::atoi(text));
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
  ASSIGN_OR_RETURN(const uint64_t memory_bytes, ReadMemoryLimit(config));
  // The limit of one request is half of this limit. Unless tsd.memory.limit is small, that is
  // enough for the largest decompressed body and two copies of it.
  options.request_memory_bytes_max =
      std::max(memory_bytes / 8,
               std::min(6 * std::min(options.body_bytes_max, memory_bytes), memory_bytes / 2));
  options.description_bytes_max = std::min(options.description_bytes_max, memory_bytes / 64);
  options.telnet_return_errors = config.Bool("tsd.rpc.telnet.return_errors");
  options.mode = ReadMode(config);
  // As in OpenTSDB, the values of these three settings are compared literally, so texts such as
  // "yes" do not mean "true" (opentsdb-schema.md §19.2).
  options.api_enabled = config.String("tsd.core.enable_api") == "true";
  options.ui_enabled = config.String("tsd.core.enable_ui") == "true";
  options.diediedie_enabled = config.String("tsd.no_diediedie") == "false";
  RETURN_IF_ERROR(ReadCors(config, &options));
  RETURN_IF_ERROR(ReadHosts(config, &options));
  options.graph_options = SplitAtSemicolons(config.String("tsd.gnuplot.options.allowlist"));
  options.static_root = config.String("tsd.http.staticroot");
  options.delete_enabled = config.Bool("tsd.http.query.allow_delete");
  options.omit_nan = config.Bool("tsd.http.query.omit_nan");
  options.lookup_distinct_first = config.Bool("tsd.http.lookup.distinct_first");
  options.admin_remote = config.Bool("tsd.http.admin.remote");
  options.stats_canonical = config.Bool("tsd.stats.canonical");
  options.stats_with_port = config.Bool("tsd.core.stats_with_port");
  ASSIGN_OR_RETURN(options.histogram_codec_id, ReadHistogramCodec(config));
  options.extra_name_characters = ReadExtraNameCharacters(config);
  RETURN_IF_ERROR(ReadDefaultTag(config, &options));
  RETURN_IF_ERROR(ReadInfluxSeparator(config, &options));
  options.underscore_names = config.Bool("tsd.prometheus.underscore_names");
  RETURN_IF_ERROR(ReadGraphitePorts(config, &options));
  return options;
}

Result<std::string> ReadUsersFile(const Config& config) {
  ASSIGN_OR_RETURN(const bool enabled, config.StrictBool("tsd.core.authentication.enable"));
  if (!enabled) return std::string();
  // If the settings enable authentication, the daemon must not start without users.
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
        "\": Graphite clients cannot authenticate. With tsd.graphite.anonymous = true every "
        "client that can reach that port may write");
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

}  // namespace hg::tsd
