#pragma once
// How HBase is reached: its Thrift2 gateways and the patience with them (spec hbase-backend.md §3,
// §8).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/key_layout.h"

namespace hg::hbase {

struct Gateway {
  std::string host;
  int port = 9090;
};

/// What lies between the socket and the messages. Must be what the gateway was started with.
enum class Transport : uint8_t {
  kBuffered,  // the gateway's default
  kFramed,    // -f: frames of at most 2 MiB; tables cannot be divided at creation (§6.3)
  kHttp,      // hbase.regionserver.thrift.http
};

/// What HBase has done when it acknowledges a write.
enum class WriteAhead : uint8_t {
  kDefault,  // as the table says: normally in the log of three machines
  kSkip,     // in memory only
  kAsync,    // the log follows
  kSynced,   // the log is on disk
};

/// Where writes of some tables wait while HBase is away (spool.h).
struct SpoolOptions {
  std::string folder;
  std::vector<std::string> tables;           // whose puts and appends may wait
  uint64_t bytes_max = uint64_t{1} << 30;    // that wait; more are refused
  uint64_t file_bytes = uint64_t{16} << 20;  // of its log: written and forgotten by whole files
  bool write_on_commit = true;               // acknowledged when the machine's kernel has it …
  bool sync_on_commit = false;               // … when the disk has it
  int patience_ms = 2000;  // of a write with its repetitions, until HBase counts as away
  int retry_ms = 500;      // between two tries to replay
  // Of a table whose rows HBase refuses for good: so long somebody may still mend that (make the
  // table again), then they are set aside. Once while writes wait, for each kind of refusal.
  int refusal_patience_ms = 60'000;
  size_t replay_rows = 1024;  // of one call, about
  size_t replay_bytes = 1536 * 1024;
};

struct HbaseOptions {
  std::vector<Gateway> gateways = {{"127.0.0.1", 9090}};  // ≥ 1; asked in turn
  Transport transport = Transport::kBuffered;
  bool compact = false;  // -c: Thrift's compact protocol, not the binary one; never with kHttp
  WriteAhead write_ahead = WriteAhead::kDefault;

  size_t connections = 8;  // to each gateway, 1…16: some gateways leave the 17th waiting
  int connect_timeout_ms = 2000;
  int send_timeout_ms = 10'000;
  int receive_timeout_ms = 35'000;  // gateways with the default settings may never answer
  int greeting_timeout_ms = 5000;   // of a connection's first answer
  int idle_ms = 50'000;             // an idle connection is not used again; gateways close at 60 s

  int deadline_ms = 30'000;  // of a call with its repetitions; the last one may take longer
  int backoff_ms = 100;      // before the second repetition, doubled for each further one …
  int backoff_max_ms = 10'000;
  // A gateway that cannot be reached is left alone so long, doubled up to rest_max_ms; while all of
  // them are away one call each rest_ms looks whether they are back.
  int rest_ms = 500;
  int rest_max_ms = 10'000;

  size_t batch_rows = 1024;           // rows of one call that writes or gets
  size_t batch_bytes = 1536 * 1024;   // … and bytes of what it writes
  size_t fetch_rows = 128;            // rows of one fetch of a scan, at most
  size_t fetch_bytes = 4 << 20;       // … and bytes, as wide as the rows before them were
  int message_bytes_max = 256 << 20;  // of an answer

  /// None: writes fail while HBase is away.
  std::optional<SpoolOptions> spool;

  /// Tables of points are created with a region for each of its salt buckets.
  KeyLayout layout;
};

}  // namespace hg::hbase
