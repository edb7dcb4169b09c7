#pragma once
// Serves the cell store and the maintenance functions of this process to other processes on the
// same machine. Tools use this server while a daemon holds the data directory. The socket is in the
// data directory. Only the same user and root may connect.

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "storage/base/until_stop.h"
#include "storage/changed_rows.h"
#include "storage/local/calls.h"
#include "storage/local/channel.h"
#include "storage/maintenance.h"
#include "storage/model/key_layout.h"
#include "storage/store.h"

namespace hg::local {

/// Returns whether `user` is the user of this process or root.
bool IsOwnUserOrRoot(unsigned user);

struct LocalServerOptions {
  std::string folder;  // folder of the store; this process must hold the folder's lock
  KeyLayout layout;    // clients with another layout are rejected
  /// Backs up, checks and repairs the files of the store. Null if the store has no files.
  Maintenance* maintenance = nullptr;
  /// The server calls this function on the thread of the connection after rows may have changed. It
  /// does not call the function after an increment, an append, or a put with the condition that a
  /// column is absent. The function may be empty.
  ChangeReport changed = {};
  size_t connections_max = 64;  // when this number is reached, new connections are closed at once
  size_t answer_bytes_max = kAnswerBytesMax;
  /// Returns whether processes of `user` may connect. The mode of the socket file already allows
  /// only the same user and root. This check also covers a socket that was passed to another user.
  /// The server calls the function on the acceptor thread.
  std::function<bool(unsigned user)> lets_in = IsOwnUserOrRoot;
};

/// Serves each connection on a separate thread, which calls the store. Thread-safe.
class LocalServer {
 public:
  /// Starts a server that runs until Stop. For each request, the server calls `store` to get the
  /// store. Returns IoError if the socket cannot be created.
  static Result<std::unique_ptr<LocalServer>> Start(std::function<Store&()> store,
                                                    LocalServerOptions options);
  ~LocalServer();

  /// Closes all connections after their running calls have ended. Running reads and backups are
  /// ended early. When Stop returns, no scan is open and the socket is removed. Idempotent. Call
  /// Stop from one thread only.
  void Stop();

 private:
  /// A connection and the thread that serves it.
  struct Peer {
    explicit Peer(Channel connected) : channel(std::move(connected)) {}
    Channel channel;
    std::thread thread;
    bool done = false;  // guarded by mutex_
  };

  LocalServer(std::function<Store&()> store, LocalServerOptions options, Descriptor listening);
  void Accept();
  bool Admit(Channel channel);
  void Serve(Peer* peer);
  void JoinDone();

  const std::function<Store&()> store_;
  const LocalServerOptions options_;
  const Descriptor listening_;
  std::mutex mutex_;
  std::atomic<bool> stopping_{false};  // changed under mutex_
  UntilStop until_stop_{stopping_};
  std::list<Peer> peers_;  // guarded by mutex_
  std::thread acceptor_;
};

}  // namespace hg::local
