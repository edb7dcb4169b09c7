#pragma once
// Resource use of the processes of a server. A compared system may consist of several processes,
// each with child processes.

#include <cstdint>
#include <string>
#include <vector>

namespace hg::bench {

class ProcessTree {
 public:
  /// Measures the processes with the ids `roots` and all their descendants.
  explicit ProcessTree(std::vector<int> roots) : roots_(std::move(roots)) {}
  /// Parses process ids such as "12,34". An empty string means no process.
  static ProcessTree Parse(const std::string& list);

  /// Returns the seconds of processor time so far, user and system, of all threads of the processes
  /// that exist now. Exits if a process cannot be read.
  [[nodiscard]] double CpuSeconds() const;
  /// Returns the resident memory now. A page that n processes share counts n times.
  [[nodiscard]] uint64_t ResidentBytes() const;

 private:
  [[nodiscard]] std::vector<int> All() const;

  std::vector<int> roots_;
};

}  // namespace hg::bench
