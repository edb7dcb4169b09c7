#pragma once
// The bodies of Prometheus' remote read. This file decodes the queries of a request and encodes the
// samples of a response.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/wire/request_memory.h"
#include "query/promql/matcher.h"
#include "query/promql/sample_reader.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::http {

/// Maximum size of a decompressed request in bytes. The limit is low because parsing may need fifty
/// times as much memory as the body.
inline constexpr size_t kReadRequestBytesMax = 1 << 20;
/// Maximum number of queries in a request. Prometheus sends one query per selector.
inline constexpr int kReadQueriesMax = 1000;
/// Maximum number of matchers in all queries of a request together.
inline constexpr int kReadMatchersMax = 1000;

/// The formats of a remote read response.
enum class ReadResponseType : unsigned char { kSamples, kStreamedChunks };

struct RemoteQuery {
  query::promql::Matchers matchers;
  int64_t start_ms = 0, end_ms = 0;  // both ends are inclusive; any numbers are possible
  /// The function that the client will apply to the samples; "" if the request has none.
  std::string function;
};

struct RemoteRequest {
  std::vector<RemoteQuery> queries;
  ReadResponseType response = ReadResponseType::kSamples;  // the first type that is known
};

/// Parses the queries of a ReadRequest. InvalidArgument: the bytes are invalid, a matcher has an
/// unknown type or an invalid regular expression, there are too many queries or matchers, or the
/// client accepts no known type of response. The regular expressions are charged to the context
/// until the request ends. The memory of the message is charged to `memory`. Also fails with errors
/// of the context.
Result<RemoteRequest> ReadReadRequest(std::string_view bytes, RequestMemory::Share* memory,
                                      RequestContext& context = RequestContext::Unlimited());

/// A ReadResponse that is being created. Between BeginResult and EndResult it gets the samples of
/// one query. Use on one thread at a time.
class ReadResponseBody : public query::promql::SampleSink {
 public:
  /// Charges its memory to `watch`, which must outlive the object.
  explicit ReadResponseBody(RequestContext* watch) : memory_(watch) {}

  /// Begins the result of a query. `rolled`: which value to return for intervals that have only
  /// rollups.
  void BeginResult(query::promql::RolledValue rolled = query::promql::RolledValue::kMean) {
    series_.clear();
    rolled_value_ = rolled;
  }
  [[nodiscard]] query::promql::RolledValue rolled_value() const override { return rolled_value_; }
  Status AddSeries(query::promql::Labels labels) override;
  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override;
  /// Ends the result of the query. Leaves out series without samples. Fails with errors of the
  /// RequestContext.
  Status EndResult();

  /// Returns all results as a snappy block. Call this function once. LimitExceeded: the results are
  /// too long for one block. Also fails with errors of the RequestContext.
  Result<std::string> Pack();

 private:
  struct Encoded {
    std::string bytes;  // encoded as a TimeSeries
    bool any = false;   // whether the series has samples
  };

  MemoryTally memory_;
  query::promql::RolledValue rolled_value_ = query::promql::RolledValue::kMean;
  std::vector<Encoded> series_;  // series of the current query
  std::string response_;         // encoded results of the queries before the current one
};

}  // namespace hg::http
