#pragma once
// Options of the network layer. tsd/http_settings.cc sets these options from the settings of the
// daemon. The names of members contain their units.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hg::http {

enum class Mode { kReadWrite, kReadOnly, kWriteOnly };

/// Whether clients that connect with TLS must or may send a certificate.
enum class ClientCertificates : uint8_t {
  kNone,      // the server requests no certificates
  kOptional,  // a client that sends a certificate is authenticated by it
  kRequired,  // the handshake fails if the client sends no certificate
};

struct TlsOptions {
  std::string certificate_file;  // PEM file: certificate, followed by its chain; "" = no TLS
  std::string key_file;          // PEM file: private key of the certificate
  ClientCertificates clients = ClientCertificates::kNone;
  /// PEM file: CA certificates by which client certificates are verified.
  std::string authorities_file;
  std::string revoked_file;  // PEM file: certificate revocation lists; "" = none
  std::string bind;          // address of the TLS port; "" = the address Options::bind
  /// A TLS port in addition to the plain port. If this is nullopt, the port Options::port uses TLS.
  std::optional<uint16_t> port;
};

struct Options {
  std::string bind = "127.0.0.1";  // address or host name on which the server listens
  uint16_t port = 4242;
  // The ports of Graphite's plaintext and pickle protocols, on the address `bind`; nullopt =
  // disabled.
  std::optional<uint16_t> graphite_port, graphite_pickle_port;
  TlsOptions tls;
  int backlog = 3072;
  int loop_threads = 0;    // number of event loops; 0 = one per core
  int worker_threads = 8;  // number of pool threads for handlers that may block
  /// The number of pool threads for points on the slow path. These threads are separate from the
  /// threads of handlers, so that slow queries do not block writers. If the store is on another
  /// machine, these threads wait for the replies of the store. The server sends the points of all
  /// waiting threads to the store together.
  int write_threads = 2;
  /// For tests: the process ends if one turn of an event loop uses more CPU time than this
  /// (http/request/turn_watch.h). 0 = no limit.
  int turn_cpu_ms_max = 0;
  bool tcp_no_delay = true, keep_alive = true;  // socket options of each connection
  bool reuse_address = true;                    // socket option of the listening socket
  uint64_t connections_max = 0;                 // maximum number of connections; 0 = unlimited
  uint32_t idle_timeout_s = 0;  // time after which idle connections are closed; 0 = never

  /// Whether bodies may be chunked, may be larger than 8 KiB, and may be sent with Expect.
  bool chunked_enabled = true;
  /// The maximum size of a body in bytes, both before and after decompression. A request with a
  /// larger body gets 413, and the server closes the connection.
  uint64_t body_bytes_max = 67108864;
  /// The memory limit for the bodies and the parsed documents of all requests together. One request
  /// may use up to half of this limit. 0 = no limit.
  uint64_t request_memory_bytes_max = uint64_t{1} << 30;
  uint64_t line_bytes_max = 1024;  // maximum length of a telnet line
  /// Whether the server sends an error to the client if reading or writing the store failed for a
  /// telnet put line. Errors in the line itself, unknown names and rejected new series are always
  /// sent.
  bool telnet_return_errors = true;

  Mode mode = Mode::kReadWrite;
  bool api_enabled = true;
  bool ui_enabled = true;
  bool diediedie_enabled = true;

  /// The host names, without ports, that the Host field of requests to a port with a loopback
  /// address may have. "localhost" and IP addresses are always allowed; {"*"} allows all names. If
  /// the list is not empty, the server checks the Host field on ports with other addresses, too.
  std::vector<std::string> hosts;
  /// The origins that CORS allows, such as "http://web.example"; {"*"} = all; empty = CORS is off.
  std::vector<std::string> cors_domains;
  std::string cors_headers =
      "Authorization, Content-Type, Accept, Origin, User-Agent, DNT, Cache-Control, X-Mx-ReqToken, "
      "Keep-Alive, "
      "X-Requested-With, If-Modified-Since";
  std::string static_root;  // folder of static files; "" = none
  /// Value of tsd.gnuplot.options.allowlist.
  std::vector<std::string> graph_options = {"", "axis x1y2"};

  bool delete_enabled = false;  // value of tsd.http.query.allow_delete
  /// tsd.http.query.omit_nan: whether /api/query leaves out NaN values.
  bool omit_nan = false;
  /// tsd.http.lookup.distinct_first: whether lookups with a limit return series that have new tags
  /// before all other series.
  bool lookup_distinct_first = false;
  bool admin_remote = false;     // tsd.http.admin.remote: whether other machines may use /api/admin
  bool stats_canonical = false;  // whether statistics have the tag fqdn instead of the tag host
  bool stats_with_port = false;  // whether statistics have a tag with the port of the daemon
  /// The codec id of simple histograms (tsd.core.histograms.config); nullopt = histograms are
  /// disabled.
  std::optional<uint8_t> histogram_codec_id;
  /// tsd.core.tag.allow_specialchars: more characters for names, in UTF-8.
  std::string extra_name_characters;
  /// tsd.ingest.influx.separator: the text between the measurement and the field in metric names.
  std::string influx_separator = ".";
  /// tsd.prometheus.underscore_names: whether PromQL and remote read show metrics under names that
  /// can be written in PromQL without quotes (query::UnderscoredName).
  bool underscore_names = false;
  /// The maximum memory in bytes for the descriptions of metrics (http/request/client_notes.h).
  uint64_t description_bytes_max = uint64_t{16} << 20;
  // tsd.ingest.default_tag: the tag that is added to points without tags if they arrive in a
  // protocol other than OpenTSDB's.
  std::string default_tag_key = "source", default_tag_value = "unknown";
};

}  // namespace hg::http
