#pragma once
// Options for the access to HBase: its Thrift2 gateways, and timeouts and repetitions
// (hbase-backend.md §3, §8).

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

/// The Thrift transport. It must match the transport of the gateway.
enum class Transport : uint8_t {
  kBuffered,  // the gateway's default
  kFramed,    // -f: frames of at most 2 MiB; cannot create tables with several regions
              // (hbase-backend.md §6.3)
  kHttp,      // hbase.regionserver.thrift.http
};

/// What HBase guarantees when it acknowledges a write.
enum class WriteAhead : uint8_t {
  kDefault,  // as configured for the table: normally in the log of three machines
  kSkip,     // in memory only
  kAsync,    // the log is written later
  kSynced,   // the log is on disk
};

/// Options of the spool, in which writes to some tables wait while HBase is unreachable (spool.h).
struct SpoolOptions {
  std::string folder;
  std::vector<std::string> tables;  // tables whose puts and appends may wait
  // Maximum size of all waiting writes. Further writes are rejected.
  uint64_t bytes_max = uint64_t{1} << 30;
  uint64_t file_bytes = uint64_t{16} << 20;  // size of its log files; space is freed by whole files
  bool write_on_commit = true;  // acknowledge writes when the operating system has them
  bool sync_on_commit = false;  // acknowledge writes when they are on disk
  int patience_ms =
      2000;            // time for a write with its repetitions before HBase counts as unreachable
  int retry_ms = 500;  // pause between two attempts to replay
  // How long the spool keeps sending rows of a table that HBase rejects permanently. In this time
  // the cause can be fixed, for example by recreating the table. Afterwards the rows are set
  // aside. For each kind of rejection, the time is measured from its first occurrence while writes
  // wait.
  int refusal_patience_ms = 60'000;
  size_t replay_rows = 1024;  // approximate number of rows per call
  size_t replay_bytes = 1536 * 1024;
};

struct HbaseOptions {
  std::vector<Gateway> gateways = {{"127.0.0.1", 9090}};  // at least one; used in turn
  Transport transport = Transport::kBuffered;
  bool compact =
      false;  // -c: Thrift's compact protocol instead of the binary one; never with kHttp
  WriteAhead write_ahead = WriteAhead::kDefault;

  size_t connections = 8;  // per gateway, 1…16; some gateways do not accept a 17th connection
  int connect_timeout_ms = 2000;
  int send_timeout_ms = 10'000;
  // Time limit for a response, because gateways with default settings may never reply.
  int receive_timeout_ms = 35'000;
  int greeting_timeout_ms = 5000;  // timeout of the first response on a connection
  int idle_ms =
      50'000;  // an idle connection is not used after this time; gateways close it after 60 s

  // Time limit of a call with its repetitions. The last attempt may exceed it.
  int deadline_ms = 30'000;
  int backoff_ms = 100;  // pause before the second repetition; doubled for each further one
  int backoff_max_ms = 10'000;
  // A gateway that cannot be reached is not used for this time, which doubles up to rest_max_ms.
  // While all gateways are unreachable, one call per rest_ms tests them.
  int rest_ms = 500;
  int rest_max_ms = 10'000;

  size_t batch_rows = 1024;           // maximum rows per call that writes or gets
  size_t batch_bytes = 1536 * 1024;   // maximum bytes per call that writes
  size_t fetch_rows = 128;            // maximum rows per fetch of a scan
  size_t fetch_bytes = 4 << 20;       // maximum bytes per fetch, estimated from previous rows
  int message_bytes_max = 256 << 20;  // limit for a response

  /// Options of the spool; nullopt: there is no spool, and writes fail while HBase is unreachable.
  std::optional<SpoolOptions> spool;

  /// Layout of row keys. Tables of points are created with one region per salt bucket.
  KeyLayout layout;
};

}  // namespace hg::hbase
