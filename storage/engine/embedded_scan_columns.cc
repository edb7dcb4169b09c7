// Reads rows that contain only points, one at each instant. The rows are returned as columns or as
// statistics, without conversion to a RowPart.
#include <algorithm>
#include <array>
#include <utility>

#include "storage/engine/embedded_scan.h"
#include "storage/engine/row_file.h"
#include "storage/points/row_layout.h"
#include "storage/points/row_statistics.h"

namespace hg::engine {

// Reads a row that contains only points, one at each instant, as most rows do. Each source is
// decoded after the older ones. Returns false for any other row.
Result<bool> EmbeddedScan::ReadColumns(uint32_t base, points::RowForm* form) {
  constexpr size_t kColumnBytes = 16;  // of a point, with the room of a list that grows
  columns_.Clear();
  const auto [first_file, end_file] = RowsOf(file_rows_, base, &file_at_);
  for (auto it = end_file; it != first_file;) {
    --it;
    auto summary = points::ReadRowSummary(it->encoded);
    if (!summary.ok()) return Prepend(summary.status(), "row " + ToHexUpper(key_));
    const points::RowTraits& traits = summary->traits;
    if (traits.dups || traits.has_raw) return false;
    RETURN_IF_ERROR(ExpectEntries(summary->count, kColumnBytes));
    if (Status status = points::AppendColumns(it->encoded, &columns_); !status.ok()) {
      return Prepend(status, "row " + ToHexUpper(key_));
    }
    *form = points::JoinForms(*form, traits.form);
  }
  const auto [first, end] = RowsOf(memory_rows_, base, &memory_at_);
  if (first != end)
    PrefetchPast(
        static_cast<size_t>(memory_rows_.data() - ahead_.data() + (end - memory_rows_.begin())));
  for (auto it = end; it != first;) {
    --it;
    RETURN_IF_ERROR(ExpectEntries(it->row->entries(), 2 * sizeof(points::PartPoint)));
    points::RowForm memory_form;
    if (!it->row->AppendTo(&columns_, &memory_form)) return false;
    // A writer that changes both points and cells of a row sets kRaw first. The flag is checked
    // after the points were read, so it is set if the points include such a change.
    if ((it->row->flags() & RowHourMemory::kRaw) != 0) return false;
    *form = points::JoinForms(*form, memory_form);
  }
  return columns_.size() > 0 && columns_.SortByTime();
}

// Prefetches the next rows together. The batch is so small that its rows stay in the processor's
// cache until they are read.
void EmbeddedScan::PrefetchPast(size_t row) {
  constexpr size_t kRows = 24;
  if (row <= prefetched_) return;
  std::array<const RowHourMemory*, kRows> rows;
  size_t count = 0;
  prefetched_ = std::max(prefetched_, row - 1);
  for (; prefetched_ < ahead_.size() && count < rows.size(); ++prefetched_) {
    rows[count++] = ahead_[prefetched_].row;
  }
  RowHourMemory::Prefetch({rows.data(), count});
}

// Statistics of a row that is in exactly one file can be read without decoding its points.
Result<bool> EmbeddedScan::GiveStatistics(uint32_t base, RowHour* row) {
  const auto [file, end_file] = RowsOf(file_rows_, base, &file_at_);
  if (end_file - file != 1) return false;
  if (const auto [first, end] = RowsOf(memory_rows_, base, &memory_at_); first != end) return false;
  if (!points::ReadSettledStatistics(file->encoded, &statistics_)) {
    const Status status = points::ReadRowStatistics(file->encoded).status();
    if (!status.ok()) return Prepend(status, "row " + ToHexUpper(key_));
    return false;
  }
  unloaded_ = file->encoded;
  *row = {};
  row->key = key_;
  row->tsuid = tsuid_;
  row->base = base;
  row->statistics = &statistics_;
  row->all_double = statistics_.all_double;
  const auto form = static_cast<points::RowForm>(ByteAt(unloaded_, 0) & points::kRowFormMask);
  row->stored_cells = points::WantsOne(form, base, render_options_) ? 1 : statistics_.count;
  return true;
}

// Ignores damaged rows: Next reports them.
std::span<const HourStatistics> EmbeddedScan::StatisticsAhead() {
  constexpr size_t kHoursAhead = 64;
  if (!in_files_alone_) return {};
  if (next_base_ < hours_begin_ || next_base_ >= hours_begin_ + hours_.size()) {
    hours_begin_ = next_base_;
    hours_.resize(std::min(kHoursAhead, file_rows_.size() - next_base_));
    size_t count = 0;
    for (; count < hours_.size(); ++count) {
      const FileRow& row = file_rows_[next_base_ + count];
      hours_[count].base = row.base;
      if (int64_t{row.base} * 1000 < oldest_ms_ ||
          !points::ReadSettledStatistics(row.encoded, &hours_[count].statistics))
        break;
    }
    hours_.resize(count);
  }
  return std::span(hours_).subspan(next_base_ - hours_begin_);
}

Status EmbeddedScan::Load(RowHour* row) {
  if (row->statistics == nullptr) return {};
  columns_.Clear();
  if (Status status = points::AppendColumns(unloaded_, &columns_); !status.ok())
    return Prepend(status, "row " + ToHexUpper(key_));
  row->statistics = nullptr;
  row->offset_ms = columns_.offset_ms;
  row->value = columns_.value;
  row->all_double = columns_.all_double;
  return {};
}

// A scan can be repeated only if it has no cells and no irregular rows. The scan hands those
// over to the caller and keeps no copy, so it cannot return them a second time.
bool EmbeddedScan::RepeatsSeries() const { return cells_.empty() && irregular_.empty(); }

void EmbeddedScan::RepeatSeries() {
  next_base_ = 0;
  file_at_ = memory_at_ = 0;
}

uint32_t EmbeddedScan::StepMs() const { return points::GridStepMs(unloaded_); }

Result<bool> EmbeddedScan::GiveColumns(uint32_t series, uint32_t base, RowHour* row) {
  if (int64_t{base} * 1000 < oldest_ms_) return false;  // some of its points may have expired
  if (!cells_.empty() && cells_.count({series, base}) != 0) return false;
  if (spec_.statistics) {
    ASSIGN_OR_RETURN(const bool given, GiveStatistics(base, row));
    if (given) return true;
  }
  points::RowForm form = points::RowForm::kNone;
  ASSIGN_OR_RETURN(const bool read, ReadColumns(base, &form));
  if (!read) return false;
  *row = {};
  row->key = key_;
  row->tsuid = tsuid_;
  row->base = base;
  row->offset_ms = columns_.offset_ms;
  row->value = columns_.value;
  row->is_double = columns_.is_double;
  row->all_double = columns_.all_double;
  row->stored_cells =
      points::WantsOne(form, base, render_options_) ? 1 : static_cast<uint32_t>(columns_.size());
  return true;
}

}  // namespace hg::engine
