#include "http/api/process_stats.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

namespace hg::http {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

/// Returns the number after a name in the text, or 0 if the name is missing.
uint64_t NumberBehind(const std::string& text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string::npos) return 0;
  return std::strtoull(text.c_str() + at + name.size(), nullptr, 10);
}

/// Returns the bytes in a line such as "MemTotal:  16316412 kB".
uint64_t MemoryLine(const std::string& text, std::string_view name) {
  return NumberBehind(text, name) * 1024;
}

/// The content of a stat file in /proc: id (name) state, then numbers.
struct StatFile {
  std::string name;
  char state = 'S';
  std::vector<int64_t> numbers;
};

bool ReadStat(const std::string& path, StatFile* out) {
  const std::string text = ReadAll(path);
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 2 >= text.size())
    return false;
  out->name = text.substr(open + 1, close - open - 1);
  out->state = text[close + 2];
  std::istringstream rest(text.substr(close + 3));
  for (int64_t number; rest >> number;) out->numbers.push_back(number);
  return true;
}

// Indexes among the fields after the name (in proc(5): fields 14 and 15, 18, 22, 23). Times are in
// clock ticks; the start time is measured from boot.
constexpr size_t kUserTimeField = 10, kSystemTimeField = 11;
constexpr size_t kPriorityField = 14;
constexpr size_t kStartTimeField = 18;
constexpr size_t kVirtualBytesField = 19;

/// Returns the number of names in a directory, without "." and "..". Names that disappear during
/// the call may be counted.
int64_t CountNames(const char* folder) {
  DIR* names = opendir(folder);
  if (names == nullptr) return 0;
  int64_t count = 0;
  while (const dirent* entry = readdir(names)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(names);
  return count;
}

}  // namespace

ProcessStats ReadProcessStats() {
  ProcessStats stats;
  const std::string memory = ReadAll("/proc/meminfo");
  stats.memory_total_bytes = MemoryLine(memory, "MemTotal:");
  stats.memory_available_bytes = MemoryLine(memory, "MemAvailable:");
  stats.memory_resident_bytes = MemoryLine(ReadAll("/proc/self/status"), "VmRSS:");

  StatFile self;
  if (ReadStat("/proc/self/stat", &self) && self.numbers.size() > kVirtualBytesField) {
    timespec boot{};
    clock_gettime(CLOCK_BOOTTIME, &boot);
    const int64_t since_boot_ms = boot.tv_sec * 1000 + boot.tv_nsec / 1000000;
    const int64_t ticks = std::max(1L, sysconf(_SC_CLK_TCK));
    stats.uptime_ms =
        std::max<int64_t>(0, since_boot_ms - self.numbers[kStartTimeField] * 1000 / ticks);
    stats.start_time_s =
        static_cast<double>(NumberBehind(ReadAll("/proc/stat"), "\nbtime ")) +
        static_cast<double>(self.numbers[kStartTimeField]) / static_cast<double>(ticks);
    stats.memory_virtual_bytes = static_cast<uint64_t>(self.numbers[kVirtualBytesField]);
    stats.cpu_seconds =
        static_cast<double>(self.numbers[kUserTimeField] + self.numbers[kSystemTimeField]) /
        static_cast<double>(ticks);
  }
  stats.open_files = CountNames("/proc/self/fd");
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0)
    stats.open_files_max = static_cast<int64_t>(files.rlim_cur);

  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return stats;
  while (const dirent* entry = readdir(tasks)) {
    StatFile task;
    if (entry->d_name[0] == '.') continue;
    if (!ReadStat(std::string("/proc/self/task/") + entry->d_name + "/stat", &task)) continue;
    ThreadStats thread{std::atoi(entry->d_name), task.name, task.state, 0};
    if (task.numbers.size() > kPriorityField)
      thread.priority = static_cast<int>(task.numbers[kPriorityField]);
    stats.threads.push_back(std::move(thread));
  }
  closedir(tasks);
  return stats;
}

}  // namespace hg::http
