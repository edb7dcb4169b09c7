#pragma once
// The embedded engine connects four components, and opens and closes them together. The cell store
// (EmbeddedStore) and the point store (EmbeddedPoints) share one Engine.
//
// - FileSet (file_set.h): the set of files and the current version.
// - Memstore (memstore.h): series, memtables, log and sequence; all writes.
// - RowReader (row_reader.h): reads rows of a version.
// - Compactor (compactor.h): flushes, merges, splits and other changes of files, and their threads.
//
// The four components share an Environment (environment.h) and a TableCatalog (table_catalog.h).
// Each header of a component states its locks and their order. The lock order of the engine, from
// the outermost lock to the innermost, is: Compactor::regions_mutex_ or Compactor::sweep_mutex_ →
// FileSet::commit_ or Memstore::large_changes_ → Memstore::register_ → Memstore::write_ → a leaf.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/engine/compactor.h"
#include "storage/engine/embedded.h"
#include "storage/engine/environment.h"
#include "storage/engine/file_set.h"
#include "storage/engine/idle_readers.h"
#include "storage/engine/memstore.h"
#include "storage/engine/row_reader.h"
#include "storage/engine/running_scans.h"
#include "storage/engine/table_catalog.h"
#include "storage/lsm/block_cache.h"
#include "storage/maintenance.h"
#include "storage/points/watched_points.h"

namespace hg::engine {

/// The engine of one data directory. Thread-safe after Open.
class Engine {
 public:
  /// Opens the engine of a data directory as described for Embedded::Open.
  static Result<std::unique_ptr<Engine>> Open(const EmbeddedOptions& options, FileSystem& files,
                                              const Clock& clock);
  ~Engine();
  Status Close();  // described in Embedded::Close

  [[nodiscard]] const EmbeddedOptions& options() const { return env_.options; }
  [[nodiscard]] const KeyLayout& layout() const { return env_.layout(); }
  [[nodiscard]] points::RenderOptions render_options() const { return env_.render_options(); }
  [[nodiscard]] const ObserverChain& observers() const { return env_.observers; }
  [[nodiscard]] RegionLoads& region_loads() const { return *env_.region_loads; }
  [[nodiscard]] ChangeListeners& listeners() { return listeners_; }
  [[nodiscard]] IdleReaders& readers() const { return readers_; }
  [[nodiscard]] RunningScans& running_scans() const { return running_scans_; }

  // The following functions are for tables. The pointers to tables are valid as long as the engine
  // exists (TableCatalog).
  Result<const Table*> FindTable(const std::string& name) const { return tables_.Find(name); }
  [[nodiscard]] std::vector<const Table*> Tables() const { return tables_.All(); }
  [[nodiscard]] const Table* points_table() const { return tables_.points(); }
  /// Returns whether the points table has a TTL, which hides old rows.
  [[nodiscard]] bool RowsExpire() const;
  Status CreateTable(const TableDescriptor& descriptor);
  /// Returns whether the table has changed; it has not if it already has these attributes. Returns
  /// InvalidArgument if stored rows do not fit them, LimitExceeded after kAlterationsMax changes.
  /// Conflict: `before` is set, and the table has other attributes now (Store::AlterTable).
  Result<bool> AlterTable(const TableDescriptor& descriptor,
                          const TableDescriptor* before = nullptr);
  Status DropTable(const std::string& name);

  // The following functions call the functions of Memstore with the same names.
  [[nodiscard]] const Registry& registry() const { return memstore_.registry(); }
  Result<SeriesNumber> Register(ByteView tsuid) { return memstore_.Register(tsuid); }
  Status RegisterAll(std::span<const ByteView> tsuids, SeriesNumber* numbers) {
    return memstore_.RegisterAll(tsuids, numbers);
  }
  Status MayAddSeries(uint64_t name_bytes) { return memstore_.MayAddSeries(name_bytes); }
  Result<LogPosition> Append(std::span<const PointEntry> batch) { return memstore_.Append(batch); }
  [[nodiscard]] bool AppendMayWait(std::span<const PointEntry> batch) const {
    return memstore_.AppendMayWait(batch);
  }
  Result<LogPosition> Write(const Table& table, ByteView key,
                            const std::vector<CellChange>& changes) {
    return memstore_.Write(table, key, changes);
  }
  Result<LogPosition> AppendToRow(const Table& table, ByteView key, ByteView bytes) {
    return memstore_.AppendToRow(table, key, bytes);
  }
  Result<Memstore::Outcome> ReadModifyWrite(const Table& table, ByteView key,
                                            const lsm::ColumnChoice& columns,
                                            const Memstore::Decide& decide) {
    return memstore_.ReadModifyWrite(table, key, columns, decide);
  }
  [[nodiscard]] int64_t stamp_ms_locked(ByteView key) const {
    return memstore_.stamp_ms_locked(key);
  }
  void Commit(LogPosition position, std::function<void(Status)> done) {
    memstore_.Commit(position, std::move(done));
  }
  Status CommitAndWait(LogPosition position) { return memstore_.CommitAndWait(position); }
  Status Sync() { return memstore_.Sync(); }
  void RaiseHorizon(uint32_t base) { memstore_.RaiseHorizon(base); }
  [[nodiscard]] uint32_t horizon() const { return memstore_.horizon(); }

  // The following functions are for readers.
  [[nodiscard]] std::shared_ptr<const Version> Pin() const { return file_set_.Pin(); }
  [[nodiscard]] const RowReader& rows() const { return memstore_.rows(); }

  // The following functions call the functions of Compactor with the same names. Except for
  // LeaveRoom and FlushIfNeeded, they then release the files that are not used any more; Compactor
  // does so in these two.
  Status Flush() { return Released(compactor_.Flush()); }
  Status LeaveRoom() { return compactor_.LeaveRoom(); }
  Status Compact(RequestContext* context = nullptr) {
    return Released(compactor_.Compact(context));
  }
  Status Compact(const Table& table, RequestContext* context = nullptr) {
    return Released(compactor_.Compact(table, context));
  }
  Status DropFiles(const EndOfRows& end_of) { return Released(compactor_.DropFiles(end_of)); }
  Result<Bytes> Split(const Table& table, ByteView key_of_region, const std::optional<Bytes>& at) {
    return Released(compactor_.Split(table, key_of_region, at));
  }
  Status MergeRegions(const Table& table, const Bytes& boundary,
                      RequestContext* context = nullptr) {
    return Released(compactor_.MergeRegions(table, boundary, context));
  }
  using MergePool = Compactor::MergePool;
  Status FlushIfNeeded() { return compactor_.FlushIfNeeded(); }
  Status MergePending(MergePool pool) { return Released(compactor_.MergePending(pool)); }
  Status SplitWhereDue() { return Released(compactor_.SplitWhereDue()); }
  Status SweepSeries() { return Released(compactor_.SweepSeries()); }

  /// Check and Repair are described in storage/maintenance.h.
  Result<CheckReport> Check(RequestContext* context = nullptr);  // defined in engine_check.cc
  Result<RepairReport> Repair();
  // Maintenance::Backup describes Backup, which is defined in engine_backup.cc.
  Result<CopyProgress> Backup(const std::string& folder, const CopyWatch& watch);
  [[nodiscard]] EmbeddedStats Stats() const;

 private:
  /// Calls Compactor::ReleaseUnused, and returns `result`.
  template <typename T>
  T Released(T result) {
    compactor_.ReleaseUnused();
    return result;
  }

  Engine(const EmbeddedOptions& options, FileSystem& files, const Clock& clock);

  Status Start();
  [[nodiscard]] Status CheckOnlyPointsTable(const TableDescriptor& table) const;
  // The following functions and CreateTable, AlterTable and DropTable are in engine_tables.cc.
  [[nodiscard]] bool HasFamiliesOf(const TableDescriptor& wanted) const;
  /// Returns whether the table is one of EmbeddedOptions::tables.
  [[nodiscard]] bool IsOwnTable(const std::string& name) const;
  Status MakeFolderOf(const std::string& table);
  Status CreateHeld(const TableDescriptor& descriptor);
  /// Sets `changed` to true if the table has changed.
  Status AlterHeld(const TableDescriptor& wanted, const TableDescriptor* before, bool* changed);
  [[nodiscard]] Status CheckBackupFolder(const std::string& folder) const;  // in engine_backup.cc
  [[nodiscard]] Status CheckOwnFamilies(const TableDescriptor& wanted) const;
  Status DropHeld(const Table& table, const std::vector<RegionPlace>& places);

  Environment env_;
  // The block cache is shared with files, because a reader may use a file longer than the engine
  // exists.
  const std::shared_ptr<lsm::BlockCache> cache_;
  const std::shared_ptr<lsm::ReadCounters> read_counters_ = std::make_shared<lsm::ReadCounters>();
  std::unique_ptr<FileLock> lock_;  // the lock of the data directory; held until Close
  mutable IdleReaders readers_;
  mutable RunningScans running_scans_;
  ChangeListeners listeners_;
  TableCatalog tables_;
  uint32_t alterations_ = 0;  // number of changes to tables; used only within ChangeTables
  FileSet file_set_;
  Memstore memstore_;
  Compactor compactor_;
};

}  // namespace hg::engine
