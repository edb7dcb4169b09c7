#pragma once
// The files of a store. The FileSet owns the manifest, the current version and the open files.
// After the start, only FileSet::Apply changes which part files belong to the store.

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/base/thread_annotations.h"
#include "storage/engine/version.h"
#include "storage/lsm/block_cache.h"
#include "storage/lsm/manifest.h"

namespace hg::engine {

/// The tables and their regions, and the ids for the next new table and the next new region.
/// TableList is a plain value.
struct TableList {
  std::vector<lsm::TableEntry> entries;
  uint32_t next_table = 1;
  uint32_t next_region = 1;
};

/// The memtable whose data a flush has made durable: the oldest frozen memtable. Flushed is a plain
/// value.
struct Flushed {
  uint64_t sequence = 0;  // sequence number of the memtable's last log record
  // The log file and the position in the log where the records of the next memtable begin.
  uint64_t log_file = 0;
  LogPosition log_position = 0;
  int64_t stamp_floor_ms = 0;  // lower bound for all later server times, in ms
};

/// The content of the list of series after its files were rewritten. SeriesList is a plain value.
struct SeriesList {
  uint32_t end = 0;        // all series numbers below `end` are in the list or forgotten
  uint32_t forgotten = 0;  // number of forgotten series numbers below `end`
};

/// A change of the files of a store. Edit is a plain value.
struct Edit {
  /// The parts to remove from the current version.
  Parts remove;
  /// The parts to add, newest first within a region. The files of these parts are written and
  /// synced, or are the files of a part in `remove`. In the list of parts of their region, the new
  /// parts take the place of the newest removed part. If no part of the region is removed, the new
  /// parts become its newest parts.
  std::vector<lsm::PartEntry> add;
  /// If set, the complete list of tables after the change. Only one thread at a time may change
  /// tables, under Compactor::regions_mutex_.
  std::optional<TableList> tables;
  /// If set, the change removes the oldest frozen memtable, whose content is in the parts in `add`.
  std::optional<Flushed> flushed;
  /// If set, the change replaces the files of the list of series, and this is the new content.
  std::optional<SeriesList> series;
  /// Whether to drop the files of the edit from the page cache, because a merge has just read or
  /// written them.
  bool forget_cached = false;
  /// Whether the change deletes rows of the parts in `remove` without tombstones for these rows in
  /// a memtable.
  bool drops_rows = false;
};

/// The manifest, and the version with the same files. A thread that reads files of the manifest
/// must hold the version meanwhile, so that the files are not removed.
struct FileSetState {
  lsm::Manifest manifest;
  std::shared_ptr<const Version> version;
};

/// Thread-safe after OpenFiles. A file that is no longer in the manifest is kept while a reader
/// uses it. Then ReleaseUnused closes and removes the file. Readers never do, because they may be
/// event loops, and to close a large file or to free a memtable takes long.
///
/// Lock order: commit_ → Memstore::register_ and Memstore::write_ (AddMemory only) →
/// version_mutex_. A thread holds commit_ while it writes the manifest. A thread that holds commit_
/// must not wait for the log, because the sync thread of the log takes commit_ to record the names
/// of log files. A thread holds version_mutex_ only while it copies a pointer.
class FileSet {
 public:
  /// Readers may use files longer than the FileSet exists. Therefore `files` must outlive these
  /// readers, and the open files share the ownership of `cache` and `counters`.
  FileSet(FileSystem& files, std::string folder, std::shared_ptr<lsm::BlockCache> cache,
          std::shared_ptr<lsm::ReadCounters> counters)
      : files_(files),
        folder_(std::move(folder)),
        cache_(std::move(cache)),
        counters_(std::move(counters)) {}

  // At the start, call LoadManifest and then OpenFiles on one thread, before any other function.
  /// Loads the manifest, or creates one if the folder has no files of a store. Returns the errors
  /// of lsm::LoadManifest, Corruption if the manifest is missing or a restore was interrupted, and
  /// InvalidArgument if `layout` differs from the stored layout or has too many salt buckets.
  Status LoadManifest(const KeyLayout& layout);
  /// Opens the files of the manifest. Removes other part files, and log files before the first one
  /// in the manifest. Returns Corruption if a file is missing or damaged.
  Status OpenFiles();

  [[nodiscard]] std::shared_ptr<const Version> Pin() const;  // returns the current version
  [[nodiscard]] FileSetState State() const;                  // may wait for Apply, like Tables
  [[nodiscard]] TableList Tables() const;
  /// Returns a number for the files of a new part. NewNumber never returns a number twice.
  uint64_t NewNumber() { return next_number_++; }
  /// Returns the number of parts that were removed with Edit::drops_rows. The number rises after
  /// the new version is visible. A reader can read the number, pin a version, and read the number
  /// again later. If both numbers are equal, no rows were dropped in between.
  [[nodiscard]] uint64_t dropped_parts() const { return dropped_parts_; }
  /// Returns the memory of the block indexes of all open files, in bytes. Of files of older
  /// releases, the filters are included.
  [[nodiscard]] uint64_t MemoryBytes() const { return *memory_bytes_; }

  /// Makes the change durable, and then visible to readers. After a failure, the manifest in
  /// memory, the version and the open files are as before, and the new files of `edit.add` are
  /// removed. If saving the manifest fails, the disk may have the old or the new manifest. In this
  /// case, files that the manifest on disk may contain are kept until the next start. An allocation
  /// failure has the same effects as other failures.
  Status Apply(const Edit& edit);
  /// Closes and removes files that are no longer in the manifest, and frees flushed memtables, if
  /// no reader uses them any more. Returns whether readers still use others. May take long.
  bool ReleaseUnused() EXCLUDES(retired_mutex_);
  /// Removes files that were written but never passed to Apply. If some files cannot be removed,
  /// the next start of the store removes them.
  void RemoveFiles(std::span<const lsm::PartEntry> entries) const;

  /// Makes `memory` the new active memtable. Calls `freeze` while commit_ is held. `freeze` takes
  /// the locks that keep writers from the previous memtable. While `freeze` holds these locks, it
  /// calls `publish`, which makes the new memtable active. If `freeze` returns without a call of
  /// `publish`, nothing changes. `publish` only swaps a pointer and cannot fail.
  void AddMemory(std::shared_ptr<Memtable> memory,
                 const std::function<void(const std::function<void()>& publish)>& freeze);

  /// SetLogFiles and AddLogFiles record in the manifest which log files must exist at the next
  /// start. The list of log files is durable when the call returns ok. SetLogFiles replaces the
  /// list after recovery. AddLogFiles adds files to the list (LogOptions::name_files).
  Status SetLogFiles(std::vector<lsm::LogFile> logs);
  Status AddLogFiles(const std::list<lsm::LogFile>& logs);

 private:
  using OpenByNumber = std::map<uint64_t, std::shared_ptr<const PartFiles>>;

  Result<std::shared_ptr<const PartFiles>> Open(const lsm::PartEntry& entry);
  Status RemoveUnnamed(const lsm::Manifest& manifest);
  Status OpenFilesOf(const Edit& edit, OpenByNumber* opened);
  Status Commit(const Edit& edit, const OpenByNumber& opened,
                std::shared_ptr<const Version>* before, bool* saving) REQUIRES(commit_);
  std::shared_ptr<const Version> After(const Edit& edit, const OpenByNumber& opened) const
      REQUIRES(commit_);
  Status Save(lsm::Manifest manifest) REQUIRES(commit_);
  void Publish(std::shared_ptr<const Version>* version) REQUIRES(commit_);
  [[nodiscard]] bool NamedOnDisk(const std::vector<lsm::PartEntry>& entries) const;

  FileSystem& files_;
  const std::string folder_;
  const std::shared_ptr<lsm::BlockCache> cache_;
  const std::shared_ptr<lsm::ReadCounters> counters_;
  std::atomic<uint64_t> next_number_{1};
  std::atomic<uint64_t> dropped_parts_{0};
  // This counter is shared with the files, because a reader may use a file longer than the FileSet
  // exists.
  const std::shared_ptr<std::atomic<uint64_t>> memory_bytes_ =
      std::make_shared<std::atomic<uint64_t>>(0);

  mutable Mutex commit_;
  lsm::Manifest manifest_ GUARDED_BY(commit_);  // the manifest that was saved last

  mutable Mutex version_mutex_;
  // To read this member, a thread must hold version_mutex_. To change it, the thread must also hold
  // commit_.
  std::shared_ptr<const Version> version_ GUARDED_BY(version_mutex_) = std::make_shared<Version>();

  Mutex retired_mutex_;  // a thread that holds it takes no other lock
  // Files and memtables that are no longer in the current version. ReleaseUnused has the last
  // reference to each of them.
  std::list<std::shared_ptr<const void>> retired_ GUARDED_BY(retired_mutex_);
};

}  // namespace hg::engine
