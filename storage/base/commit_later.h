#pragma once
// Lets a thread make many small writes to a store with a log and wait only for the last one.

namespace hg {

/// While a CommitLater is alive, its thread does not wait until its writes to a store of this
/// process are durable. The store applies the writes and appends them to its log in their order.
/// The code that creates a CommitLater must not acknowledge anything that depends on these writes
/// before a later log position is committed (Points::Commit). That commit makes the writes durable
/// as well. Stores on other machines ignore this class. Scopes may nest.
class CommitLater {
 public:
  CommitLater() { ++depth_; }
  ~CommitLater() { --depth_; }
  CommitLater(const CommitLater&) = delete;
  CommitLater& operator=(const CommitLater&) = delete;

  /// Whether a CommitLater is alive on the current thread.
  static bool Allowed() { return depth_ > 0; }

 private:
  inline static thread_local int depth_ = 0;
};

}  // namespace hg
