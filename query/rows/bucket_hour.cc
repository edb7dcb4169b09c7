#include "query/rows/bucket_hour.h"

#include <algorithm>

#include "storage/model/key_layout.h"

namespace hg::query {
namespace {

constexpr uint32_t kRowSpanMs = kRowSpan * 1000;

template <typename T>
int64_t BytesOf(const std::vector<T>& v) {
  return static_cast<int64_t>(v.capacity() * sizeof(T));
}

}  // namespace

int64_t MemoryBytes(const codec::Annotation& annotation) {
  constexpr size_t kNodeBytes = 48;  // a map entry without its strings
  size_t bytes = sizeof(annotation) + annotation.tsuid.size() + annotation.description.size() +
                 annotation.notes.size();
  if (annotation.custom) {
    for (const auto& [name, value] : *annotation.custom)
      bytes += kNodeBytes + 2 * sizeof(std::string) + name.size() + value.size();
  }
  return static_cast<int64_t>(bytes);
}

void BucketHour::Add(const SeriesHour& series, const PointColumns& columns, size_t begin,
                     size_t end) {
  Part part;
  AppendBig(&orders_, series.order.size(), 4);  // with the sizes, equal bytes mean equal orders
  part.order_begin = static_cast<uint32_t>(orders_.size());
  part.order_size = static_cast<uint32_t>(series.order.size());
  orders_.append(series.order);
  part.points = series.points;
  part.first_ms = series.first_ms;
  part.last_ms = series.last_ms;
  points_ += series.points;
  part.buckets = static_cast<uint32_t>(end - begin);
  part.bits_begin = static_cast<uint32_t>(bits_.size());
  bits_.insert(bits_.end(), columns.bits.begin() + static_cast<ptrdiff_t>(begin),
               columns.bits.begin() + static_cast<ptrdiff_t>(end));
  const int64_t base_ms = int64_t{base_} * 1000;
  const auto same_time = [base_ms](uint32_t mine, int64_t time_ms) {
    return base_ms + mine == time_ms;
  };
  if (!parts_.empty() && parts_.back().buckets == part.buckets &&
      std::equal(times_.begin() + parts_.back().times_begin,
                 times_.begin() + parts_.back().times_begin + part.buckets,
                 columns.time_ms.begin() + static_cast<ptrdiff_t>(begin), same_time)) {
    part.times_begin = parts_.back().times_begin;
  } else {
    part.times_begin = static_cast<uint32_t>(times_.size());
    for (size_t i = begin; i < end; ++i)
      times_.push_back(static_cast<uint32_t>(columns.time_ms[i] - base_ms));
  }
  part.notes_begin = static_cast<uint32_t>(annotations_.size());
  part.notes = static_cast<uint32_t>(series.annotations.size());
  annotations_.insert(annotations_.end(), series.annotations.begin(), series.annotations.end());
  parts_.push_back(part);
}

void BucketHour::ShrinkToFit() {
  orders_.shrink_to_fit();
  parts_.shrink_to_fit();
  times_.shrink_to_fit();
  bits_.shrink_to_fit();
  annotations_.shrink_to_fit();
}

SeriesHour BucketHour::at(size_t i) const {
  const Part& part = parts_[i];
  SeriesHour out;
  out.order = ByteView(orders_).substr(part.order_begin, part.order_size);
  out.points = part.points;
  out.first_ms = part.first_ms;
  out.last_ms = part.last_ms;
  out.bucket_ms = std::span(times_).subspan(part.times_begin, part.buckets);
  out.bits = std::span(bits_).subspan(part.bits_begin, part.buckets);
  out.annotations = std::span(annotations_).subspan(part.notes_begin, part.notes);
  return out;
}

int64_t BucketHour::bytes() const {
  int64_t bytes = static_cast<int64_t>(sizeof(*this) + orders_.capacity()) + BytesOf(parts_) +
                  BytesOf(times_) + BytesOf(bits_) + BytesOf(annotations_);
  for (const codec::Annotation& a : annotations_) bytes += MemoryBytes(a);
  return bytes;
}

// RowRecord gives up if a cell's qualifier contains a time after the cell's hour, because this time
// would create a bucket of the next hour.
bool RowRecord::Wants(const RowHour& row) {
  if (gave_up_ || row.base >= end_) return false;
  gave_up_ =
      rows_.size() == rows_max_ || (!row.offset_ms.empty() && row.offset_ms.back() >= kRowSpanMs);
  if (gave_up_) std::vector<Row>().swap(rows_);
  return !gave_up_;
}

void RowRecord::Renumber(std::span<const uint32_t> places) {
  for (Row& row : rows_) row.series = places[row.series];
}

}  // namespace hg::query
