// The work of the memstore at a start: it reads the series from their files and replays the log.

#include <algorithm>
#include <future>

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
  RETURN_IF_ERROR(LoadSeries(*file_set_.Pin()));
  auto memory = std::make_shared<Memtable>(env_.clock.NowMs());
  memory->after_sequence = stored.flushed;
  memory->series_begin = registry_.size();
  {
    MutexLock lock(write_);
    sequence_ = stored.flushed;
    stamp_floor_ms_ = stored.stamp_floor_ms;
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
  // After a killed process, their names may not be durable in the folder yet.
  RETURN_IF_ERROR(file_set_.SetLogFiles(std::move(recovery.files)));
  lsm::LogOptions log_options = LogOptionsOf(env_.options);
  log_options.name_files = [this](const std::list<lsm::LogFile>& files) {
    return file_set_.AddLogFiles(files);
  };
  log_ = std::make_unique<lsm::Log>(env_.files, std::move(log_options), std::move(recovery.next));
  return {};
}

namespace {

// Reads series in the order of their numbers. Another thread adds those read earlier to the
// registry.
class SeriesIntake {
 public:
  explicit SeriesIntake(Registry* registry) : registry_(*registry), next_(registry->size()) {}

  /// Number of the next series.
  [[nodiscard]] uint32_t next() const { return next_; }
  /// Row key of the next series.
  [[nodiscard]] Bytes key() const {
    Bytes key;
    AppendBig(&key, next_, 4);
    return key;
  }
  void Add(ByteView tsuid) {
    constexpr size_t kTogether = 8192;
    read_.Add(tsuid);
    ++next_;
    if (read_.size() == kTogether) HandOver();
  }
  void Finish() {
    HandOver();
    adding_.get();
  }

 private:
  void HandOver() {
    if (adding_.valid()) adding_.get();
    adding_ = std::async(std::launch::async,
                         [this, read = std::move(read_)] { registry_.AddAll(read.views()); });
    read_.Clear();
  }

  Registry& registry_;
  uint32_t next_;
  TsuidList read_;
  std::future<void> adding_;
};

// Reads series from the next number on, as long as each row is a single put.
Status ReadPlainSeries(const KeyLayout& layout, const std::shared_ptr<const lsm::BlockFile>& file,
                       SeriesIntake* intake) {
  lsm::BlockFileScan rows(file, intake->key(), "", lsm::CacheUse::kPast);
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more || rows.key().size() != 4 || ReadBig32(rows.key().data()) != intake->next()) {
      return {};
    }
    const auto tsuid = lsm::OnlyValueOf(rows.value());
    if (!tsuid || !codec::CheckTsuid(layout, *tsuid).ok()) return {};
    intake->Add(*tsuid);
  }
}

}  // namespace

Status Memstore::LoadSeries(const Version& version) {
  SeriesIntake intake(&registry_);
  const Parts& parts = version.PartsOf(kSeriesTable, 0);
  uint64_t rows_max = 0;
  for (const auto& part : parts)
    rows_max += part->cells() != nullptr ? part->cells()->entries() : 0;
  registry_.Reserve(rows_max);
  // Oldest first, each part usually continues where the previous one ends. All other cases are
  // handled below.
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if ((*part)->cells() == nullptr) continue;
    RETURN_IF_ERROR(ReadPlainSeries(layout(), (*part)->cells(), &intake));
  }
  std::vector<std::unique_ptr<lsm::RowSource>> sources;
  for (const auto& part : parts) {
    if (part->cells() == nullptr) continue;
    sources.push_back(lsm::ScanRows(part->cells(), intake.key(), "", lsm::CacheUse::kPast));
  }
  lsm::MergedRows rows(lsm::CellOrder::kByArrival, std::move(sources));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) break;
    ASSIGN_OR_RETURN(const lsm::CellRow row, rows.TakeRow());
    if (rows.key() != intake.key() || row.cells.size() != 1 ||
        !codec::CheckTsuid(layout(), row.cells[0].value).ok()) {
      return Status::Corruption(env_.options.path + ": series " + std::to_string(intake.next()) +
                                " is missing in the files of the series table");
    }
    intake.Add(row.cells[0].value);
  }
  intake.Finish();
  return {};
}

void Memstore::AddMet(TsuidList* met) {
  registry_.AddAll(met->views());
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

// Validates the record completely and adds its series. Items handed to the pipe only need to be
// applied.
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
        if (entry.series >= known) {
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
      Bytes tsuid;
      uint32_t base;
      size_t shard = 0;  // shard of all rows that are not hours of a series
      if (table->points_family >= 0 && IsRegularKey(layout(), row.key, &tsuid, &base)) {
        const auto series = registry_.Find(tsuid);
        if (!series) return Status::Corruption("a row of an unknown series");
        shard = RowMemory::ShardOf(*series);
      }
      stamp_floor_ms_ = std::max(stamp_floor_ms_, row.stamp_ms);
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
