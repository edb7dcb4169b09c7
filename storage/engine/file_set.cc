#include "storage/engine/file_set.h"

#include <algorithm>
#include <map>
#include <set>

#include "storage/base/invariant.h"
#include "storage/base/survive.h"
#include "storage/engine/engine_backup.h"
#include "storage/engine/stored_files.h"
#include "storage/lsm/log_recovery.h"

namespace hg::engine {
namespace {

RegionPlace PlaceOf(const lsm::PartEntry& entry) { return {entry.table, entry.region}; }

// Returns the parts in the order of the manifest.
std::vector<lsm::PartEntry> EntriesOf(const Version& version) {
  std::vector<lsm::PartEntry> entries;
  for (const auto& [place, parts] : version.parts) {
    for (const auto& part : parts) {
      INVARIANT(PlaceOf(part->entry()) == place);
      entries.push_back(part->entry());
    }
  }
  return entries;
}

Status CompareLayouts(const KeyLayout& wanted, const KeyLayout& stored, const std::string& path) {
  auto check = [&](const char* what, int want, int have) {
    if (want == have) return Status();
    return Status::InvalidArgument(path + " was created with " + what + " " + std::to_string(have) +
                                   ", the configuration says " + std::to_string(want));
  };
  RETURN_IF_ERROR(check("metric width", wanted.metric_width, stored.metric_width));
  RETURN_IF_ERROR(check("tag key width", wanted.tagk_width, stored.tagk_width));
  RETURN_IF_ERROR(check("tag value width", wanted.tagv_width, stored.tagv_width));
  RETURN_IF_ERROR(check("salt width", wanted.salt_width, stored.salt_width));
  if (wanted.salt_width == 0) return {};
  return check("number of salt buckets", wanted.salt_buckets, stored.salt_buckets);
}

}  // namespace

Status FileSet::LoadManifest(const KeyLayout& layout) {
  MutexLock lock(commit_);
  auto loaded = lsm::LoadManifest(files_, folder_);
  if (loaded.ok()) {
    manifest_ = std::move(*loaded);
    return CompareLayouts(layout, manifest_.layout, folder_);
  }
  if (loaded.status().code() != StatusCode::kNotFound) return loaded.status();
  if (files_.Exists(folder_ + "/" + kRestoringName)) {
    return Status::Corruption(folder_ + ": a restore was interrupted: run it again");
  }
  ASSIGN_OR_RETURN(auto names, PartFilesIn(files_, folder_));
  ASSIGN_OR_RETURN(const auto logs, LogFilesIn(files_, folder_));
  names.insert(names.end(), logs.begin(), logs.end());
  for (const std::string& name : names) {
    if (!name.ends_with(".tmp")) {
      return Status::Corruption(folder_ + ": " + lsm::kManifestName +
                                " is missing, although the folder contains " + name);
    }
  }
  if (layout.salt_width > 0 && layout.salt_buckets > lsm::kSaltBucketsMax) {
    return Status::InvalidArgument(std::to_string(layout.salt_buckets) +
                                   " salt buckets are configured, but the maximum is " +
                                   std::to_string(lsm::kSaltBucketsMax));
  }
  manifest_.layout = layout;
  return lsm::SaveManifest(files_, folder_, manifest_);
}

Status FileSet::OpenFiles() {
  lsm::Manifest manifest = State().manifest;
  next_number_ = manifest.next_number;
  auto version = std::make_shared<Version>();
  for (const lsm::TableEntry& table : manifest.tables) {
    version->regions[table.id] = std::make_shared<region::RegionMap>(table.regions);
  }
  // Versions list parts newest first.
  std::stable_sort(manifest.parts.begin(), manifest.parts.end(),
                   [](const auto& a, const auto& b) { return a.last_sequence > b.last_sequence; });
  OpenByNumber opened;
  for (const lsm::PartEntry& entry : manifest.parts) {
    auto& files = opened[entry.number];
    if (files == nullptr) {
      ASSIGN_OR_RETURN(files, Open(entry));
    }
    version->parts[PlaceOf(entry)].push_back(std::make_shared<Part>(entry, files));
  }
  RETURN_IF_ERROR(RemoveUnnamed(manifest));
  MutexLock lock(commit_);
  manifest_.parts = EntriesOf(*version);
  std::shared_ptr<const Version> first = std::move(version);
  Publish(&first);
  return {};
}

Status FileSet::RemoveUnnamed(const lsm::Manifest& manifest) {
  std::set<std::string> named;
  for (const StoredFile& file : FilesOf(manifest.parts)) named.insert(file.name);
  ASSIGN_OR_RETURN(std::vector<std::string> rubbish, PartFilesIn(files_, folder_));
  std::erase_if(rubbish, [&](const std::string& name) { return named.contains(name); });
  ASSIGN_OR_RETURN(const auto logs, LogFilesIn(files_, folder_));
  for (const std::string& name : logs) {
    uint64_t number;
    if (lsm::ParseLogFileName(name, &number) && number < manifest.log_file) rubbish.push_back(name);
  }
  for (const std::string& name : rubbish) RETURN_IF_ERROR(files_.Remove(folder_ + "/" + name));
  return {};
}

// Opens the files of a part with the options of the table's families. One file holds the cells of
// all families.
Result<std::shared_ptr<const PartFiles>> FileSet::Open(const lsm::PartEntry& entry) {
  lsm::BlockReading reading;
  reading.cache = cache_;
  reading.counters = counters_;
  {
    MutexLock lock(commit_);
    const auto table = std::find_if(manifest_.tables.begin(), manifest_.tables.end(),
                                    [&](const auto& one) { return one.id == entry.table; });
    if (table != manifest_.tables.end()) {
      const auto any = [&](bool FamilyDescriptor::*attribute) {
        return std::any_of(
            table->families.begin(), table->families.end(),
            [&](const FamilyDescriptor& f) { return !f.name.empty() && f.*attribute; });
      };
      reading.cache_blocks = any(&FamilyDescriptor::block_cache);
      reading.in_memory = any(&FamilyDescriptor::in_memory);
    }
  }
  return PartFiles::Open(files_, folder_, entry, std::move(reading), memory_bytes_);
}

std::shared_ptr<const Version> FileSet::Pin() const {
  MutexLock lock(version_mutex_);
  return version_;
}

FileSetState FileSet::State() const {
  MutexLock lock(commit_);
  return {manifest_, Pin()};
}

TableList FileSet::Tables() const {
  MutexLock lock(commit_);
  return {manifest_.tables, manifest_.next_table, manifest_.next_region};
}

void FileSet::Publish(std::shared_ptr<const Version>* version) {
  // The caller releases the old version after the lock.
  MutexLock lock(version_mutex_);
  version_.swap(*version);
}

// Applies the edit to the current version and returns the result.
std::shared_ptr<const Version> FileSet::After(const Edit& edit, const OpenByNumber& opened) const {
  auto next = std::make_shared<Version>(*Pin());
  struct Change {
    Parts gone;
    Parts fresh;
  };
  std::map<RegionPlace, Change> changes;
  for (const auto& part : edit.remove) changes[PlaceOf(part->entry())].gone.push_back(part);
  for (const lsm::PartEntry& entry : edit.add) {
    changes[PlaceOf(entry)].fresh.push_back(std::make_shared<Part>(entry, opened.at(entry.number)));
  }
  for (const auto& [place, change] : changes) {
    Parts& parts = next->parts[place];
    const auto goes = [&gone = change.gone](const auto& part) {
      return std::find(gone.begin(), gone.end(), part) != gone.end();
    };
    const auto newest = std::find_if(parts.begin(), parts.end(), goes);
    const auto at = newest == parts.end() ? 0 : newest - parts.begin();
    INVARIANT(std::erase_if(parts, goes) == change.gone.size());
    parts.insert(parts.begin() + at, change.fresh.begin(), change.fresh.end());
    if (parts.empty()) next->parts.erase(place);
  }
  if (edit.tables) {
    next->regions.clear();
    for (const lsm::TableEntry& table : edit.tables->entries) {
      next->regions[table.id] = std::make_shared<region::RegionMap>(table.regions);
    }
  }
  if (edit.flushed) {
    auto& memory = next->memtables;
    INVARIANT(memory.size() > 1 && memory.back()->last_sequence == edit.flushed->sequence);
    memory.pop_back();
  }
  return next;
}

Status FileSet::Apply(const Edit& edit) {
  OpenByNumber opened;
  std::shared_ptr<const Version> version;
  bool saving = false;
  Status status = Survive([&] { return OpenFilesOf(edit, &opened); });
  MutexLock lock(commit_);
  if (status.ok()) {
    status = Survive([&] {
      commit_.AssertHeld();
      return Commit(edit, opened, &version, &saving);
    });
  }
  if (!status.ok() && !(saving && NamedOnDisk(edit.add))) {
    for (const lsm::PartEntry& entry : edit.add) {
      const auto names_it = [&](const auto& part) { return part->entry().number == entry.number; };
      if (std::none_of(edit.remove.begin(), edit.remove.end(), names_it)) RemoveFiles({&entry, 1});
    }
  }
  return status;
}

// Opens the files of the edit's parts, and makes their names in the folders durable.
Status FileSet::OpenFilesOf(const Edit& edit, OpenByNumber* opened) {
  for (const auto& part : edit.remove) {
    opened->emplace(part->entry().number, part->files());
    if (edit.forget_cached) part->files()->ForgetCached();
  }
  for (const lsm::PartEntry& entry : edit.add) {
    auto& files = (*opened)[entry.number];
    if (files != nullptr) continue;
    INVARIANT(entry.first_sequence <= entry.last_sequence);
    INVARIANT(entry.cells_bytes > 0 || entry.points_bytes > 0);
    ASSIGN_OR_RETURN(files, Open(entry));
    if (edit.forget_cached) files->ForgetCached();
  }
  return edit.add.empty() ? Status() : SyncFolders(files_, FoldersOf(folder_, edit.add));
}

// Moves the version that was current until now into `before`.
Status FileSet::Commit(const Edit& edit, const OpenByNumber& opened,
                       std::shared_ptr<const Version>* before, bool* saving) {
  INVARIANT(manifest_.parts == EntriesOf(*Pin()));
  std::shared_ptr<const Version> next = After(edit, opened);
  lsm::Manifest manifest = manifest_;
  manifest.parts = EntriesOf(*next);
  manifest.next_number = next_number_;
  if (edit.tables) {
    INVARIANT(edit.tables->next_table >= manifest.next_table &&
              edit.tables->next_region >= manifest.next_region);
    manifest.tables = edit.tables->entries;
    manifest.next_table = edit.tables->next_table;
    manifest.next_region = edit.tables->next_region;
  }
  if (edit.flushed) {
    INVARIANT(edit.flushed->sequence > manifest.flushed &&
              edit.flushed->log_file >= manifest.log_file &&
              edit.flushed->log_position >= manifest.log_position);
    manifest.flushed = edit.flushed->sequence;
    manifest.log_file = edit.flushed->log_file;
    manifest.log_position = edit.flushed->log_position;
    manifest.stamp_floor_ms = edit.flushed->stamp_floor_ms;
  }
  if (edit.series) {
    INVARIANT(edit.series->end >= manifest.series_end &&
              edit.series->forgotten <= edit.series->end);
    manifest.series_end = edit.series->end;
    manifest.forgotten_series = edit.series->forgotten;
  }
  std::set<uint64_t> named;
  for (const lsm::PartEntry& entry : manifest.parts) named.insert(entry.number);
  INVARIANT(named.empty() || *named.rbegin() < manifest.next_number);
  std::set<std::shared_ptr<const PartFiles>> unnamed;  // a set, because regions may share files
  for (const auto& part : edit.remove) {
    if (!named.contains(part->entry().number)) unnamed.insert(part->files());
  }
  std::list<std::shared_ptr<const void>> retired(unnamed.begin(), unnamed.end());
  if (edit.flushed) retired.push_back(Pin()->memtables.back());
  *saving = true;
  RETURN_IF_ERROR(Save(std::move(manifest)));
  // Nothing can fail from here on.
  for (const auto& files : unnamed) files->Retire();
  *before = std::move(next);
  Publish(before);
  {
    MutexLock lock(retired_mutex_);
    retired_.splice(retired_.end(), retired);
  }
  if (edit.drops_rows) dropped_parts_ += edit.remove.size();
  return {};
}

Status FileSet::Save(lsm::Manifest manifest) {
  std::erase_if(manifest.logs,
                [&](const lsm::LogFile& file) { return file.number < manifest.log_file; });
  RETURN_IF_ERROR(lsm::SaveManifest(files_, folder_, manifest));
  manifest_ = std::move(manifest);
  return {};
}

// Returns whether the manifest on disk names any of the files. Returns true if the manifest cannot
// be read. An older manifest that reappears after a power cut names no files created later.
bool FileSet::NamedOnDisk(const std::vector<lsm::PartEntry>& entries) const {
  lsm::Manifest stored;
  const Status read = Survive([&]() -> Status {
    ASSIGN_OR_RETURN(stored, lsm::LoadManifest(files_, folder_));
    return {};
  });
  return !read.ok() ||
         std::any_of(stored.parts.begin(), stored.parts.end(), [&](const auto& named) {
           return std::any_of(entries.begin(), entries.end(),
                              [&](const auto& entry) { return entry.number == named.number; });
         });
}

bool FileSet::ReleaseUnused() {
  std::list<std::shared_ptr<const void>> unused;  // destroyed after the lock was released
  MutexLock lock(retired_mutex_);
  for (auto it = retired_.begin(); it != retired_.end();) {
    const auto next = std::next(it);
    // Only holders of other references could copy them.
    if (it->use_count() == 1) unused.splice(unused.end(), retired_, it);
    it = next;
  }
  return !retired_.empty();
}

void FileSet::RemoveFiles(std::span<const lsm::PartEntry> entries) const {
  (void)Survive([&] {
    for (const lsm::PartEntry& entry : entries) {
      const std::string folder = lsm::NamespaceFolder(folder_, entry.space);
      for (const auto& path :
           {Part::CellsPath(folder, entry.number), Part::PointsPath(folder, entry.number)}) {
        if (files_.Exists(path)) (void)files_.Remove(path);
      }
    }
  });
}

void FileSet::AddMemory(std::shared_ptr<Memtable> memory,
                        const std::function<void(const std::function<void()>& publish)>& freeze) {
  std::shared_ptr<const Version> version;
  MutexLock lock(commit_);
  auto next = std::make_shared<Version>(*Pin());
  next->memtables.insert(next->memtables.begin(), std::move(memory));
  version = std::move(next);
  freeze([&] {
    commit_.AssertHeld();
    Publish(&version);
  });
}

Status FileSet::SetLogFiles(std::vector<lsm::LogFile> logs) {
  MutexLock lock(commit_);
  if (logs == manifest_.logs) return {};
  RETURN_IF_ERROR(files_.SyncFolder(folder_));
  lsm::Manifest manifest = manifest_;
  manifest.logs = std::move(logs);
  return Save(std::move(manifest));
}

Status FileSet::AddLogFiles(const std::list<lsm::LogFile>& logs) {
  MutexLock lock(commit_);
  lsm::Manifest manifest = manifest_;
  manifest.logs.insert(manifest.logs.end(), logs.begin(), logs.end());
  return Save(std::move(manifest));
}

}  // namespace hg::engine
