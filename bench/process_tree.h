#pragma once
// Measures the resources that the processes of a server use. A compared system may consist of
// several processes, each with child processes.

#include <cstdint>
#include <string>
#include <vector>

namespace hg::bench {

class ProcessTree {
 public:
  /// The object measures the processes with the ids `roots` and all their descendants.
  explicit ProcessTree(std::vector<int> roots) : roots_(std::move(roots)) {}
  /// Parses a list of process ids such as "12,34". An empty string means that there are no
  /// processes.
  static ProcessTree Parse(const std::string& list);

  /// Returns the processor time that all threads of the processes have used so far, in user and
  /// system mode, in seconds. Processes that have ended are not counted. Exits the program if a
  /// process cannot be read.
  [[nodiscard]] double CpuSeconds() const;
  /// Returns the resident memory that the processes use now, in bytes. A page that n processes
  /// share is counted n times.
  [[nodiscard]] uint64_t ResidentBytes() const;

 private:
  [[nodiscard]] std::vector<int> All() const;

  std::vector<int> roots_;
};

}  // namespace hg::bench
