// The command fsck: finds damaged rows of the data table, and repairs them on request
// (opentsdb-tools.md §7).

#include <algorithm>
#include <charconv>
#include <optional>
#include <thread>

#include "tsd/rollup_settings.h"
#include "tsd/settings.h"
#include "tsd/tools/fsck_run.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

FsckOptions ReadFlags(const CommandLine& line, const ReconcileOptions& reconcile) {
  const bool all = line.Has("--fix-all");
  const auto flag = [&](std::string_view name) { return all || line.Has(name); };
  FsckOptions options;
  options.fix = flag("--fix");
  options.compact = flag("--compact");
  options.resolve_duplicates = flag("--resolve-duplicates");
  options.last_write_wins = line.Has("--last-write-wins") || reconcile.fix_duplicates;
  options.delete_orphans = flag("--delete-orphans");
  options.delete_unknown_columns = flag("--delete-unknown-columns");
  options.delete_bad_values = flag("--delete-bad-values");
  options.delete_bad_rows = flag("--delete-bad-rows");
  options.delete_bad_compacts = flag("--delete-bad-compacts");
  options.repair_appends = reconcile.repair_appends;
  options.use_otsdb_timestamp = reconcile.use_otsdb_timestamp;
  return options;
}

/// Returns the number of threads, by default twice the number of cores. Returns InvalidArgument if
/// the option is not a number, is less than 1, or is more than four per core.
Result<int> ReadThreads(const CommandLine& line) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto text = line.Value("--threads");
  if (!text) return 2 * cores;
  int threads = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), threads);
  if (error != std::errc() || end != text->data() + text->size())
    return Status::InvalidArgument("--threads=" + *text + " is not a number");
  if (threads < 1 || threads > 4 * cores)
    return Status::InvalidArgument("--threads=" + *text + ": at least 1, at most " +
                                   std::to_string(4 * cores) + " (four per core)");
  return threads;
}

int RunFsck(Invocation& call) {
  const std::vector<std::string>& words = call.line.words();
  const auto threads = ReadThreads(call.line);
  if (!threads.ok()) return call.Fail(threads.status());
  auto rollups = ReadRollupOptions(call.session.config());
  if (!rollups.ok()) return call.Fail(rollups.status());
  FsckOptions options = ReadFlags(call.line, ReadReconcileOptions(call.session.config()));
  if (*rollups) options.rollups = &(*rollups)->tables;

  std::optional<WordQueries> queries;
  if (!words.empty()) {
    if (words.size() < kQueryWordsMin) return call.Misused("not enough arguments");
    const auto zone = ReadTimeZone(call.session.config());
    if (!zone.ok()) return call.Fail(zone.status());
    auto parsed = ParseQueryWords(words, call.clock.NowMs(), *zone, options.fix);
    if (!parsed.ok()) return call.Fail(parsed.status());
    queries = *std::move(parsed);
  } else if (!call.line.Has("--full-scan")) {
    call.Misused("a query or --full-scan is required");
    return kExitFailed;
  }
  const StoreUse use = options.fix ? StoreUse::kWork : StoreUse::kLook;
  if (Status s = call.Open(use); !s.ok()) return call.Fail(s);

  const int64_t start_ms = call.clock.NowMs();
  Fsck fsck(call.session, options, start_ms / 1000, call.err);
  const Status done = queries ? fsck.RunQueries(*queries, *threads) : fsck.RunFullScan(*threads);
  call.err << FsckReport(fsck.counts());
  if (!done.ok()) return call.Fail(done);
  const uint64_t unsaid = fsck.counts().errors() - fsck.errors_in_status();
  if (unsaid > 0)
    call.err << unsaid << " of the errors are after a row of global annotations, at which "
             << "OpenTSDB's scan ends. As in OpenTSDB, the exit status does not count them\n";
  call.err << "Completed fsck in [" << (call.clock.NowMs() - start_ms) / 1000 << "] seconds\n";
  return fsck.errors_in_status() == 0 ? kExitOk : kExitFailed;
}

constexpr OptionSpec kFsckOptions[] = {
    {"--full-scan", "", "check the whole table"},
    {"--threads", "NUM",
     "number of concurrent scans; the default is two per core, the maximum "
     "four per core"},
    {"--fix", "", "make repairs that lose no data; required by all following options"},
    {"--fix-all", "", "--fix and all options from --compact to --delete-bad-compacts"},
    {"--compact", "", "rewrite the points of each row as one cell"},
    {"--resolve-duplicates", "", "if a series has several points at one time, keep the oldest"},
    {"--delete-orphans", "", "delete rows whose metric or tags have no name"},
    {"--delete-unknown-columns", "", "delete columns of unknown kinds"},
    {"--delete-bad-values", "", "delete points whose value cannot be read"},
    {"--delete-bad-rows", "", "delete rows whose key does not belong to a series"},
    {"--delete-bad-compacts", "",
     "delete compacted columns whose value does not fit the qualifier"},
    {"--last-write-wins", "",
     "if a series has several points at one time, keep the newest (like "
     "tsd.storage.fix_duplicates)"},
    {"--sync", "", "accepted without effect: the command always waits for each repair"},
};

}  // namespace

const Command kFsckCommand{
    "fsck",
    "START [END] query [query...] | --full-scan",
    "Finds damaged rows of the data table, and repairs them on request.",
    "A query is: AGG [rate [counter[,MAX[,RESET]]]] [downsample MS FUNC] METRIC [tagk=tagv...]\n"
    "Aggregator, rate and downsampling are checked and otherwise ignored. The exit status is 1\n"
    "if errors were found, repaired or not.",
    kFsckOptions,
    "",
    RunFsck};

}  // namespace hg::tsd
