#pragma once
// Options of the network layer. tsd/config sets them; other folders do not know the names of
// settings. Names of members contain their units.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hg::http {

enum class Mode { kReadWrite, kReadOnly, kWriteOnly };

/// Whether clients that use TLS send a certificate.
enum class ClientCertificates : uint8_t {
  kNone,      // the server requests no certificates
  kOptional,  // a client that sends a certificate is authenticated by it
  kRequired,  // the handshake fails if the client sends no certificate
};

struct TlsOptions {
  std::string certificate_file;  // PEM, followed by its chain; "" = no TLS
  std::string key_file;          // PEM
  ClientCertificates clients = ClientCertificates::kNone;
  std::string authorities_file;  // PEM: CA certificates for the verification of client certificates
  std::string revoked_file;      // PEM: certificate revocation lists; "" = none
  std::string bind;              // "" = Options::bind
  /// TLS port in addition to the plain port. nullopt: the port Options::port uses TLS.
  std::optional<uint16_t> port;
};

struct Options {
  std::string bind = "127.0.0.1";  // an address or a host name
  uint16_t port = 4242;
  // Ports of Graphite's plaintext and pickle protocols, on the address `bind`; nullopt = disabled.
  std::optional<uint16_t> graphite_port, graphite_pickle_port;
  TlsOptions tls;
  int backlog = 3072;
  int loop_threads = 0;    // 0 = one per core
  int worker_threads = 8;  // pool threads for handlers that may block
  /// Number of pool threads for points on the slow path. They are separate from the threads of
  /// handlers, so slow queries do not block writers. If the store is on another machine, these
  /// threads wait for its replies. The points of all waiting threads are sent to it together.
  int write_threads = 2;
  /// For tests: if a turn of an event loop uses more CPU time than this, the process ends
  /// (http/request/turn_watch.h). 0 = no limit.
  int turn_cpu_ms_max = 0;
  bool tcp_no_delay = true, keep_alive = true;  // for each connection
  bool reuse_address = true;                    // for the listening socket
  uint64_t connections_max = 0;                 // 0 = unlimited
  uint32_t idle_timeout_s = 0;                  // 0 = never

  bool chunked_enabled = true;  // whether bodies may be chunked, above 8 KiB, or sent with Expect
  /// Maximum size of a body, both before and after decompression. A larger body gets 413, and the
  /// connection is closed.
  uint64_t body_bytes_max = 67108864;
  /// Memory limit for bodies and parsed documents of all requests together. One request may use up
  /// to half of this limit. 0 = no limit.
  uint64_t request_memory_bytes_max = uint64_t{1} << 30;
  uint64_t line_bytes_max = 1024;  // maximum length of a telnet line
  /// Whether errors of put lines that the store rejected are sent to the client.
  bool telnet_return_errors = true;

  Mode mode = Mode::kReadWrite;
  bool api_enabled = true;
  bool ui_enabled = true;
  bool diediedie_enabled = true;

  /// Host names, without ports, that requests may have if the daemon listens only on loopback
  /// addresses. "localhost" and IP addresses are always allowed; {"*"} allows all names. If the
  /// list is not empty, daemons that listen on other addresses check it, too.
  std::vector<std::string> hosts;
  std::vector<std::string> cors_domains;  // {"*"} = all domains; empty = CORS is off
  std::string cors_headers =
      "Authorization, Content-Type, Accept, Origin, User-Agent, DNT, Cache-Control, X-Mx-ReqToken, "
      "Keep-Alive, "
      "X-Requested-With, If-Modified-Since";
  std::string static_root;                                     // "" = none
  std::vector<std::string> graph_options = {"", "axis x1y2"};  // tsd.gnuplot.options.allowlist

  bool delete_enabled = false;  // tsd.http.query.allow_delete
  /// tsd.http.query.omit_nan: whether /api/query leaves out NaN values.
  bool omit_nan = false;
  /// tsd.http.lookup.distinct_first: whether lookups with a limit return series with new tags
  /// before other series.
  bool lookup_distinct_first = false;
  bool admin_remote = false;     // tsd.http.admin.remote: other machines may use /api/admin
  bool stats_canonical = false;  // whether statistics have the tag fqdn instead of host
  bool stats_with_port = false;
  /// Codec id of simple histograms (tsd.core.histograms.config); nullopt = no histograms.
  std::optional<uint8_t> histogram_codec_id;
  std::string extra_name_characters;  // tsd.core.tag.allow_specialchars, UTF-8
  /// tsd.ingest.influx.separator: the text between measurement and field in the name of a metric.
  std::string influx_separator = ".";
  /// tsd.prometheus.underscore_names: whether PromQL and remote read show metrics under names that
  /// PromQL can write without quotes (query::UnderscoredName).
  bool underscore_names = false;
  /// Maximum memory in bytes for descriptions of metrics (http/request/client_notes.h).
  uint64_t description_bytes_max = uint64_t{16} << 20;
  // tsd.ingest.default_tag: the tag for points without tags of protocols other than OpenTSDB's.
  std::string default_tag_key = "source", default_tag_value = "unknown";
};

}  // namespace hg::http
