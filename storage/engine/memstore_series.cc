#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <utility>

#include "storage/base/crc32c.h"
#include "storage/base/invariant.h"
#include "storage/base/keyed_hash.h"
#include "storage/base/survive.h"
#include "storage/codec/row_key.h"
#include "storage/engine/memstore.h"
#include "storage/lsm/cell_file.h"
#include "storage/points/render.h"

namespace hg::engine {
namespace {

// Maximum number of series that are logged while the write lock is held once. kRecordPointsMax is
// the same limit for points.
constexpr size_t kSeriesTogetherMax = 512;

// A sweep indexes new series without a lock until a round finds at most this many. It indexes the
// rest under the lock.
constexpr uint32_t kIndexedInLockMax = 1024;
// Number of series that are indexed before the next check whether the store is being closed.
constexpr uint32_t kIndexedTogether = 65536;

// Percentages of the memory budget. New names are refused first, then new series with known names.
// Points of known series are refused last, based on unflushed memory alone.
constexpr uint64_t kNamesMemoryPercent = 85;
constexpr uint64_t kSeriesMemoryPercent = 90;
// A longer key takes a sixteenth of a piece of a wide row in the index of a file. The filter of a
// file takes up to about the same part.
constexpr size_t kLongKeyBytes = lsm::kPieceBytes / 16;

}  // namespace

Result<SeriesNumber> Memstore::Register(ByteView tsuid) {
  if (const auto number = registry_.Find(tsuid)) return *number;
  SeriesNumber number = 0;
  RETURN_IF_ERROR(RegisterAll({&tsuid, 1}, &number));
  return number;
}

Status Memstore::MayAddSeries(uint64_t name_bytes) {
  RETURN_IF_ERROR(CheckWritable());
  return CheckSeriesMemory(name_bytes, kNamesMemoryPercent);
}

bool Memstore::FlushAdmitsSeries(uint64_t more, uint64_t percent) const {
  return ResidentBytes() + more + UrgentFlushBytes() <= env_.memory_max / 100 * percent;
}

bool Memstore::SeriesFull() const { return !FlushAdmitsSeries(0, kNamesMemoryPercent); }

bool Memstore::SeriesRefusedNow() const { return !MemoryAdmits(0, kNamesMemoryPercent); }

std::string Memstore::Megabytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MB"; }

Status Memstore::CheckSeriesMemory(uint64_t more, uint64_t percent) {
  if (MemoryAdmits(more, percent)) return {};
  refused_series_.fetch_add(1, std::memory_order_relaxed);
  return RefuseForMemory("new series and names", "use fewer different names", more, percent);
}

bool Memstore::RefusesRow(ByteView key, const std::vector<CellChange>& changes) const {
  if (key.size() <= kLongKeyBytes) [[likely]]
    return false;
  const bool puts = std::any_of(changes.begin(), changes.end(), [](const CellChange& change) {
    return change.kind == CellChange::Kind::kPut;
  });
  return !MemoryAdmits(0, puts ? kSeriesMemoryPercent : 100);
}

Status Memstore::RefusedRow() {
  return RefuseForMemory("rows with long keys", "drop tables that have many such rows", 0,
                         kSeriesMemoryPercent);
}

// The error is always Exhausted, never Busy. After Busy, clients would also hold back points of
// known series, which the store still accepts.
Status Memstore::RefuseForMemory(const char* what, const char* advice, uint64_t more,
                                 uint64_t percent) {
  std::string why = std::string(what) + " are refused: unflushed data (" +
                    Megabytes(MemoryBytes()) + "), series (" + Megabytes(registry_.bytes()) +
                    "), names (" + Megabytes(NameBytes()) + ") and indexes of files (" +
                    Megabytes(file_set_.MemoryBytes()) + ") are near their budget of " +
                    std::to_string(env_.memory_max) + " bytes";
  if (FlushAdmitsSeries(more, percent)) {
    AskForFlush(FlushRequest::kForSeries);
    why += " until a flush has ended";
  } else {
    why += std::string("; ") + advice + ", or raise tsd.memory.limit";
  }
  const Status refusal = Status::Exhausted(std::move(why));
  env_.observers.AfterMemoryRefusal(refusal);
  return refusal;
}

Status Memstore::RegisterAll(std::span<const ByteView> tsuids, SeriesNumber* numbers) {
  if (registry_.FindAll(tsuids, numbers)) return {};
  std::vector<ByteView> fresh;  // unknown TSUIDs, each once
  boost::unordered_flat_map<ByteView, size_t, keyed_hash::Hash> places;  // index in `fresh`
  std::vector<std::pair<size_t, size_t>> wanted;  // index in `tsuids`, index in `fresh`
  for (size_t i = 0; i < tsuids.size(); ++i) {
    if (numbers[i] != Registry::kUnknown) continue;
    const auto [place, first] = places.try_emplace(tsuids[i], fresh.size());
    if (first) fresh.push_back(tsuids[i]);
    wanted.emplace_back(i, place->second);
  }
  for (const ByteView tsuid : fresh) {
    RETURN_IF_ERROR(codec::CheckTsuid(layout(), tsuid));
    if (env_.observers.guards_writes()) RETURN_IF_ERROR(env_.observers.BeforeSeries(tsuid));
  }
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckSeriesMemory(0, kSeriesMemoryPercent));
  std::vector<SeriesNumber> given(fresh.size());
  RETURN_IF_ERROR(AddSeries(fresh, given.data()));
  for (const auto& [i, place] : wanted) numbers[i] = given[place];
  return {};
}

// `tsuids` are distinct, and were unknown before the lock was taken.
Status Memstore::AddSeries(std::span<const ByteView> tsuids, SeriesNumber* numbers) {
  struct Record {
    ByteView tsuid;
    size_t end;  // end of its body in `bodies`
    uint32_t crc;
  };
  MutexLock one_at_a_time(register_);
  if (registry_.FindAll(tsuids, numbers)) return {};
  std::vector<Record> records;
  Bytes bodies;
  const SeriesNumber first = registry_.size();
  SeriesNumber number = first;
  for (size_t i = 0; i < tsuids.size(); ++i) {
    if (numbers[i] != Registry::kUnknown) continue;
    if (number == UINT32_MAX) return Status::Conflict("all series numbers are used");
    const size_t begin = bodies.size();
    EncodeSeries(number, tsuids[i], &bodies);
    records.push_back({tsuids[i], bodies.size(), crc32c::Value(ByteView(bodies).substr(begin))});
    numbers[i] = number++;
  }
  std::vector<ByteView> logged;
  logged.reserve(records.size());
  // Other threads see the series only after they are logged, so records that use them come later in
  // the log. A logged series must keep its number, so running out of memory here terminates the
  // process, as in ApplyRow.
  const auto add = [&]() noexcept {
    registry_.AddAll(logged);
    INVARIANT(registry_.size() == first + logged.size());  // the numbers are those in the log
  };
  Status status;
  try {
    size_t begin = 0;
    while (status.ok() && logged.size() < records.size()) {
      const size_t end = std::min(logged.size() + kSeriesTogetherMax, records.size());
      MutexLock lock(write_);
      status = env_.CheckOpen();
      while (status.ok() && logged.size() < end) {
        const Record& record = records[logged.size()];
        log_->Add(static_cast<uint8_t>(LogKind::kSeries), ++sequence_,
                  ByteView(bodies).substr(begin, record.end - begin), record.crc);
        begin = record.end;
        logged.push_back(record.tsuid);
      }
    }
  } catch (...) {
    add();
    throw;
  }
  add();
  return status;
}

uint32_t Memstore::BeginSweep() {
  const uint32_t count = registry_.size();
  NumberSet changed(count);
  MutexLock lock(write_);
  INVARIANT(!sweeping_);
  changed_ = std::move(changed);
  sweeping_ = true;
  return count;
}

void Memstore::EndSweep(const Swept* swept) {
  NumberSet freed;
  std::unique_ptr<Registry::Lookups> lookups;
  const Status status = Survive([&]() -> Status {
    if (swept == nullptr) return {};
    NumberSet forgotten = *registry_.Forgotten();
    forgotten.AddAll(swept->absent);
    lookups = registry_.NewLookups(forgotten, swept->mapped);
    uint32_t indexed = 0;
    const auto catch_up = [&] {
      const uint32_t end = indexed + std::min(registry_.size() - indexed, kIndexedTogether);
      registry_.AddTo(indexed, end, forgotten, lookups.get());
      return end - std::exchange(indexed, end);
    };
    indexed = swept->mapped.end;
    // This loop indexes series faster than other threads register new ones, so few series remain to
    // be indexed under the lock.
    while (catch_up() > kIndexedInLockMax) RETURN_IF_ERROR(env_.CheckOpen());
    MutexLock no_new_series(register_);
    while (indexed < registry_.size()) catch_up();
    MutexLock lock(write_);
    // Series that an earlier sweep forgot cannot have changed.
    forgotten.RemoveAll(changed_, [&](uint32_t number) {
      if (number >= swept->mapped.end)
        registry_.AddTo(number, number + 1, NumberSet(), lookups.get());
    });
    lookups = registry_.Forget(std::move(lookups), std::move(forgotten));
    return {};
  });
  // If there is no memory for a new index, this sweep forgets no series. The next sweep tries
  // again.
  (void)status;
  MutexLock lock(write_);
  sweeping_ = false;
  std::swap(changed_, freed);
}

Status Memstore::CheckNumbers(std::span<const PointEntry> entries) const {
  for (const PointEntry& entry : entries) {
    if (registry_.IsForgotten(entry.series)) [[unlikely]] {
      return Status::NotFound("the series with the number " + std::to_string(entry.series) +
                              " was forgotten, and must be registered again");
    }
  }
  return {};
}

// Rollups and pre-aggregates are in other tables, whose row keys also contain TSUIDs. A change of
// such a row also marks its series as changed.
void Memstore::NoteRow(const Table& table, ByteView key) {
  if (table.FamilyIndex(points::kFamily) < 0) return;
  const auto tsuid = codec::TsuidOf(layout(), key);
  if (!tsuid.ok()) return;
  if (const auto number = registry_.Find(*tsuid)) changed_.Add(*number);
}

}  // namespace hg::engine
