#pragma once
// Prometheus' remote read as a stream: the response consists of frames with chunks of samples.

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

/// If the chunks of a series have more bytes than this, the series is divided into several frames,
/// as in Prometheus. Clients join the frames of a series by their labels.
inline constexpr size_t kFrameChunkBytesMax = 1 << 20;

/// Receives the samples of one query and encodes them at once. Use on one thread at a time.
class ChunkedReadResult : public query::promql::SampleSink {
 public:
  /// Charges its memory to `watch`, which must outlive the object. `query` is the index of the
  /// query in the request. `rolled` is as in ReadResponseBody.
  ChunkedReadResult(RequestContext* watch, size_t query, query::promql::RolledValue rolled)
      : memory_(watch), query_(query), rolled_value_(rolled) {}

  [[nodiscard]] query::promql::RolledValue rolled_value() const override { return rolled_value_; }
  Status AddSeries(query::promql::Labels labels) override;
  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override;
  /// Encodes the last chunks and sorts the series by their labels. Leaves out series without
  /// samples. Fails with errors of the RequestContext.
  Status Finish();

  /// Passes all frames to `write` in order. Frees each series before it continues with the next
  /// one. If `write` returns false, stops and returns false.
  bool Write(const std::function<bool(std::string_view)>& write);

 private:
  struct Series {
    query::promql::Labels labels;
    std::string chunks;        // encoded Chunk messages with their tags
    std::vector<size_t> ends;  // the end of each message in `chunks`
    XorChunk open;
  };

  Status EndChunk(Series* series);

  MemoryTally memory_;
  const size_t query_;
  const query::promql::RolledValue rolled_value_;
  std::vector<Series> series_;
};

}  // namespace hg::http
