#pragma once
// What the processes of a server use: a peer may be several processes, and each may have children.

#include <cstdint>
#include <string>
#include <vector>

namespace hg::bench {

class ProcessTree {
 public:
  /// Of these processes and all their descendants.
  explicit ProcessTree(std::vector<int> roots) : roots_(std::move(roots)) {}
  /// "12,34"; no number at all means no process.
  static ProcessTree Parse(const std::string& list);

  /// Seconds of processor so far, user and system, all threads; of those that live now. A process
  /// that cannot be read ends the measurement.
  [[nodiscard]] double CpuSeconds() const;
  /// Resident memory now. Pages that several processes share count for each.
  [[nodiscard]] uint64_t ResidentBytes() const;

 private:
  [[nodiscard]] std::vector<int> All() const;

  std::vector<int> roots_;
};

}  // namespace hg::bench
