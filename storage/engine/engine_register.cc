#include <boost/unordered/unordered_flat_map.hpp>

#include "storage/base/crc32c.h"
#include "storage/codec/row_key.h"
#include "storage/engine/engine.h"

namespace hg::points {
namespace {

// Bounds the time in the write lock, as kRecordPointsMax does for points.
constexpr size_t kSeriesTogetherMax = 512;

}  // namespace

Result<SeriesNumber> Engine::Register(ByteView tsuid) {
  if (const auto number = registry_.Find(tsuid)) return *number;
  SeriesNumber number = 0;
  RETURN_IF_ERROR(RegisterAll({&tsuid, 1}, &number));
  return number;
}

Status Engine::RegisterAll(std::span<const ByteView> tsuids, SeriesNumber* numbers) {
  if (registry_.FindAll(tsuids, numbers)) return {};
  std::vector<ByteView> fresh;                                              // each once
  boost::unordered_flat_map<ByteView, size_t, std::hash<ByteView>> places;  // in fresh
  std::vector<std::pair<size_t, size_t>> wanted;                            // in tsuids, in fresh
  for (size_t i = 0; i < tsuids.size(); ++i) {
    if (numbers[i] != Registry::kUnknown) continue;
    const auto [place, first] = places.try_emplace(tsuids[i], fresh.size());
    if (first) fresh.push_back(tsuids[i]);
    wanted.emplace_back(i, place->second);
  }
  for (const ByteView tsuid : fresh) {
    RETURN_IF_ERROR(codec::CheckTsuid(layout(), tsuid));
    if (observers_.guards_writes()) RETURN_IF_ERROR(observers_.BeforeSeries(tsuid));
  }
  RETURN_IF_ERROR(CheckWritable());
  // New series are refused before points of known ones are, also for the room that names take.
  if (MemoryBytes() + registry_.bytes() > memory_max_ / 10 * 9) {
    AskForFlush();
    return Status::Busy("series and unflushed memory are near their budget of " +
                        std::to_string(memory_max_) + " bytes: no new series for now");
  }
  std::vector<SeriesNumber> given(fresh.size());
  RETURN_IF_ERROR(AddSeries(fresh, given.data()));
  for (const auto& [i, place] : wanted) numbers[i] = given[place];
  return {};
}

// Of different series, which were unknown a moment ago.
Status Engine::AddSeries(std::span<const ByteView> tsuids, SeriesNumber* numbers) {
  struct Record {
    ByteView tsuid;
    size_t end;  // of its body
    uint32_t crc;
  };
  std::lock_guard one_at_a_time(register_);
  if (registry_.FindAll(tsuids, numbers)) return {};
  std::vector<Record> records;
  Bytes bodies;
  SeriesNumber number = registry_.size();
  for (size_t i = 0; i < tsuids.size(); ++i) {
    if (numbers[i] != Registry::kUnknown) continue;
    if (number == UINT32_MAX) return Status::Conflict("all series numbers are given");
    const size_t begin = bodies.size();
    EncodeSeries(number, tsuids[i], &bodies);
    records.push_back({tsuids[i], bodies.size(), crc32c::Value(ByteView(bodies).substr(begin))});
    numbers[i] = number++;
  }
  std::vector<ByteView> logged;
  logged.reserve(records.size());
  // Known to others only once they are logged, so that whoever uses them stands later in the log.
  // What is logged has its number: a want of memory here ends the process, as in ApplyRow.
  const auto add = [&]() noexcept { registry_.AddAll(logged); };
  Status status;
  try {
    size_t begin = 0;
    while (status.ok() && logged.size() < records.size()) {
      const size_t end = std::min(logged.size() + kSeriesTogetherMax, records.size());
      std::lock_guard lock(write_);
      status = CheckOpen();
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

}  // namespace hg::points
