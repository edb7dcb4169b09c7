#pragma once
// The bodies of Prometheus' remote read. This file decodes the queries of a request, and encodes
// the samples of a response.

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

/// The maximum size of a decompressed request in bytes. The limit is low because parsing may need
/// fifty times as much memory as the body.
inline constexpr size_t kReadRequestBytesMax = 1 << 20;
/// The maximum number of queries in a request. Prometheus sends one query for each selector.
inline constexpr int kReadQueriesMax = 1000;
/// Maximum number of matchers in all queries of a request together.
inline constexpr int kReadMatchersMax = 1000;

/// The formats of the response to a remote read request.
enum class ReadResponseType : unsigned char { kSamples, kStreamedChunks };

struct RemoteQuery {
  query::promql::Matchers matchers;
  /// Time range; both ends are inclusive, and any numbers are possible.
  int64_t start_ms = 0, end_ms = 0;
  /// The name of the function that the client will apply to the samples; "" if the request contains
  /// no name.
  std::string function;
};

struct RemoteRequest {
  std::vector<RemoteQuery> queries;
  /// The first response type of the request that the server supports.
  ReadResponseType response = ReadResponseType::kSamples;
};

/// Parses the queries of a ReadRequest. The memory of the message is charged to `memory`. The
/// regular expressions are charged to the context until the request ends.
///
/// InvalidArgument: the bytes are invalid, a matcher has an unknown type or an invalid regular
/// expression, there are too many queries or matchers, or the server supports none of the response
/// types that the client accepts. Also fails if the context reports an error.
Result<RemoteRequest> ReadReadRequest(std::string_view bytes, RequestMemory::Share* memory,
                                      RequestContext& context = RequestContext::Unlimited());

/// A ReadResponse that is being created. Between BeginResult and EndResult, the object receives the
/// samples of one query. Only one thread at a time may use it.
class ReadResponseBody : public query::promql::SampleSink {
 public:
  /// The object charges its memory to `watch`, which must outlive the object.
  explicit ReadResponseBody(RequestContext* watch) : memory_(watch) {}

  /// Begins the result of a query. `rolled` selects the value to return for intervals that have
  /// only rollups.
  void BeginResult(query::promql::RolledValue rolled = query::promql::RolledValue::kMean) {
    series_.clear();
    rolled_value_ = rolled;
  }
  [[nodiscard]] query::promql::RolledValue rolled_value() const override { return rolled_value_; }
  Status AddSeries(query::promql::Labels labels) override;
  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override;
  /// Ends the result of the current query. Series without samples are left out. Fails if the
  /// RequestContext reports an error.
  Status EndResult();

  /// Returns all results as one snappy block. Call this function only once. LimitExceeded: the
  /// results are too long for one block. Also fails if the RequestContext reports an error.
  Result<std::string> Pack();

 private:
  struct Encoded {
    std::string bytes;  // the series as encoded TimeSeries message
    bool any = false;   // whether the series has samples
  };

  MemoryTally memory_;
  query::promql::RolledValue rolled_value_ = query::promql::RolledValue::kMean;
  std::vector<Encoded> series_;  // encoded series of the current query
  std::string response_;         // encoded results of all queries before the current one
};

}  // namespace hg::http
