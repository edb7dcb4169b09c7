#include "bench/process_tree.h"

#include <time.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "bench/measuring.h"

namespace hg::bench {
namespace {

/// Returns (process, parent) for all running processes.
std::vector<std::pair<int, int>> Parents() {
  std::vector<std::pair<int, int>> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    int pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
    std::ifstream in(entry.path() / "stat");
    std::string text;
    std::getline(in, text);
    // The line has the form "12 (any name) S 1 ...". The name may contain spaces and parentheses.
    const size_t behind_name = text.rfind(')');
    if (behind_name == std::string::npos) continue;  // the process has ended meanwhile
    std::istringstream rest(text.substr(behind_name + 1));
    std::string state;
    int parent = 0;
    rest >> state >> parent;
    out.emplace_back(pid, parent);
  }
  return out;
}

uint64_t Kibibytes(const std::string& line) {
  return std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
}

}  // namespace

ProcessTree ProcessTree::Parse(const std::string& list) {
  std::vector<int> roots;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) roots.push_back(std::atoi(word.c_str()));
  return ProcessTree(std::move(roots));
}

std::vector<int> ProcessTree::All() const {
  std::set<int> all(roots_.begin(), roots_.end());
  if (all.empty()) return {};
  const auto parents = Parents();
  for (size_t before = 0; before != all.size();) {
    before = all.size();
    for (const auto& [pid, parent] : parents) {
      if (all.count(parent) != 0) all.insert(pid);
    }
  }
  return {all.begin(), all.end()};
}

double ProcessTree::CpuSeconds() const {
  double sum = 0;
  for (const int pid : All()) {
    clockid_t clock = 0;
    if (clock_getcpuclockid(pid, &clock) != 0) {
      Die("cannot read the processor time of process " + std::to_string(pid));
    }
    sum += bench::CpuSeconds(clock);
  }
  return sum;
}

uint64_t ProcessTree::ResidentBytes() const {
  uint64_t sum = 0;
  for (const int pid : All()) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("VmRSS:", 0) == 0) sum += Kibibytes(line) << 10;
    }
  }
  return sum;
}

}  // namespace hg::bench
