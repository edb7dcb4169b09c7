#pragma once
// What client (local_client.h) and server (local_server.h) say to each other. A connection begins
// with the greeting: kProtocol and the client's KeyLayout, or none if it does not ask for cells;
// the answer is a Status. Then requests and answers take turns: a Call with its arguments; a Status
// and, if that is ok, the result. A backup's answer is several frames: true and how far it is, and
// at last false and the answer proper. One connection has one scan at most.

#include <cstdint>
#include <string_view>

#include "storage/local/packing.h"

namespace hg::local {

/// In the folder of the store; mode 0600.
inline constexpr std::string_view kSocketName = "SOCKET";

/// Another one speaks another language: raised with each change of a packed structure or a call.
inline constexpr uint64_t kProtocol = 2;

/// More is a mistake, and ends the connection.
inline constexpr uint32_t kGreetingBytesMax = 1024;
/// A value has 10 MiB at most; tools send rows by the hundred.
inline constexpr uint32_t kRequestBytesMax = uint32_t{256} << 20;
/// One row may be large; more rows than this are not asked for at once.
inline constexpr uint32_t kAnswerBytesMax = uint32_t{1} << 30;
/// A fetch of a scan ends with the row that brings it to so many bytes.
inline constexpr size_t kFetchBytes = size_t{4} << 20;

enum class Call : uint8_t {
  kCreateTable,
  kAlterTable,
  kDropTable,
  kDescribeTable,
  kListTables,
  kMutateRows,
  kDeleteRow,
  kGet,
  kGetCells,
  kGetRows,
  kIncrementColumns,
  kAppend,
  kCompareAndMutate,
  kMutateIfUnchanged,
  kScan,
  kNext,
  kEndScan,
  kCapabilities,
  kRegions,
  kFlush,
  kCompact,
  kCompactTable,
  kSplit,
  kMergeRegions,
  kSync,
  // Without a layout, too:
  kBackup,
  kBackupProgress,
  kCheck,
  kRepair,
};
template <>
inline constexpr Call kGreatest<Call> = Call::kRepair;

}  // namespace hg::local
