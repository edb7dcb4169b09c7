#include "tsd/tools/restore_beside.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "storage/base/file.h"
#include "storage/engine/engine_backup.h"
#include "tsd/rollup/automatic_rollups.h"
#include "tsd/settings.h"
#include "tsd/tables.h"
#include "tsd/tools/migrate_range.h"
#include "tsd/tools/migrate_reader.h"
#include "tsd/tools/migrate_source.h"
#include "tsd/tools/names_first.h"

namespace hg::tsd {
namespace {

using std::chrono::steady_clock;

/// A temporary folder below the data directory. If the process is killed, the next call of the
/// command removes the folder.
constexpr const char* kFolder = "restoring";

/// Returns whether the backup and the data directory have the same identity, which means that both
/// come from the same store.
bool OneHistory(const std::string& backup, const std::string& data) {
  FileSystem& files = PosixFileSystem();
  const auto there = ReadWholeFile(files, data + "/" + engine::kIdentityName);
  const auto here = ReadWholeFile(files, backup + "/" + engine::kIdentityName);
  return there.ok() && here.ok() && *there == *here;
}

/// A temporary folder, which the destructor removes.
class Scratch {
 public:
  static Result<std::unique_ptr<Scratch>> Make(const std::string& data) {
    const std::string path = data + "/" + kFolder;
    RETURN_IF_ERROR(PosixFileSystem().CreateFolder(path));
    ASSIGN_OR_RETURN(auto lock, PosixFileSystem().Lock(path + "/LOCK", "tsdb restore"));
    std::error_code error;
    std::filesystem::remove_all(path + "/store", error);
    if (error) return Status::IoError(path + "/store: " + error.message());
    return std::unique_ptr<Scratch>(new Scratch(path, std::move(lock)));
  }
  ~Scratch() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] std::string store() const { return path_ + "/store"; }

 private:
  Scratch(std::string path, std::unique_ptr<FileLock> lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  const std::string path_;
  const std::unique_ptr<FileLock> lock_;
};

/// Returns the settings for reading the backup.
Config SettingsOf(const Config& settings, const std::string& folder) {
  Config side = settings;
  side.Set("tsd.storage.path", folder);
  side.Set("tsd.rollups.automatic", "false");
  return side;
}

class Restoring {
 public:
  Restoring(Invocation& call, Session& from) : call_(call), from_(from), to_(call.session) {}

  Result<RestoredRows> Run(bool one_history) {
    ASSIGN_OR_RETURN(const IdMap ids,
                     MatchNames(from_.cells(), from_.uid_table(), to_.cells(), to_.uid_table(),
                                to_.layout(), to_.names(), one_history));
    ASSIGN_OR_RETURN(const auto tables, DescribeTables(from_.config()));
    std::set<std::string> known = {RollupStateTable(from_.data_table())};
    for (const TableDescriptor& table : tables) {
      known.insert(table.name);
      RETURN_IF_ERROR(Prepend(Bring(table, ids), "table " + table.name));
    }
    ASSIGN_OR_RETURN(const auto all, from_.cells().ListTables());
    for (const TableDescriptor& table : all) {
      if (known.contains(table.name)) continue;
      RETURN_IF_ERROR(Prepend(BringOwn(table), "table " + table.name));
    }
    RETURN_IF_ERROR(to_.cells().Sync());
    return done_;
  }

 private:
  void Say(const std::string& text) { call_.err << "tsdb restore: " << text << "\n" << std::flush; }

  [[nodiscard]] std::string TableOf(const char* kind) const {
    return to_.config().String("tsd.storage.hbase." + std::string(kind) + "_table");
  }

  Status Bring(const TableDescriptor& table, const IdMap& ids) {
    const bool of_ids = table.name == to_.uid_table();
    const bool by_ids = of_ids || table.name == TableOf("meta") || table.name == TableOf("tree");
    if (by_ids && !ids.same()) {
      Say("metadata and trees of table " + table.name +
          " are left out, because the daemon has other ids; `tsdb uid metasync` and `treesync` "
          "create them again");
      return {};
    }
    ASSIGN_OR_RETURN(const std::set<std::string> of_clients, PreAggregateTables(from_.config()));
    if (!by_ids && !table.points && !of_clients.contains(table.name) &&
        to_.config().Bool("tsd.rollups.automatic")) {
      Say("table " + table.name +
          " is left out, because the daemon computes its rollups itself; to get the rollups of "
          "points "
          "that retention deleted, restore the backup into an empty directory");
      return {};
    }
    return BringRows(table, table.name == to_.uid_table() ? nullptr : &ids);
  }

  /// Restores a table of users.
  Status BringOwn(const TableDescriptor& table) {
    if (table.points) {
      Say("table " + table.name + " is left out, because the table of points is " +
          to_.data_table() + "; restore the backup into an empty directory to get the table");
      return {};
    }
    const Result<TableDescriptor> there = to_.cells().DescribeTable(table.name);
    if (there.ok() && !TakesRowsOf(table, *there)) {
      Say("table " + table.name +
          " is left out, because the daemon has another table of this name: it is the table of "
          "points, or lacks a column family of the backup");
      return {};
    }
    return BringRows(table, nullptr);
  }

  /// Returns whether rows of the table `from` can be written to the table `to`.
  static bool TakesRowsOf(const TableDescriptor& from, const TableDescriptor& to) {
    return !to.points && std::ranges::all_of(from.families, [&](const FamilyDescriptor& family) {
      return std::ranges::find(to.families, family.name, &FamilyDescriptor::name) !=
             to.families.end();
    });
  }

  /// Restores the rows of a table. If `ids` is set, the rows contain ids, which are converted.
  Status BringRows(const TableDescriptor& table, const IdMap* ids) {
    RETURN_IF_ERROR(EnsureTable(table, to_.cells()));
    RowRules rules;
    rules.points = rules.native = table.points;
    rules.only_missing = true;
    rules.ids_stay = table.name == to_.uid_table();
    const RangeWriter writer(to_.cells(), table.name, rules, RangeWork::kWriteBeside);
    MigratePart part;
    part.table = table.name;
    MigrateReader reader(from_.cells(), part, {});
    RETURN_IF_ERROR(reader.Open());
    for (;;) {
      ASSIGN_OR_RETURN(MigrateReader::Chunk chunk, reader.Next());
      if (chunk.rows.empty()) return {};
      done_.rows += chunk.rows.size();
      RETURN_IF_ERROR(Settle(table, ids, &chunk.rows));
      ASSIGN_OR_RETURN(const RangeReport report, writer.Rows({std::move(chunk.rows), 0, {}}));
      done_.written += report.rows_different;
      done_.missing += report.rows_missing;
      Tell(table.name);
    }
  }

  /// Converts rows of the backup to the form in which the daemon's store accepts them.
  Status Settle(const TableDescriptor& table, const IdMap* ids, std::vector<Row>* rows) {
    const int64_t now_ms = call_.clock.NowMs();
    ASSIGN_OR_RETURN(const ExpiryRules expiry,
                     ExpiryOf(to_.cells(), table.name, table.points, to_.layout(), now_ms));
    const SourceRules rules{table.points, ReadReconcileOptions(from_.config()), now_ms};
    for (Row& row : *rows) {
      SettleSourceRow(rules, &row);
      LeaveExpired(expiry, &row);
      if (ids != nullptr) ids->Rename(&row);
    }
    std::erase_if(*rows, [](const Row& row) { return row.empty(); });
    return {};
  }

  void Tell(const std::string& table) {
    const auto now = steady_clock::now();
    if (now < tell_at_) return;
    tell_at_ = now + kProgressInterval;
    Say("table " + table + ": " + std::to_string(done_.rows) + " rows looked at, " +
        std::to_string(done_.written) + " written");
  }

  Invocation& call_;
  Session& from_;
  Session& to_;
  RestoredRows done_;
  steady_clock::time_point tell_at_ = steady_clock::now() + kProgressInterval;
};

}  // namespace

Result<RestoredRows> RestoreBeside(Invocation& call, const std::string& backup,
                                   const CopyWatch& watch) {
  const std::string& data = call.session.config().String("tsd.storage.path");
  RETURN_IF_ERROR(call.Open());
  if (!call.session.backend().beside_daemon()) {
    return Status::Unavailable("the daemon that had " + data + " has ended; try again");
  }
  ASSIGN_OR_RETURN(const auto scratch, Scratch::Make(data));
  RETURN_IF_ERROR(engine::Restore(PosixFileSystem(), backup, scratch->store(), watch).status());
  const Config settings = SettingsOf(call.session.config(), scratch->store());
  Session from(settings, call.session.opener(), "tsdb restore, reading");
  RETURN_IF_ERROR(from.Open(StoreUse::kLook));
  auto done = Restoring(call, from).Run(OneHistory(backup, data));
  const Status closed = from.Close();
  if (done.ok() && !closed.ok()) return closed;
  return done;
}

}  // namespace hg::tsd
