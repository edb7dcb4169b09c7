#pragma once
// The streamed response of Prometheus' remote read. It consists of frames that contain chunks of
// samples.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/wire/xor_chunk.h"
#include "query/promql/sample_reader.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::http {

inline constexpr std::string_view kChunkedReadType =
    "application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse";

/// The maximum size in bytes of the chunks in one frame, as in Prometheus. If the chunks of a
/// series are larger, they are divided into several frames. Each of these frames has the labels of
/// the series, by which clients join the frames.
inline constexpr size_t kFrameChunkBytesMax = 1 << 20;

/// Receives the samples of one query. It encodes each sample as soon as it receives the sample.
/// Only one thread at a time may use the object.
class ChunkedReadResult : public query::promql::SampleSink {
 public:
  /// The object charges its memory to `watch`, which must outlive the object. `query` is the index
  /// of the query in the request. `rolled` selects the value to return for intervals that have only
  /// rollups.
  ChunkedReadResult(RequestContext* watch, size_t query, query::promql::RolledValue rolled)
      : memory_(watch), query_(query), rolled_value_(rolled) {}

  [[nodiscard]] query::promql::RolledValue rolled_value() const override { return rolled_value_; }
  Status AddSeries(query::promql::Labels labels) override;
  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override;
  /// Encodes the last chunks, and sorts the series by their labels. Series without samples are left
  /// out. Fails if the RequestContext reports an error.
  Status Finish();

  /// Passes all frames to `write`, in order. The memory of a series is freed before the next series
  /// is written. If `write` returns false, the function stops and returns false. Call this function
  /// only once, after Finish.
  bool Write(const std::function<bool(std::string_view)>& write);

 private:
  struct Series {
    query::promql::Labels labels;
    std::string chunks;        // encoded Chunk messages, each with its protobuf tag
    std::vector<size_t> ends;  // the end position of each message in `chunks`
    XorChunk open;             // the chunk to which the next sample is added
  };

  Status EndChunk(Series* series);

  MemoryTally memory_;
  const size_t query_;
  const query::promql::RolledValue rolled_value_;
  std::vector<Series> series_;
};

}  // namespace hg::http
