// The work of the memstore at a start: it reads the series from their files and replays the log.

#include <algorithm>
#include <future>

#include "storage/base/survive.h"
#include "storage/codec/row_key.h"
#include "storage/engine/memstore.h"
#include "storage/engine/replay_pipe.h"
#include "storage/lsm/cell_file.h"

namespace hg::engine {
namespace {

lsm::LogOptions LogOptionsOf(const EmbeddedOptions& options) {
  lsm::LogOptions log;
  log.folder = options.path;
  log.file_bytes = options.log_file_bytes;
  log.write_on_commit = options.durability != Durability::kBuffered;
  log.sync_on_commit = options.durability == Durability::kSynced;
  log.sync_interval_ms = options.sync_interval_ms;
  log.retry_ms = std::min(log.retry_ms, options.sync_interval_ms);
  return log;
}

}  // namespace

Status Memstore::Load(const lsm::Manifest& stored) {
  RETURN_IF_ERROR(LoadSeries(*file_set_.Pin(), stored));
  auto memory = std::make_shared<Memtable>(env_.clock.NowMs());
  memory->after_sequence = stored.flushed;
  memory->series_begin = registry_.size();
  {
    MutexLock lock(write_);
    sequence_ = stored.flushed;
    stamp_floors_ms_.assign(kStampSlots, stored.stamp_floor_ms);
    active_ = memory.get();
  }
  file_set_.AddMemory(std::move(memory), [](const auto& publish) { publish(); });
  return {};
}

Status Memstore::Replay(const lsm::Manifest& stored) {
  // No lock is needed: no other thread uses the store yet, and each thread of the pipe has its own
  // series. Holding write_ would break the lock order, because the FileSet's commit lock is taken
  // meanwhile.
  write_.AssertHeld();
  ReplayPipe pipe(RowMemory::kShards, [this](const ReplayItem& item) {
    write_.AssertHeld();
    if (item.table != nullptr) return ApplyRow(*item.table, item.row, item.sequence);
    ApplyPoints(item.points, item.sequence);
  });
  TsuidList met;
  ASSIGN_OR_RETURN(auto recovery, lsm::RecoverLog(
                                      env_.files, env_.options.path, stored.log_file,
                                      stored.log_position, stored.flushed,
                                      [&](const lsm::LogRecord& record) {
                                        write_.AssertHeld();
                                        return ReplayRecord(record, &pipe, &met);
                                      },
                                      lsm::AtBreak::kCut, stored.logs));
  AddMet(&met);
  pipe.Finish();
  sequence_ = std::max(sequence_, recovery.last_sequence);
  replayed_ = recovery.records;
  log_released_ = stored.log_position;
  active_bytes_ = active_->bytes();
  // The replayed log is treated as durable from now on, so its files must exist at the next start.
  // If the previous process was killed, the names of the files may not be durable in the folder
  // yet.
  RETURN_IF_ERROR(file_set_.SetLogFiles(std::move(recovery.files)));
  lsm::LogOptions log_options = LogOptionsOf(env_.options);
  log_options.name_files = [this](const std::list<lsm::LogFile>& files) {
    return file_set_.AddLogFiles(files);
  };
  log_ = std::make_unique<lsm::Log>(env_.files, std::move(log_options), std::move(recovery.next));
  return {};
}

namespace {

// Takes series in the order of their numbers, and adds them to the registry in batches. Another
// thread adds a batch while the next one is read.
class SeriesIntake {
 public:
  /// `forgotten_max` is the number of series that may be missing. `after_batch` is called by the
  /// thread that adds the series.
  SeriesIntake(Registry* registry, uint32_t forgotten_max, std::function<Status()> after_batch)
      : registry_(*registry),
        next_(registry->size()),
        forgotten_left_(forgotten_max),
        after_batch_(std::move(after_batch)) {}

  /// Number of the next series.
  [[nodiscard]] uint32_t next() const { return next_; }
  /// Row key of the next series.
  [[nodiscard]] Bytes key() const {
    Bytes key;
    AppendBig(&key, next_, 4);
    return key;
  }
  /// Adds the series with the number `number`. The numbers from next() to `number` - 1 are
  /// forgotten. Returns false if this is not possible.
  bool Add(uint32_t number, ByteView tsuid) {
    if (!SkipTo(number)) return false;
    AddNext(tsuid);
    return true;
  }
  bool SkipTo(uint32_t number) {
    if (number < next_ || number - next_ > forgotten_left_) return false;
    const uint32_t gap = number - next_;
    forgotten_left_ -= gap;
    if (gap < kTogether) {
      while (next_ < number) AddNext({});
      return true;
    }
    HandOver();
    Wait();
    registry_.Skip(gap);
    next_ = number;
    return true;
  }
  /// Returns the first error of `after_batch`.
  Status Finish() {
    HandOver();
    Wait();
    return status_;
  }
  /// Number of forgotten series whose numbers were not skipped yet.
  [[nodiscard]] uint32_t forgotten_left() const { return forgotten_left_; }

 private:
  static constexpr size_t kTogether = 8192;

  void AddNext(ByteView tsuid) {
    read_.Add(tsuid);
    ++next_;
    if (read_.size() == kTogether) HandOver();
  }
  void HandOver() {
    Wait();
    adding_ = std::async(std::launch::async, [this, read = std::move(read_)] {
      registry_.LoadAll(read.views());
      return after_batch_();
    });
    read_.Clear();
  }
  void Wait() {
    if (!adding_.valid()) return;
    const Status added = adding_.get();
    if (status_.ok()) status_ = added;
  }

  Registry& registry_;
  uint32_t next_;
  uint32_t forgotten_left_;
  const std::function<Status()> after_batch_;
  Status status_;
  TsuidList read_;
  std::future<Status> adding_;
};

// Reads the series of a file from the next number on, as long as each row is a single put. Assumes
// that no other file has numbers between those of this file. Returns whether all series of the file
// were read.
Result<bool> ReadPlainSeries(const KeyLayout& layout,
                             const std::shared_ptr<const lsm::BlockFile>& file,
                             SeriesIntake* intake) {
  lsm::BlockFileScan rows(file, intake->key(), "", lsm::CacheUse::kPast);
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return true;
    if (rows.key().size() != 4) return false;
    const auto tsuid = lsm::OnlyValueOf(rows.value());
    if (!tsuid || !codec::CheckTsuid(layout, *tsuid).ok()) return false;
    if (!intake->Add(ReadBig32(rows.key().data()), *tsuid)) return false;
  }
}

}  // namespace

Status Memstore::LoadSeries(const Version& version, const lsm::Manifest& stored) {
  bool may_map = true;  // until files cannot be written
  SeriesIntake intake(&registry_, stored.forgotten_series,
                      [this, &may_map] { return MapLoaded(MappedSeries::kSeriesMax, &may_map); });
  Parts parts;
  uint64_t rows_max = 0;
  for (const auto& part : version.PartsOf(kSeriesTable, 0)) {
    if (part->cells() == nullptr || part->cells()->blocks() == 0) continue;
    parts.push_back(part);
    rows_max += part->cells()->entries();
  }
  registry_.Reserve(std::min<uint64_t>(rows_max, MappedSeries::kSeriesMax));
  // Each part has the numbers of one or more memtables, and usually only plain rows. All other
  // cases are handled below.
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return a->cells()->separator(0) < b->cells()->separator(0);
  });
  for (const auto& part : parts) {
    ASSIGN_OR_RETURN(const bool all, ReadPlainSeries(layout(), part->cells(), &intake));
    if (!all) break;
  }
  std::vector<std::unique_ptr<lsm::RowSource>> sources;
  for (const auto& part : parts) {
    sources.push_back(lsm::ScanRows(part->cells(), intake.key(), "", lsm::CacheUse::kPast));
  }
  lsm::MergedRows rows(lsm::CellOrder::kByArrival, std::move(sources));
  const auto missing = [&] {
    return Status::Corruption(env_.options.path + ": series " + std::to_string(intake.next()) +
                              " is missing in the files of the series table");
  };
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) break;
    ASSIGN_OR_RETURN(const lsm::CellRow row, rows.TakeRow());
    if (rows.key().size() != 4 || row.cells.size() != 1 ||
        !codec::CheckTsuid(layout(), row.cells[0].value).ok() ||
        !intake.Add(ReadBig32(rows.key().data()), row.cells[0].value)) {
      return missing();
    }
  }
  if (intake.next() < stored.series_end && !intake.SkipTo(stored.series_end)) return missing();
  if (intake.forgotten_left() > 0) return missing();
  RETURN_IF_ERROR(intake.Finish());
  return MapLoaded(Registry::kMappedTogether, &may_map);
}

// If the files cannot be written, for example because the disk is full, the series stay in memory,
// and the first sweep tries again. It reports the error, unless temporary files are not supported.
Status Memstore::MapLoaded(uint32_t series, bool* may_map) {
  constexpr size_t kMuch = size_t{64} << 20;
  const uint32_t in_memory = registry_.size() - registry_.mapped_end();
  const bool many =
      in_memory >= series || (in_memory >= Registry::kMappedTogether && registry_.bytes() > kMuch);
  if (!*may_map || !many) return {};
  NumberSet forgotten = *registry_.Forgotten();
  MappedRanges mapped;
  const Status status = Survive([&]() -> Status {
    ASSIGN_OR_RETURN(mapped, registry_.MapSeries(env_.files, env_.options.path, registry_.size(),
                                                 forgotten, [this] { return env_.CheckOpen(); }));
    return {};
  });
  RETURN_IF_ERROR(env_.CheckOpen());
  if (!status.ok()) *may_map = false;
  if (!status.ok() || mapped.end == registry_.mapped_end()) return {};
  auto lookups = registry_.NewLookups(forgotten, std::move(mapped));
  registry_.AddTo(0, registry_.size(), forgotten, lookups.get());
  registry_.Forget(std::move(lookups), std::move(forgotten));
  return {};
}

// A series has two numbers if it was forgotten and registered again, and the process crashed before
// the list of series was written without the first number.
Status Memstore::ForgetDuplicates() {
  if (!registry_.has_duplicates()) return {};
  const Swept none{{}, registry_.mapped()};
  (void)BeginSweep();
  EndSweep(&none);
  if (!registry_.has_duplicates()) return {};
  return Status::Exhausted("no memory for the index of the series");
}

void Memstore::AddMet(TsuidList* met) {
  if (met->size() == 0) return;
  registry_.LoadAll(met->views());
  met->Clear();
}

namespace {

// Distributes the points decoded into the next item of shard 0 to the shards of their series.
void AddToShards(uint64_t sequence, ReplayPipe* pipe) {
  std::vector<PointEntry>& points = pipe->Next(0).points;
  const auto shard_of = [](const PointEntry& entry) { return RowMemory::ShardOf(entry.series); };
  const auto add = [&](size_t shard) {
    ReplayItem& item = pipe->Next(shard);
    item.sequence = sequence;
    item.table = nullptr;
    if (!item.points.empty()) pipe->Add(shard);
  };
  if (points.empty()) return;
  const size_t first = shard_of(points.front());
  if (std::all_of(points.begin(), points.end(),
                  [&](const auto& e) { return shard_of(e) == first; })) {
    if (first != 0) points.swap(pipe->Next(first).points);
    return add(first);
  }
  for (size_t shard = 1; shard < RowMemory::kShards; ++shard) {
    std::vector<PointEntry>& own = pipe->Next(shard).points;
    own.clear();
    for (const PointEntry& entry : points) {
      if (shard_of(entry) == shard) own.push_back(entry);
    }
    add(shard);
  }
  std::erase_if(points, [&](const PointEntry& entry) { return shard_of(entry) != 0; });
  add(0);
}

}  // namespace

// Validates the record completely, and adds the series that it registers. The items that it hands
// to the pipe need no further checks.
Status Memstore::ReplayRecord(const lsm::LogRecord& record, ReplayPipe* pipe, TsuidList* met) {
  sequence_ = record.sequence;
  constexpr size_t kTogether = 1024;
  if (static_cast<LogKind>(record.kind) != LogKind::kSeries || met->size() == kTogether) {
    AddMet(met);
  }
  switch (static_cast<LogKind>(record.kind)) {
    case LogKind::kPoints: {
      ReplayItem& item = pipe->Next(0);
      if (!DecodePoints(record.body, &item.points))
        return Status::Corruption("points cannot be read");
      if (tables_.points() == nullptr) return Status::Corruption("points without a points table");
      const uint32_t known = registry_.size();
      for (const PointEntry& entry : item.points) {
        if (entry.series >= known || registry_.IsForgotten(entry.series)) {
          return Status::Corruption("points of unknown series " + std::to_string(entry.series));
        }
      }
      AddToShards(record.sequence, pipe);
      return {};
    }
    case LogKind::kSeries: {
      uint32_t number;
      ByteView tsuid;
      if (!DecodeSeries(record.body, &number, &tsuid) || number != registry_.size() + met->size() ||
          !codec::CheckTsuid(layout(), tsuid).ok()) {
        return Status::Corruption("a new series cannot be read or is out of order");
      }
      met->Add(tsuid);
      return {};
    }
    case LogKind::kRow: {
      RowRecord& row = pipe->Next(0).row;
      if (!DecodeRowRecord(record.body, &row)) return Status::Corruption("a row cannot be read");
      const Table* table = tables_.ById(row.table);
      if (table == nullptr) {
        // A row of a dropped table is ignored: its id was assigned, but the table is gone.
        if (row.table >= kFirstTable && row.table < file_set_.Tables().next_table) {
          return {};
        }
        return Status::Corruption("a row of an unknown table");
      }
      for (const StampedChange& change : row.changes) {
        if (change.family >= table->families.size()) {
          return Status::Corruption("a row with an unknown family");
        }
      }
      int64_t& floor_ms = stamp_floors_ms_[StampSlot(row.key)];
      floor_ms = std::max(floor_ms, row.stamp_ms);
      // A record without changes leaves nothing in a memtable, so its series may have been
      // forgotten.
      if (row.changes.empty()) return {};
      Bytes tsuid;
      uint32_t base;
      size_t shard = 0;  // shard of all rows that are not hours of a series
      if (table->points_family >= 0 && IsRegularKey(layout(), row.key, &tsuid, &base)) {
        const auto series = registry_.Find(tsuid);
        if (!series) return Status::Corruption("a row of an unknown series");
        shard = RowMemory::ShardOf(*series);
      }
      ReplayItem& item = pipe->Next(shard);
      item.sequence = record.sequence;
      item.table = table;
      if (shard != 0) std::swap(item.row, row);
      pipe->Add(shard);
      return {};
    }
  }
  return Status::Corruption("a record of unknown kind " + std::to_string(record.kind));
}

}  // namespace hg::engine
