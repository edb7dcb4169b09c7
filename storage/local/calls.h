#pragma once
// The protocol between client (local_client.h) and server (local_server.h). A connection begins
// with a greeting of the client: kProtocol and the client's KeyLayout. A client that does not
// access cells sends no layout. The server replies to the greeting with a Status. After the
// greeting, requests and responses alternate. A request is a Call with its arguments. A response is
// a Status, followed by the result if the Status is ok. The response to a backup has several
// frames. The last frame contains false and the result. Each earlier frame contains true and the
// progress. A connection has at most one open scan.

#include <cstdint>
#include <string_view>

#include "storage/local/packing.h"

namespace hg::local {

/// File name of the socket in the folder of the store. The mode of the file is 0600.
inline constexpr std::string_view kSocketName = "SOCKET";

/// Version of the protocol. Increment it with each change of a packed structure or a call. The
/// server rejects clients with another version.
inline constexpr uint64_t kProtocol = 6;

/// Maximum size of a greeting in bytes. A larger greeting ends the connection with an error.
inline constexpr uint32_t kGreetingBytesMax = 1024;
/// Maximum size of a request in bytes. The limit is high because a value has up to 10 MiB and tools
/// send hundreds of rows at once.
inline constexpr uint32_t kRequestBytesMax = uint32_t{256} << 20;
/// Maximum size of a response in bytes. Only a response with a very large row can reach this limit.
inline constexpr uint32_t kAnswerBytesMax = uint32_t{1} << 30;
/// Number of bytes at which a fetch of a scan ends. The row that reaches this number is still part
/// of the fetch.
inline constexpr size_t kFetchBytes = size_t{4} << 20;

enum class Call : uint8_t {
  kCreateTable,
  kAlterTable,
  kDropTable,
  kDescribeTable,
  kListTables,
  kMutateRows,
  kDeleteRow,
  kGetCells,
  kGetRows,
  kIncrementColumns,
  kAppendColumns,
  kCompareAndMutate,
  kMutateIfUnchanged,
  kScan,
  kNext,
  kEndScan,
  kCapabilities,
  kRegions,
  kRegionStarts,
  kFlush,
  kCompact,
  kCompactTable,
  kSplit,
  kMergeRegions,
  kSync,
  // Clients may make the following calls even if they have not sent their key layout.
  kBackup,
  kBackupProgress,
  kCheck,
  kRepair,
};
template <>
inline constexpr Call kGreatest<Call> = Call::kRepair;

}  // namespace hg::local
