#include "http/telnet/lines.h"

#include <chrono>
#include <thread>
#include <vector>

#include "http/api/stats.h"
#include "http/build_info.h"
#include "http/commit_wait.h"
#include "http/services.h"
#include "http/telnet/aggregate_lines.h"
#include "http/telnet/put_line.h"
#include "http/wire/telnet_line.h"
#include "storage/model/name_text.h"

namespace hg::http {
namespace {

/// A busy store is asked again for this long.
constexpr int kBusyTries = 500;
constexpr auto kBusyPause = std::chrono::milliseconds(20);

/// What a point's refusal is called on this wire.
std::string Reason(const Status& status) {
  const std::string message(status.message());
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
      return "illegal argument: " + message;
    case StatusCode::kNotFound:
      return "unknown metric: " + message;
    case StatusCode::kBusy:
      return "Please throttle writes: " + message;
    case StatusCode::kDeadlineExceeded:
      return "Request timed out: " + message;
    default:
      return "HBase error: " + message;
  }
}

class LineRunner {
 public:
  explicit LineRunner(Services& services) : services_(services), counters_(services.counters) {}

  LinesResult Run(std::string_view lines) {
    while (!lines.empty() && !result_.close) RunLine(TakeLine(&lines));
    Flush();
    const Status committed = CommitAndWait(services_.sink, position_);
    if (!committed.ok()) {
      counters_.put_storage_errors.fetch_add(1, std::memory_order_relaxed);
      result_.text += "put: " + Reason(committed) + "\n";
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool writes() const { return services_.options.mode != Mode::kReadOnly; }

  void RunLine(std::string_view line) {
    SplitWords(line, &words_);
    const std::string_view command = words_[0];
    if (command == "put" && writes()) return Put(line);
    // Whatever else answers, answers behind the points before it.
    Flush();
    counters_.rpc_telnet.fetch_add(1, std::memory_order_relaxed);
    if (command == "rollup" && writes()) {
      result_.text += RunRollupLine(words_, services_);
    } else if (command == "histogram" && writes()) {
      result_.text += RunHistogramLine(words_, services_);
    } else if (command == "version") {
      result_.text += BuildText();
    } else if (command == "stats") {
      result_.text += StatsText(services_);
    } else if (command == "help") {
      Help();
    } else if (command == "dropcaches") {
      services_.names.DropCaches();
      services_.sink.ForgetSpellings();
      Say("Caches dropped.");
    } else if (command == "exit") {
      result_.close = true;
    } else if (command == "diediedie" && services_.options.diediedie_enabled) {
      Say("Cleaning up and exiting now.");
      result_.shut_down = true;
    } else {
      Say("unknown command: " + FromLatin1(command) + ".  Try `help'.");
    }
  }

  void Put(std::string_view line) {
    counters_.rpc_telnet.fetch_add(1, std::memory_order_relaxed);
    counters_.rpc_put.fetch_add(1, std::memory_order_relaxed);
    std::string fault = puts_.Add(line, words_);
    if (!fault.empty()) {
      auto& counter = fault.starts_with("invalid value") ? counters_.put_invalid_values
                                                         : counters_.put_illegal_arguments;
      counter.fetch_add(1, std::memory_order_relaxed);
    }
    faults_.push_back(std::move(fault));
  }

  void Help() {
    std::string text = "available commands: stats dropcaches version exit help ";
    if (writes()) text += "put rollup histogram ";
    if (services_.options.diediedie_enabled) text += "diediedie ";
    Say(text);
  }

  void Say(std::string_view line) { result_.text.append(line).append("\n"); }

  /// Stores the points gathered so far and writes what became of the lines, in their order.
  void Flush() {
    std::vector<Status> verdicts;
    if (!puts_.points().empty()) Append(&verdicts);
    size_t next = 0;
    for (const std::string& fault : faults_) {
      if (!fault.empty()) {
        Say("put: " + fault);
        continue;
      }
      const Status& verdict = verdicts[next++];
      if (verdict.ok()) {
        counters_.points_added.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      Count(verdict);
      Say("put: " + Reason(verdict));
    }
    faults_.clear();
    puts_.Clear();
  }

  void Append(std::vector<Status>* verdicts) {
    for (int tries = 0;; ++tries) {
      position_ = std::max(position_, services_.sink.AppendNamed(puts_.points(), verdicts));
      bool busy = false;
      for (const Status& verdict : *verdicts) busy |= verdict.code() == StatusCode::kBusy;
      // Appending again what was stored already changes nothing, but only all or none were.
      if (!busy || tries == kBusyTries) return;
      counters_.put_writes_blocked.fetch_add(1, std::memory_order_relaxed);
      std::this_thread::sleep_for(kBusyPause);
    }
  }

  void Count(const Status& verdict) {
    switch (verdict.code()) {
      case StatusCode::kInvalidArgument:
        counters_.put_illegal_arguments.fetch_add(1, std::memory_order_relaxed);
        return;
      case StatusCode::kNotFound:
        counters_.put_unknown_metrics.fetch_add(1, std::memory_order_relaxed);
        return;
      default:
        counters_.put_storage_errors.fetch_add(1, std::memory_order_relaxed);
    }
  }

  Services& services_;
  Counters& counters_;
  LinesResult result_;
  std::vector<std::string_view> words_;
  PutLines puts_;
  std::vector<std::string> faults_;  // one per put line; empty = its point is in puts_
  PointSink::Position position_ = 0;
};

}  // namespace

LinesResult RunTelnetLines(std::string_view lines, Services& services) {
  return LineRunner(services).Run(lines);
}

}  // namespace hg::http
