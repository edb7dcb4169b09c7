#include "http/telnet/lines.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "http/access/needed_role.h"
#include "http/api/stats.h"
#include "http/intake/intake.h"
#include "http/request/build_info.h"
#include "http/request/services.h"
#include "http/telnet/aggregate_lines.h"
#include "http/telnet/put_line.h"
#include "http/wire/telnet_line.h"
#include "storage/model/aggregate_sink.h"
#include "storage/model/name_text.h"
#include "storage/model/write_context.h"

namespace hg::http {
namespace {

/// Maximum bytes of replies. When it is reached, no more lines run until the replies are sent.
constexpr size_t kTextBytesMax = 16 * 1024;
/// Maximum put lines that are stored together. It is limited because each of them may get a reply.
constexpr size_t kPutsTogether = 128;

/// Returns the text of a point's refusal in the telnet protocol.
std::string Reason(const Status& status) {
  const std::string message(status.message());
  switch (FailureOf(status)) {
    case Failure::kInvalid:
      return "illegal argument: " + message;
    case Failure::kUnknown:
      return "unknown metric: " + message;
    case Failure::kNewSeries:
      return "Please throttle writes: " + message;
    default:
      return "HBase error: " + message;
  }
}

class LineRunner {
 public:
  LineRunner(Services& services, LinesCall call)
      : services_(services),
        counters_(services.counters),
        muted_(call.muted),
        roles_(call.roles),
        context_(*call.context, call.writer),
        puts_together_(call.after_busy ? 1 : kPutsTogether) {}

  LinesResult Run(std::string_view lines, const LinesCall& call) {
    std::string_view rest = lines;
    // After the store has refused lines, they run one by one, so that some of them may be stored.
    const bool together = !call.after_busy && writes() && roles_.Has(Role::kWrite);
    if (together) StoreLearning(lines, &rest);
    while (!rest.empty() && !result_.busy && !result_.close && !heavy_ &&
           result_.text.size() < kTextBytesMax) {
      const std::string_view line = TakeLine(&rest);
      if (!RunLine(line, lines.size() - rest.size())) break;
    }
    Flush();
    const Status committed = intake_.Commit();
    if (RefusesAll(FailureOf(committed)) && !result_.shut_down) {
      result_ = {};
      result_.busy = true;
      return std::move(result_);
    }
    Count(done_);
    if (!committed.ok()) SayStorageError(committed);
    return std::move(result_);
  }

 private:
  /// Counts of finished lines. They are added to the counters only when it is known that the lines
  /// need not run again.
  struct Done {
    uint64_t rpc_telnet = 0, rpc_put = 0;
  };
  struct PutLine {
    std::string fault;  // "" = its point is in puts_
    size_t end;         // end of the line within all lines
  };

  [[nodiscard]] bool writes() const { return services_.options.mode != Mode::kReadOnly; }

  /// Stores put lines with series that the fast path does not know yet. Removes the stored lines
  /// from *rest. The remaining lines must run separately. Sets result_.busy if the store is busy.
  void StoreLearning(std::string_view lines, std::string_view* rest) {
    std::vector<KeyedPoint> points;
    if (!ParsePutLines(lines, &points)) return;
    const size_t stored = intake_.StoreLearning(points);
    result_.busy = !intake_.refusal().ok();
    done_.rpc_telnet += stored;
    done_.rpc_put += stored;
    for (size_t i = 0; i < stored; ++i) TakeLine(rest);
    result_.used = lines.size() - rest->size();
  }

  /// Runs one line. `end` is the end of the line within all lines. Returns false if the store is
  /// busy; the line must then run again.
  bool RunLine(std::string_view line, size_t end) {
    SplitWords(line, &words_);
    if (const Role needed = RoleOfCommand(words_[0]); !roles_.Has(needed)) {
      if (!Flush()) return false;
      Forbid(needed);
      result_.used = end;
      return true;
    }
    if (words_[0] == "put" && writes()) {
      lines_.push_back({puts_.Add(line, words_), end});
      return lines_.size() < puts_together_ || Flush();
    }
    // The replies of the put lines before this line must precede the reply of this line.
    if (!Flush()) return false;
    if (writes() && (words_[0] == "rollup" || words_[0] == "histogram")) {
      if (!RunAggregate()) return false;
    } else {
      RunCommand(words_[0]);
    }
    ++done_.rpc_telnet;
    result_.used = end;
    return true;
  }

  void Forbid(Role needed) {
    ++done_.rpc_telnet;
    counters_.forbidden_telnet.fetch_add(1, std::memory_order_relaxed);
    Say(std::string(words_[0]) + ": forbidden: the role " + std::string(RoleName(needed)) +
        " is needed");
  }

  /// Runs a `rollup` or `histogram` line. Returns false if the store is busy.
  bool RunAggregate() {
    const AggregateReply reply = words_[0] == "rollup"
                                     ? RunRollupLine(words_, services_, context_)
                                     : RunHistogramLine(words_, services_, context_);
    if (reply.stored) {
      intake_.Cover(words_[0] == "rollup" ? static_cast<LimitedSink&>(*services_.rollups)
                                          : *services_.histograms);
      result_.busy = RefusesAll(intake_.Judge(*reply.stored));
      if (result_.busy) return false;
    } else if (!reply.text.empty()) {
      CountFault(reply.text);
    }
    if (!reply.text.empty()) Say(std::string(words_[0]) + ": " + reply.text);
    return true;
  }

  void RunCommand(std::string_view command) {
    if (command == "version") {
      Tell(BuildText());
    } else if (command == "stats") {
      Count(std::exchange(done_, {}));  // the statistics include the earlier lines
      intake_.CountStored();
      if (muted_) return;
      Tell(StatsText(services_));
      heavy_ = true;
    } else if (command == "help") {
      Help();
    } else if (command == "dropcaches") {
      services_.names.DropCaches();
      services_.sink.ForgetRawKeys();
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

  void Help() {
    std::string text = "available commands: stats dropcaches version exit help ";
    if (writes()) text += "put rollup histogram ";
    if (services_.options.diediedie_enabled) text += "diediedie ";
    Say(text);
  }

  void Tell(std::string_view text) {
    if (!muted_) result_.text.append(text);
  }
  void Say(const std::string& line) { Tell(line + "\n"); }

  /// Sends an error of the store. OpenTSDB sends such errors asynchronously, and an option
  /// suppresses them.
  void SayStorageError(const Status& status) {
    if (services_.options.telnet_return_errors) Say("put: " + Reason(status));
  }

  /// Stores the collected points and sends the results of their lines, in order. If the store is
  /// busy, returns false, and the first refused line and all later ones must run again.
  bool Flush() {
    std::vector<Status> results;
    intake_.StoreNamed(puts_.points(), &results);
    size_t next = 0;
    for (const PutLine& line : lines_) {
      if (!line.fault.empty()) {
        CountFault(line.fault);
        Say("put: " + line.fault);
      } else {
        const Status& stored = results[next++];
        const Failure failure = intake_.Judge(stored);
        result_.busy = RefusesAll(failure);
        if (result_.busy) break;
        Conclude(failure, stored);
      }
      ++done_.rpc_telnet;
      ++done_.rpc_put;
      result_.used = line.end;
    }
    lines_.clear();
    puts_.Clear();
    puts_together_ = std::min(puts_together_ * 2, kPutsTogether);
    return !result_.busy;
  }

  void CountFault(const std::string& fault) {
    auto& counter = fault.starts_with("invalid value") ? counters_.put_invalid_values
                                                       : counters_.put_illegal_arguments;
    counter.fetch_add(1, std::memory_order_relaxed);
  }

  void Conclude(Failure failure, const Status& stored) {
    if (failure == Failure::kNone) return;
    const bool at_once = failure == Failure::kInvalid || failure == Failure::kUnknown ||
                         failure == Failure::kNewSeries;
    if (at_once) return Say("put: " + Reason(stored));
    SayStorageError(stored);
  }

  void Count(const Done& done) {
    counters_.rpc_telnet.fetch_add(done.rpc_telnet, std::memory_order_relaxed);
    counters_.rpc_put.fetch_add(done.rpc_put, std::memory_order_relaxed);
  }

  Services& services_;
  Counters& counters_;
  const bool muted_;
  const Roles roles_;
  WriteContext context_;
  Intake intake_{services_.sink, counters_, context_};
  size_t puts_together_;
  // Whether a command took milliseconds. The remaining lines then run only after its reply was
  // sent, because sending shows whether the client has closed the connection.
  bool heavy_ = false;
  LinesResult result_;
  Done done_;
  std::vector<std::string_view> words_;
  PutLines puts_;
  std::vector<PutLine> lines_;  // put lines without a result
};

}  // namespace

LinesResult RunTelnetLines(std::string_view lines, Services& services, LinesCall call) {
  return LineRunner(services, call).Run(lines, call);
}

}  // namespace hg::http
