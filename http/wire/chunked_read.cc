#include "http/wire/chunked_read.h"

#include <google/protobuf/wire_format_lite.h>
#include <prometheus.pb.h>

#include <utility>

#include "storage/base/checked_sort.h"
#include "storage/base/crc32c.h"
#include "storage/base/varint.h"

namespace hg::http {
namespace {

using google::protobuf::internal::WireFormatLite;

void AppendField(int field, std::string_view bytes, std::string* out) {
  AppendVarint(out, WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
  AppendVarint(out, bytes.size());
  out->append(bytes);
}

/// Returns the frame of a message: its size, its checksum, and its bytes.
std::string Frame(std::string_view message) {
  std::string frame;
  AppendVarint(&frame, message.size());
  const uint32_t checksum = crc32c::Value(message);
  for (int shift = 24; shift >= 0; shift -= 8)
    frame.push_back(static_cast<char>(checksum >> shift & 0xFF));
  frame.append(message);
  return frame;
}

}  // namespace

Status ChunkedReadResult::AddSeries(query::promql::Labels labels) {
  RETURN_IF_ERROR(memory_.Step(labels.steps()));
  RETURN_IF_ERROR(
      memory_.Add(static_cast<int64_t>(2 * sizeof(Series)) + static_cast<int64_t>(labels.bytes())));
  series_.emplace_back().labels = std::move(labels);
  return {};
}

Status ChunkedReadResult::AddSamples(size_t series, std::span<const int64_t> times_ms,
                                     std::span<const double> values) {
  constexpr uint64_t kStepsPerSample = 4;
  Series& to = series_[series];
  RETURN_IF_ERROR(memory_.Step(kStepsPerSample * times_ms.size()));
  for (size_t i = 0; i < times_ms.size(); ++i) {
    if (to.open.size() == kChunkSamplesMax) RETURN_IF_ERROR(EndChunk(&to));
    const size_t before = to.open.bytes().capacity();
    to.open.Add(times_ms[i], values[i]);
    const size_t grown = to.open.bytes().capacity() - before;
    if (grown > 0) RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(grown)));
  }
  return {};
}

Status ChunkedReadResult::EndChunk(Series* series) {
  if (series->open.size() == 0) return {};
  prometheus::Chunk chunk;
  chunk.set_min_time_ms(series->open.first_ms());
  chunk.set_max_time_ms(series->open.last_ms());
  chunk.set_type(prometheus::Chunk::XOR);
  chunk.set_data(series->open.bytes());
  memory_.Remove(static_cast<int64_t>(series->open.bytes().capacity()));
  series->open = {};
  const size_t before = series->chunks.capacity();
  AppendField(prometheus::ChunkedSeries::kChunksFieldNumber, chunk.SerializeAsString(),
              &series->chunks);
  series->ends.push_back(series->chunks.size());
  constexpr size_t kBytesPerEnd = 2 * sizeof(size_t);
  return memory_.Add(static_cast<int64_t>(series->chunks.capacity() - before + kBytesPerEnd));
}

Status ChunkedReadResult::Finish() {
  size_t kept = 0;
  for (Series& series : series_) {
    RETURN_IF_ERROR(memory_.Step(1));
    RETURN_IF_ERROR(EndChunk(&series));
    if (series.ends.empty()) continue;
    if (&series_[kept] != &series) series_[kept] = std::move(series);
    ++kept;
  }
  series_.erase(series_.begin() + static_cast<std::ptrdiff_t>(kept), series_.end());
  return CheckedSort(
      &series_, [](const Series& a, const Series& b) { return a.labels < b.labels; }, &memory_);
}

bool ChunkedReadResult::Write(const std::function<bool(std::string_view)>& write) {
  for (Series& series : series_) {
    std::string labels;
    for (const auto& [name, value] : series.labels.pairs()) {
      prometheus::Label label;
      label.set_name(name);
      label.set_value(value);
      AppendField(prometheus::ChunkedSeries::kLabelsFieldNumber, label.SerializeAsString(),
                  &labels);
    }
    size_t begin = 0;
    for (size_t i = 0; i < series.ends.size(); ++i) {
      const bool last = i + 1 == series.ends.size();
      if (!last && series.ends[i + 1] - begin <= kFrameChunkBytesMax) continue;
      const size_t end = series.ends[i];
      std::string message;
      AppendField(prometheus::ChunkedReadResponse::kChunkedSeriesFieldNumber,
                  labels + series.chunks.substr(begin, end - begin), &message);
      if (query_ > 0) {
        AppendVarint(&message, WireFormatLite::MakeTag(
                                   prometheus::ChunkedReadResponse::kQueryIndexFieldNumber,
                                   WireFormatLite::WIRETYPE_VARINT));
        AppendVarint(&message, query_);
      }
      if (!write(Frame(message))) return false;
      begin = end;
    }
    std::string().swap(series.chunks);
  }
  return true;
}

}  // namespace hg::http
