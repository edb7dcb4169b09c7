// The command migrate --from URI --to URI: copies all tables of one store to another. Clients may
// write to HBase, or to a daemon that uses a data directory, while the command runs
// (migrate_run.h).

#include <charconv>
#include <filesystem>
#include <limits>
#include <thread>

#include "storage/base/file.h"
#include "storage/lsm/manifest.h"
#include "tsd/tools/migrate_run.h"
#include "tsd/tools/migrate_uri.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

constexpr const char* kStateFile = "tsdb-migrate.json";
constexpr OptionSpec kMigrateOptions[] = {
    {"--from", "URI", "store to read: dir:///PATH or hbase://HOST:PORT[,…][/NAMESPACE]"},
    {"--to", "URI", "store to write, in the same form"},
    {"--state", "FILE", "file that keeps the progress (tsdb-migrate.json)"},
    {"--follow", "N", "make N more passes over changed rows; 0 = until the command is killed"},
    {"--pause", "SECONDS", "seconds between two passes (10)"},
    {"--rate", "MB", "maximum megabytes read per second; rows are not counted first"},
    {"--workers", "N", "table parts that are copied concurrently, 1 to 16 (4)"},
    {"--again", "", "process all rows again, and ignore the progress in the state file"},
    {"--delete", "", "remove rows and items that only the target has"},
    {"--verify", "", "compare all rows, write nothing"},
    {"--no-count", "", "do not count the rows first; the command cannot show the remaining time"},
};

Result<int64_t> NumberOption(const CommandLine& line, std::string_view option, int64_t absent,
                             int64_t min, int64_t max) {
  const auto text = line.Value(option);
  if (!text) return absent;
  int64_t number = 0;
  const auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error == std::errc() && stop == text->data() + text->size() && number >= min &&
      number <= max) {
    return number;
  }
  return Status::InvalidArgument(std::string(option) + " \"" + *text + "\" is no number from " +
                                 std::to_string(min) + " to " + std::to_string(max));
}

/// One call of the command, with both stores open.
class Migration {
 public:
  Migration(Invocation& call, const Config& from, const Config& to)
      : call_(call),
        from_(from, call.session.opener(), "tsdb migrate, reading"),
        to_(to, call.session.opener(), "tsdb migrate, writing"),
        verify_(call.line.Has("--verify")) {}

  Result<int> Run() {
    RETURN_IF_ERROR(ReadOptions());
    RETURN_IF_ERROR(CheckSourceDirectory());
    RETURN_IF_ERROR(Prepend(from_.Open(StoreUse::kLook), "--from"));
    RETURN_IF_ERROR(Prepend(to_.Open(verify_ ? StoreUse::kLook : StoreUse::kWork), "--to"));
    MigrateRun run(
        from_, to_, call_.clock, options_,
        [this](const MigrateState& state) { return Save(state); }, call_.err);
    RETURN_IF_ERROR(run.Prepare());
    ASSIGN_OR_RETURN(MigrateState state, Begin(run));
    for (int64_t more = follow_;; --more) {
      if (state.PassDone()) RETURN_IF_ERROR(run.PlanNext(&state));
      RETURN_IF_ERROR(run.Pass(&state));
      Report(state, run);
      if (more == 0) break;
      std::this_thread::sleep_for(std::chrono::seconds(pause_s_));
    }
    RETURN_IF_ERROR(Prepend(from_.Close(), "closing --from"));
    RETURN_IF_ERROR(Prepend(to_.Close(), "closing --to"));
    return verify_ && run.report().rows_different > 0 ? kExitFailed : kExitOk;
  }

 private:
  Status ReadOptions() {
    constexpr int64_t kEver = int64_t{1} << 40;
    const CommandLine& line = call_.line;
    ASSIGN_OR_RETURN(follow_, NumberOption(line, "--follow", 0, 0, kEver));
    // follow_ is the number of further passes. Without the option it is 0. If the option is 0,
    // there is no limit.
    if (line.Has("--follow") && follow_ == 0) follow_ = std::numeric_limits<int64_t>::max();
    ASSIGN_OR_RETURN(pause_s_, NumberOption(line, "--pause", 10, 0, 86'400));
    ASSIGN_OR_RETURN(const int64_t workers, NumberOption(line, "--workers", 4, 1, 16));
    options_.workers = static_cast<int>(workers);
    if (line.Has("--rate")) {
      ASSIGN_OR_RETURN(const int64_t rate, NumberOption(line, "--rate", 0, 1, 1'000'000));
      options_.bytes_per_s_max = static_cast<uint64_t>(rate) * 1'000'000;
    }
    options_.only_compare = verify_;
    options_.remove_extra = line.Has("--delete");
    // Counting would read the whole source without the rate limit, so --rate disables it.
    options_.count = !line.Has("--no-count") && !line.Has("--rate");
    state_path_ = std::filesystem::absolute(line.Value("--state").value_or(kStateFile));
    if (verify_ && (options_.remove_extra || line.Has("--follow"))) {
      return Status::InvalidArgument("--verify writes nothing: neither --delete nor --follow");
    }
    return {};
  }

  /// Checks that the source directory exists, because opening a missing directory would create it.
  Status CheckSourceDirectory() {
    const std::string& path = from_.config().String("tsd.storage.path");
    const bool directory = from_.config().String("tsd.storage.backend") == "embedded";
    if (!directory || PosixFileSystem().Exists(path + "/" + lsm::kManifestName)) return {};
    return Status::NotFound("--from: " + path + " is no data directory: it has no " +
                            lsm::kManifestName);
  }

  Result<MigrateState> Begin(MigrateRun& run) {
    const std::string from = *call_.line.Value("--from");
    const std::string to = *call_.line.Value("--to");
    FileSystem& files = PosixFileSystem();
    if (!verify_ && !call_.line.Has("--again")) {
      if (files.Exists(state_path_)) {
        ASSIGN_OR_RETURN(const Bytes text, ReadWholeFile(files, state_path_));
        auto state = ReadMigrateState(text);
        if (!state.ok()) return Prepend(state.status(), "state file " + state_path_.string());
        if (state->from == from && state->to == to) {
          if (state->since_ms && !state->PassDone()) RETURN_IF_ERROR(run.PlanNext(&*state));
          return state;
        }
        return Status::Conflict("state file " + state_path_.string() + " is of a migration from " +
                                state->from + " to " + state->to +
                                ": give another state file with --state");
      }
      const Status empty = run.CheckEmptyThere();
      if (empty.code() == StatusCode::kConflict) {
        return Prepend(empty, "--to: two databases would be mixed (with --again they are)");
      }
      RETURN_IF_ERROR(empty);
    }
    ASSIGN_OR_RETURN(MigrateState state, run.Plan());
    state.from = from;
    state.to = to;
    return state;
  }

  Status Save(const MigrateState& state) {
    return ReplaceFile(PosixFileSystem(), state_path_.parent_path(), state_path_.filename(),
                       WriteMigrateState(state));
  }

  void Report(const MigrateState& state, const MigrateRun& run) {
    const RangeReport& report = run.report();
    const RowSum& sum = run.sum();
    call_.out << "pass " << state.pass << ": " << sum.rows << " rows of " << sum.items
              << " items looked at, sum " << sum.Hex() << "; " << report.rows_different
              << (verify_ ? " rows differ, " : " rows written, ") << report.rows_missing
              << " of them were missing; " << report.rows_extra << " rows and "
              << report.items_extra << " items are only in the target"
              << (options_.remove_extra ? " and were removed" : "");
    if (report.items_expired > 0) {
      call_.out << "; " << report.items_expired << " items have expired there and were not copied";
    }
    call_.out << std::endl;
  }

  Invocation& call_;
  Session from_;
  Session to_;
  const bool verify_;
  MigrateOptions options_;
  int64_t follow_ = 0;
  int64_t pause_s_ = 0;
  std::filesystem::path state_path_;
};

int RunMigrate(Invocation& call) {
  const auto from = call.line.Value("--from");
  const auto to = call.line.Value("--to");
  if (!call.line.words().empty()) return call.Misused("no words are expected, only options");
  if (!from || !to) return call.Misused("--from and --to must be given");
  if (*from == *to) return call.Misused("--from and --to are the same");
  const auto from_settings = SettingsOfUri(call.session.config(), *from);
  if (!from_settings.ok()) return call.Fail(Prepend(from_settings.status(), "--from"));
  const auto to_settings = SettingsOfUri(call.session.config(), *to);
  if (!to_settings.ok()) return call.Fail(Prepend(to_settings.status(), "--to"));
  const auto exit = Migration(call, *from_settings, *to_settings).Run();
  return exit.ok() ? *exit : call.Fail(exit.status());
}

}  // namespace

const Command kMigrateCommand{
    "migrate",
    "",
    "Copies all tables between a data directory and HBase, in either direction.",
    "Both stores use the salt, the widths of ids and the table names of the settings. The command\n"
    "compares rows, writes the rows that differ, reads them back and compares them again. If the\n"
    "command was interrupted, run it again to continue. If it was finished, run it again to copy\n"
    "the changes since then. Clients may write to HBase while the command runs, and to a data\n"
    "directory that a daemon uses. If a daemon uses the data directory, the command reads and\n"
    "writes through the daemon. Points that clients write to the target stay, except points that\n"
    "the source has too. Changes of rows that were copied already are copied by the next run,\n"
    "after the clients have stopped. If a daemon has other ids for the names of the source, no\n"
    "points are written. --delete is refused for a target that a daemon uses. Exit status 1 means\n"
    "that the command failed, or that --verify found rows that are missing or differ\n"
    "(docs/hbase.md).",
    kMigrateOptions,
    "",
    RunMigrate};

}  // namespace hg::tsd
