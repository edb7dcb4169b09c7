#pragma once
// The bodies of Prometheus' remote read, unpacked and packed: queries in, the samples of their
// series out.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "query/promql/matcher.h"
#include "query/promql/sample_reader.h"
#include "storage/base/status.h"
#include "storage/base/work_watch.h"

namespace hg::http {

/// Of a request, unpacked: taken apart, two bytes may become a hundred.
inline constexpr size_t kReadRequestBytesMax = 1 << 20;
/// Of a request: Prometheus sends one for each selector.
inline constexpr int kReadQueriesMax = 1000;
/// Of all queries of a request together.
inline constexpr int kReadMatchersMax = 1000;

struct RemoteQuery {
  query::promql::Matchers matchers;
  int64_t start_ms = 0, end_ms = 0;  // both inclusive; any numbers
  std::string function;              // that is to be applied to the samples, if it was told
};

/// The queries of a ReadRequest. InvalidArgument: the bytes are none, a matcher is of no known kind
/// or no regular expression, there are too many of either or of queries, or no answer of samples is
/// accepted.
Result<std::vector<RemoteQuery>> ReadReadRequest(std::string_view bytes);

/// A ReadResponse while it is made: between BeginResult and EndResult it takes the samples of one
/// query. One thread.
class ReadResponseBody : public query::promql::SampleSink {
 public:
  /// What it holds is charged to the watch, which outlives it.
  explicit ReadResponseBody(WorkWatch* watch) : memory_(watch) {}

  /// `rolled`: what is wanted of intervals of which rollups alone are left.
  void BeginResult(query::promql::RolledValue rolled = query::promql::RolledValue::kMean) {
    series_.clear();
    rolled_value_ = rolled;
  }
  [[nodiscard]] query::promql::RolledValue rolled_value() const override { return rolled_value_; }
  Status AddSeries(query::promql::Labels labels) override;
  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override;
  /// Series without samples are left out. Not ok: as the watch says.
  Status EndResult();

  /// All results as a block of snappy, once. LimitExceeded: too long for one; or as the watch says.
  Result<std::string> Pack();

 private:
  struct Encoded {
    std::string bytes;  // as a TimeSeries
    bool any = false;   // it has samples
  };

  MemoryTally memory_;
  query::promql::RolledValue rolled_value_ = query::promql::RolledValue::kMean;
  std::vector<Encoded> series_;  // of the query
  std::string response_;         // the results that have ended
};

}  // namespace hg::http
