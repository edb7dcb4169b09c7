#pragma once
// Handles the requests of one connection to the server (local_server.h).

#include <functional>
#include <memory>
#include <optional>

#include "storage/base/request_context.h"
#include "storage/local/channel.h"
#include "storage/local/packing.h"
#include "storage/store.h"

namespace hg::local {

struct LocalServerOptions;

/// The server's side of one connection. Not thread-safe.
class Conversation {
 public:
  /// All arguments must outlive the object. `reads` is the context of reads and can end them.
  Conversation(const std::function<Store&()>& store, const LocalServerOptions& options,
               RequestContext& reads, Channel* channel)
      : store_(store), options_(options), reads_(reads), channel_(*channel) {}

  /// Handles requests until the client disconnects, the channel is shut, or a request is invalid.
  void Run();

 private:
  /// Returns the response to a request frame. If the frame is invalid, returns nullopt. The caller
  /// must then close the connection.
  std::optional<Bytes> Answer(ByteView frame);
  std::optional<Bytes> Greet(Unpacker* in);
  std::optional<Bytes> CreateTable(Unpacker* in);
  std::optional<Bytes> AlterTable(Unpacker* in);
  template <typename T>
  std::optional<Bytes> OfName(Unpacker* in, T (Store::*call)(const std::string&));
  std::optional<Bytes> DropTable(Unpacker* in);
  std::optional<Bytes> MutateRows(Unpacker* in);
  std::optional<Bytes> DeleteRow(Unpacker* in);
  std::optional<Bytes> GetCells(Unpacker* in);
  std::optional<Bytes> GetRows(Unpacker* in);
  std::optional<Bytes> IncrementColumns(Unpacker* in);
  std::optional<Bytes> AppendColumns(Unpacker* in);
  std::optional<Bytes> CompareAndMutate(Unpacker* in);
  std::optional<Bytes> MutateIfUnchanged(Unpacker* in);
  std::optional<Bytes> Scan(Unpacker* in);
  std::optional<Bytes> Next();
  std::optional<Bytes> Regions(Unpacker* in);
  std::optional<Bytes> Split(Unpacker* in);
  std::optional<Bytes> CompactTable(Unpacker* in);
  std::optional<Bytes> MergeRegions(Unpacker* in);
  std::optional<Bytes> Backup(Unpacker* in);
  std::optional<Bytes> BackupProgress();
  std::optional<Bytes> Check();
  std::optional<Bytes> Repair();

  const std::function<Store&()>& store_;
  const LocalServerOptions& options_;
  RequestContext& reads_;
  Channel& channel_;
  bool greeted_ = false;
  bool with_cells_ = false;  // whether the client has sent its key layout
  std::unique_ptr<ScanCursor> cursor_;
};

}  // namespace hg::local
