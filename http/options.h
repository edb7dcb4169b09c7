#pragma once
// What the network edge is told by tsd/config; only tsd knows the settings' names. Units are in the
// field names.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hg::http {

enum class Mode { kReadWrite, kReadOnly, kWriteOnly };

/// Whether clients have certificates.
enum class ClientCertificates : uint8_t {
  kNone,      // they are not asked for one
  kOptional,  // who has one is known by it
  kRequired,  // who has none is not listened to
};

struct TlsOptions {
  std::string certificate_file;  // PEM, with the chain behind it; "" = no TLS
  std::string key_file;          // PEM
  ClientCertificates clients = ClientCertificates::kNone;
  std::string authorities_file;  // PEM: who may vouch for clients
  std::string revoked_file;      // PEM: lists of certificates that they took back; "" = none
  std::string bind;              // "" = Options::bind
  std::optional<uint16_t> port;  // of its own, beside the plain one; none: Options::port speaks TLS
};

struct Options {
  std::string bind = "127.0.0.1";  // an address or the name of a host
  uint16_t port = 4242;
  // Graphite's two forms; none: not spoken. Bound as `port` is.
  std::optional<uint16_t> graphite_port, graphite_pickle_port;
  TlsOptions tls;
  int backlog = 3072;
  int loop_threads = 0;    // 0 = one per core
  int worker_threads = 8;  // pool for handlers that may block
  /// Pool for points on the exact way: apart from the handlers, so that slow queries do not hold up
  /// writers. A store on another machine keeps them waiting, and takes at once what all of them
  /// have.
  int write_threads = 2;
  bool tcp_no_delay = true, keep_alive = true;  // of each connection
  bool reuse_address = true;                    // of the listening socket
  uint64_t connections_max = 0;                 // 0 = unlimited
  uint32_t idle_timeout_s = 0;                  // 0 = never

  bool chunked_enabled = true;         // bodies above 8 KiB, chunked, or announced with Expect
  uint64_t body_bytes_max = 67108864;  // as sent and unpacked; above: 413, connection closed
  /// For bodies under way and documents made of them, of all requests; one may have half. 0 = no
  /// limit.
  uint64_t request_memory_bytes_max = uint64_t{1} << 30;
  uint64_t line_bytes_max = 1024;    // one telnet line
  bool telnet_return_errors = true;  // false: what the store refuses a put line is not said

  Mode mode = Mode::kReadWrite;
  bool api_enabled = true;
  bool ui_enabled = true;
  bool diediedie_enabled = true;

  std::vector<std::string> cors_domains;  // {"*"} = all; empty = off
  std::string cors_headers =
      "Authorization, Content-Type, Accept, Origin, User-Agent, DNT, Cache-Control, X-Mx-ReqToken, "
      "Keep-Alive, "
      "X-Requested-With, If-Modified-Since";
  std::string static_root;                                     // "" = none
  std::vector<std::string> graph_options = {"", "axis x1y2"};  // tsd.gnuplot.options.allowlist

  bool delete_enabled = false;  // tsd.http.query.allow_delete
  /// tsd.http.query.omit_nan: NaN is left out of the answers of /api/query.
  bool omit_nan = false;
  /// tsd.http.lookup.distinct_first: look-ups with a limit show series with new tags before others.
  bool lookup_distinct_first = false;
  bool admin_remote = false;     // tsd.http.admin.remote: /api/admin for other machines, too
  bool stats_canonical = false;  // tag fqdn instead of host
  bool stats_with_port = false;
  /// Codec id of simple histograms (tsd.core.histograms.config); none = no histograms.
  std::optional<uint8_t> histogram_codec_id;
  std::string extra_name_characters;  // tsd.core.tag.allow_specialchars, UTF-8
  int max_tags = 8;                   // tsd.storage.max_tags
  // tsd.ingest.default_tag: of points that other languages than OpenTSDB's give without any.
  std::string default_tag_key = "source", default_tag_value = "unknown";
};

}  // namespace hg::http
