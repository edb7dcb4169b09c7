#pragma once
// Many small writes of one thread to a store with a log, of which only the last needs to be waited
// for.

namespace hg {

/// While one is alive, what its thread writes to a store of this process is applied and stands in
/// the log in its order, but the thread does not wait until it is durable. Whoever opens it sees to
/// it that nothing which rests on these writes is acknowledged before a later position of the log
/// is reached (Points::Commit): then they are durable, too. A store on another machine knows
/// nothing of it. Scopes may nest.
class CommitLater {
 public:
  CommitLater() { ++depth_; }
  ~CommitLater() { --depth_; }
  CommitLater(const CommitLater&) = delete;
  CommitLater& operator=(const CommitLater&) = delete;

  /// Of this thread.
  static bool Allowed() { return depth_ > 0; }

 private:
  inline static thread_local int depth_ = 0;
};

}  // namespace hg
