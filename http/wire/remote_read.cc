#include "http/wire/remote_read.h"

#include <google/protobuf/wire_format_lite.h>
#include <prometheus.pb.h>

#include <algorithm>
#include <utility>

#include "http/wire/protobuf_message.h"
#include "http/wire/snappy_block.h"
#include "query/promql/parser.h"
#include "storage/base/varint.h"

namespace hg::http {
namespace {

using google::protobuf::internal::WireFormatLite;

/// Maximum bytes of an encoded sample: two tags with lengths, a double, a varint.
constexpr int64_t kSampleBytesMax = 22;

Result<query::promql::MatchKind> KindOf(prometheus::LabelMatcher::Type type) {
  switch (type) {
    case prometheus::LabelMatcher::EQUAL:
      return query::promql::MatchKind::kEqual;
    case prometheus::LabelMatcher::NOT_EQUAL:
      return query::promql::MatchKind::kNotEqual;
    case prometheus::LabelMatcher::MATCHES:
      return query::promql::MatchKind::kMatches;
    case prometheus::LabelMatcher::MATCHES_NOT:
      return query::promql::MatchKind::kMatchesNot;
    default:
      return Status::InvalidArgument("There is no matcher of type " + std::to_string(type));
  }
}

Result<RemoteQuery> QueryOf(const prometheus::Query& asked, RequestContext& context) {
  RemoteQuery out;
  out.start_ms = asked.start_timestamp_ms();
  out.end_ms = asked.end_timestamp_ms();
  out.function = asked.hints().func();
  for (const prometheus::LabelMatcher& matcher : asked.matchers()) {
    ASSIGN_OR_RETURN(const query::promql::MatchKind kind, KindOf(matcher.type()));
    ASSIGN_OR_RETURN(query::promql::Matcher made,
                     query::promql::Matcher::Make(matcher.name(), kind, matcher.value(), context));
    out.matchers.push_back(std::move(made));
  }
  return out;
}

/// Returns the first accepted type that Hourglass supports. If the request lists no types, the
/// client accepts samples.
Result<ReadResponseType> ResponseTypeOf(const prometheus::ReadRequest& request) {
  if (request.accepted_response_types().empty()) return ReadResponseType::kSamples;
  for (const int type : request.accepted_response_types()) {
    if (type == prometheus::ReadRequest::SAMPLES) return ReadResponseType::kSamples;
    if (type == prometheus::ReadRequest::STREAMED_XOR_CHUNKS)
      return ReadResponseType::kStreamedChunks;
  }
  return Status::InvalidArgument(
      "None of the accepted_response_types is known (SAMPLES and STREAMED_XOR_CHUNKS are)");
}

/// Checks the limits before any work, because each query reads data and each regular expression
/// must be compiled.
Status CheckNumbers(const prometheus::ReadRequest& request) {
  if (request.queries_size() > kReadQueriesMax) {
    return Status::InvalidArgument("The request has " + std::to_string(request.queries_size()) +
                                   " queries, at most " + std::to_string(kReadQueriesMax));
  }
  int matchers = 0;
  ptrdiff_t patterns = 0;
  for (const prometheus::Query& asked : request.queries()) {
    matchers += asked.matchers_size();
    patterns += std::count_if(asked.matchers().begin(), asked.matchers().end(), [](const auto& m) {
      return m.type() == prometheus::LabelMatcher::MATCHES ||
             m.type() == prometheus::LabelMatcher::MATCHES_NOT;
    });
  }
  if (matchers > kReadMatchersMax) {
    return Status::InvalidArgument("The queries have " + std::to_string(matchers) +
                                   " matchers, at most " + std::to_string(kReadMatchersMax));
  }
  if (patterns > query::promql::kPatternsMax) {
    return Status::InvalidArgument("The queries have " + std::to_string(patterns) +
                                   " regular expressions, at most " +
                                   std::to_string(query::promql::kPatternsMax));
  }
  return {};
}

/// Appends the tag and length of an embedded message of `size` bytes.
void AppendEmbedded(int field, size_t size, std::string* out) {
  AppendVarint(out, WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
  AppendVarint(out, size);
}

}  // namespace

Result<RemoteRequest> ReadReadRequest(std::string_view bytes, RequestMemory::Share* memory,
                                      RequestContext& context) {
  RequestMemory::Room room(memory);
  prometheus::ReadRequest request;
  if (!ParseMessage(bytes, &request, 0, &room)) {
    return Status::InvalidArgument("The body is not a protobuf message prometheus.ReadRequest");
  }
  RemoteRequest out;
  ASSIGN_OR_RETURN(out.response, ResponseTypeOf(request));
  RETURN_IF_ERROR(CheckNumbers(request));
  for (const prometheus::Query& asked : request.queries()) {
    ASSIGN_OR_RETURN(RemoteQuery query, QueryOf(asked, context));
    out.queries.push_back(std::move(query));
  }
  return out;
}

Status ReadResponseBody::AddSeries(query::promql::Labels labels) {
  prometheus::TimeSeries message;
  for (const auto& [name, value] : labels.pairs()) {
    prometheus::Label* label = message.add_labels();
    label->set_name(name);
    label->set_value(value);
  }
  Encoded& series = series_.emplace_back();
  series.bytes = message.SerializeAsString();
  RETURN_IF_ERROR(memory_.Step(labels.steps()));
  return memory_.Add(static_cast<int64_t>(2 * (sizeof(Encoded) + series.bytes.size())));
}

Status ReadResponseBody::AddSamples(size_t series, std::span<const int64_t> times_ms,
                                    std::span<const double> values) {
  Encoded& to = series_[series];
  // Twice the size is charged, because a string doubles its capacity when it grows.
  RETURN_IF_ERROR(memory_.Add(2 * kSampleBytesMax * static_cast<int64_t>(times_ms.size())));
  RETURN_IF_ERROR(memory_.Step(4 * times_ms.size()));
  prometheus::Sample sample;
  for (size_t i = 0; i < times_ms.size(); ++i) {
    sample.set_timestamp(times_ms[i]);
    sample.set_value(values[i]);
    AppendEmbedded(prometheus::TimeSeries::kSamplesFieldNumber, sample.ByteSizeLong(), &to.bytes);
    sample.AppendToString(&to.bytes);
  }
  to.any |= !times_ms.empty();
  return {};
}

Status ReadResponseBody::EndResult() {
  std::erase_if(series_, [](const Encoded& series) { return !series.any; });
  size_t size = 0;
  std::string head;
  for (const Encoded& series : series_) {
    head.clear();
    AppendEmbedded(prometheus::QueryResult::kTimeseriesFieldNumber, series.bytes.size(), &head);
    size += head.size() + series.bytes.size();
  }
  RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(size)));
  AppendEmbedded(prometheus::ReadResponse::kResultsFieldNumber, size, &response_);
  response_.reserve(response_.size() + size);
  for (Encoded& series : series_) {
    AppendEmbedded(prometheus::QueryResult::kTimeseriesFieldNumber, series.bytes.size(),
                   &response_);
    response_.append(series.bytes);
    std::string().swap(series.bytes);
  }
  return {};
}

Result<std::string> ReadResponseBody::Pack() {
  if (response_.size() > UINT32_MAX) {
    return Status::LimitExceeded(
        "The response is longer than the maximum of a snappy block, 4 GiB");
  }
  RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(PackedSnappyBytesMax(response_.size()))));
  return PackSnappy(response_);
}

}  // namespace hg::http
