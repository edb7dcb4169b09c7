#pragma once
// Options for the access to HBase: the Thrift2 gateways, timeouts and repetitions (hbase-backend.md
// §3, §8).

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

/// The transport of Thrift messages. It must be the transport that the gateway uses.
enum class Transport : uint8_t {
  kBuffered,  // the gateway's default
  // The gateway option -f: frames of at most 2 MiB. With this transport, tables with several
  // regions cannot be created (hbase-backend.md §6.3).
  kFramed,
  kHttp,  // HTTP; the gateway's setting hbase.regionserver.thrift.http
};

/// The guarantee of HBase when it acknowledges a write.
enum class WriteAhead : uint8_t {
  kDefault,  // as configured for the table; normally in the log of three machines
  kSkip,     // the write is in memory only
  kAsync,    // the write reaches the log later
  kSynced,   // the write is in the log on disk
};

/// Options of the spool, in which writes to some tables wait while HBase is unreachable (spool.h).
struct SpoolOptions {
  std::string folder;
  std::vector<std::string> tables;  // tables whose puts and appends may wait
  // Maximum size of all waiting writes in bytes. When it is reached, further writes are rejected.
  uint64_t bytes_max = uint64_t{1} << 30;
  uint64_t file_bytes = uint64_t{16} << 20;  // size of a log file; space is freed by whole files
  bool write_on_commit = true;               // acknowledge a write only after it is in a file
  bool sync_on_commit = false;               // acknowledge a write only after it is on disk
  // The time limit in ms for a write with its repetitions. After this time, HBase counts as
  // unreachable, and the write goes to the spool.
  int patience_ms = 2000;
  int retry_ms = 500;  // pause between two attempts to replay, in ms
  // Time in ms for which the spool keeps sending rows of a table that HBase rejects permanently. In
  // this time the cause can be fixed, for example by recreating the table. After this time, the
  // spool sets the rows aside in a file. For each kind of rejection, the time is measured from its
  // first occurrence while writes wait.
  int refusal_patience_ms = 60'000;
  size_t replay_rows = 1024;  // approximate number of rows per call of the replay
  size_t replay_bytes = 1536 * 1024;
};

struct HbaseOptions {
  std::vector<Gateway> gateways = {{"127.0.0.1", 9090}};  // at least one gateway; used in turn
  Transport transport = Transport::kBuffered;
  // The gateway option -c: Thrift's compact protocol instead of the binary protocol. Not possible
  // with kHttp.
  bool compact = false;
  WriteAhead write_ahead = WriteAhead::kDefault;

  size_t connections = 8;  // connections per gateway, 1…16; some gateways refuse a 17th
  int connect_timeout_ms = 2000;
  int send_timeout_ms = 10'000;
  // Time limit for a response, in ms. It is needed because gateways with default settings may never
  // reply.
  int receive_timeout_ms = 35'000;
  int greeting_timeout_ms = 5000;  // time limit for the first response on a connection
  // The time in ms after which an idle connection is not used any more. Gateways close idle
  // connections after 60 s.
  int idle_ms = 50'000;

  // Time limit of a call with its repetitions, in ms. The last attempt may exceed this limit.
  int deadline_ms = 30'000;
  int backoff_ms = 100;  // pause in ms before the first repetition; doubles with each repetition
  int backoff_max_ms = 10'000;
  // Time in ms for which a gateway that cannot be reached is not used. The time doubles up to
  // rest_max_ms. While all gateways are unreachable, one call per rest_ms tests if a gateway can be
  // reached.
  int rest_ms = 500;
  int rest_max_ms = 10'000;

  size_t batch_rows = 1024;           // maximum number of rows per call that writes or gets
  size_t batch_bytes = 1536 * 1024;   // maximum number of bytes per call that writes
  size_t fetch_rows = 128;            // maximum number of rows per fetch of a scan
  size_t fetch_bytes = 4 << 20;       // maximum bytes per fetch, estimated from earlier rows
  int message_bytes_max = 256 << 20;  // maximum size of a response

  /// Options of the spool. nullopt means that there is no spool, so writes fail while HBase is
  /// unreachable.
  std::optional<SpoolOptions> spool;

  /// Layout of row keys. Points tables are created with one region per salt bucket.
  KeyLayout layout;
};

}  // namespace hg::hbase
