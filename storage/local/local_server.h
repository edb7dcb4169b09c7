#pragma once
// The cells door of this process, and its maintenance, for others on the same machine: tools beside
// a daemon that holds the data directory. A socket in that directory, for the same user and root
// alone.

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "storage/local/calls.h"
#include "storage/local/channel.h"
#include "storage/maintenance.h"
#include "storage/model/key_layout.h"
#include "storage/store.h"

namespace hg::local {

/// Whether it is the user of this process, or root.
bool IsOwnUserOrRoot(unsigned user);

struct LocalServerOptions {
  std::string folder;  // whose lock this process has
  KeyLayout layout;    // clients with another one are refused
  /// Null: there are no files to be copied or checked.
  Maintenance* maintenance = nullptr;
  /// Called after rows of a table were changed in another way than by a conditional put of what was
  /// not there, on a connection's thread; maybe nothing came of it. A row without changes was
  /// deleted, one without a key stands for all. May be empty.
  std::function<void(const std::string& table, const std::vector<RowMutation>& rows)> changed = {};
  size_t connections_max = 64;  // more are closed at once
  size_t answer_bytes_max = kAnswerBytesMax;
  /// Whether processes of that user may connect. The socket's mode says the same; this holds where
  /// the file was passed on. On the acceptor's thread.
  std::function<bool(unsigned user)> lets_in = IsOwnUserOrRoot;
};

/// A thread for each connection, which calls the door as any caller does. Thread-safe.
class LocalServer {
 public:
  /// Serves until Stop. `store` is asked for the door at each call. IoError: there can be no socket
  /// there.
  static Result<std::unique_ptr<LocalServer>> Start(std::function<Store&()> store,
                                                    LocalServerOptions options);
  ~LocalServer();

  /// Calls at work are finished, but a copy, which ends early; all connections are closed. When it
  /// returns no scan is open and the socket is gone. Idempotent; one thread.
  void Stop();

 private:
  /// A connection and its thread.
  struct Peer {
    explicit Peer(Channel connected) : channel(std::move(connected)) {}
    Channel channel;
    std::thread thread;
    bool done = false;  // guarded by mutex_
  };

  LocalServer(std::function<Store&()> store, LocalServerOptions options, Descriptor listening);
  void Accept();
  bool Stopping();
  bool Admit(Channel channel);
  void Serve(Peer* peer);
  void JoinDone();

  const std::function<Store&()> store_;
  const LocalServerOptions options_;
  const Descriptor listening_;
  std::mutex mutex_;
  bool stopping_ = false;  // guarded by mutex_
  std::list<Peer> peers_;  // guarded by mutex_
  std::thread acceptor_;
};

}  // namespace hg::local
