#include "http/telnet/aggregate_lines.h"

#include <algorithm>
#include <optional>

#include "http/request/services.h"
#include "http/telnet/tag_words.h"
#include "http/wire/histogram_text.h"
#include "storage/model/aggregate_sink.h"
#include "storage/model/letter_case.h"
#include "storage/model/name_text.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

std::string IllegalArgument(std::string_view text) {
  return "illegal argument: " + std::string(text);
}

std::string TooFew(int wanted, size_t words) {
  return IllegalArgument("not enough arguments (need least " + std::to_string(wanted) + ", got " +
                         std::to_string(words - 1) + ")");
}

/// The fields that both commands share.
struct Head {
  std::string_view metric;
  Timestamp time;
};

/// Reads the fields. Returns "" on success, else the error message to send after the command.
std::string ReadHead(std::string_view metric, std::string_view time, LineTexts* texts, Head* head) {
  head->metric = texts->Text(metric);
  if (head->metric.empty()) return IllegalArgument("empty metric name");
  NumberError error;
  if (!ParseTelnetTime(time, &head->time.raw, &error))
    return "invalid value: " + FromLatin1(error.message);
  if (head->time.raw <= 0)
    return IllegalArgument("invalid timestamp: " + std::to_string(head->time.raw));
  return {};
}

/// Returns the bytes to store. Returns nullopt if the line must be ignored, without a reply.
std::optional<Result<Bytes>> EncodeValue(std::optional<int32_t> id, std::string_view value,
                                         uint8_t codec_id) {
  codec::SimpleHistogram histogram;
  histogram.codec_id = codec_id;
  if (!id) {
    if (!ParseBucketWords(value, &histogram)) return std::nullopt;
    return codec::EncodeSimpleHistogram(std::move(histogram));
  }
  if (*id != codec_id) {
    return Result<Bytes>(
        Status::InvalidArgument("No codec found mapped to ID " + std::to_string(*id)));
  }
  Result<codec::SimpleHistogram> decoded = DecodeHistogramText(value, codec_id);
  if (!decoded.ok()) return Result<Bytes>(decoded.status());
  return codec::EncodeSimpleHistogram(std::move(*decoded));
}

/// Returns the message to send after "histogram: ", or "" if there is none. If the line was passed
/// to the store, *result is the store's result.
std::string PutHistogram(const std::vector<std::string_view>& words, Services& services,
                         WriteContext& context, std::optional<Status>* result) {
  if (services.histograms == nullptr) return IllegalArgument(kHistogramsOff);
  if (words.size() < 5) return TooFew(5, words.size());
  LineTexts texts;
  Head head;
  if (std::string fault = ReadHead(words[1], words[2], &texts, &head); !fault.empty()) return fault;
  // A word that is not a 32-bit integer is the value.
  const std::optional<int32_t> id = ParseInt32(words[3]);
  const size_t value = id ? 4 : 3;
  if (words[value].empty()) return IllegalArgument("empty histogram value");
  std::vector<TagText> tags;
  if (std::string fault = texts.ParseTags(words, value + 1, &tags); !fault.empty()) return fault;
  const std::optional<Result<Bytes>> encoded =
      EncodeValue(id, words[value], *services.options.histogram_codec_id);
  if (!encoded) return {};
  Status stored = encoded->status();
  if (stored.ok()) stored = services.histograms->AskFor({&head.metric, 1}, 1, context);
  if (stored.ok())
    stored = services.histograms->Put({head.metric, tags, head.time, **encoded}, context);
  *result = stored;
  return stored.ok() ? "" : "HBase error: " + std::string(stored.message());
}

/// Reads "<interval>-<aggregator>[:<group by>]" or "<group by>". Text before a colon is used only
/// if it contains a dash.
void ReadSource(std::string_view text, NamedRollup* rollup) {
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos)
    rollup->group_by = text.substr(colon + 1, text.find(':', colon + 1) - colon - 1);
  const std::string_view source = text.substr(0, colon);
  const size_t dash = source.find('-');
  if (dash != std::string_view::npos) {
    rollup->interval = source.substr(0, dash);
    rollup->aggregator = source.substr(dash + 1);
  } else if (colon == std::string_view::npos) {
    rollup->group_by = source;
  }
}

/// Returns the message to send after "rollup: ", or "" if there is none. If the line was passed to
/// the store, *result is the store's result.
std::string PutRollup(const std::vector<std::string_view>& words, Services& services,
                      WriteContext& context, std::optional<Status>* result) {
  if (words.size() < 6) return TooFew(7, words.size());
  LineTexts texts;
  NamedRollup rollup;
  if (words[1].empty()) return IllegalArgument("Missing interval or aggregator");
  ReadSource(texts.Text(words[1]), &rollup);
  Head head;
  if (std::string fault = ReadHead(words[2], words[3], &texts, &head); !fault.empty()) return fault;
  rollup.metric = head.metric;
  rollup.time = head.time;
  if (words[4].empty()) return IllegalArgument("empty value");
  std::vector<TagText> tags;
  if (std::string fault = texts.ParseTags(words, 5, &tags); !fault.empty()) return fault;
  std::string aggregate = AggregateTagValue(*services.rollups, rollup.group_by, rollup.time);
  if (!aggregate.empty()) {
    const std::string_view key = services.rollups->aggregate_key();
    const auto given =
        std::find_if(tags.begin(), tags.end(), [&](const TagText& tag) { return tag.key == key; });
    if (given == tags.end()) {
      tags.push_back({key, texts.Keep(std::move(aggregate)), false});
      OrderTags(&tags);
    } else if (UpperCase(given->value) == UpperCase(aggregate)) {
      given->value = texts.Keep(std::move(aggregate));
    }
  }
  rollup.tags = tags;
  NumberError error;
  if (!ParseValue(words[4], EntryPath::kTelnet, &rollup.value, &error)) {
    if (error.fault != NumberFault::kNotFinite)
      return "invalid value: " + FromLatin1(error.message);
    return IllegalArgument("value is NaN or Infinite: " + error.message +
                           " for metric=" + std::string(rollup.metric) +
                           " timestamp=" + std::to_string(rollup.time.raw));
  }
  Status stored = services.rollups->AskFor({&rollup.metric, 1}, 1, context);
  if (stored.ok()) stored = services.rollups->Put(rollup, context);
  *result = stored;
  const std::string message(stored.message());
  switch (stored.code()) {
    case StatusCode::kOk:
      return {};
    case StatusCode::kInvalidArgument:
    case StatusCode::kConflict:
      return IllegalArgument(message);
    case StatusCode::kNotFound:
      return "unknown metric: " + message;
    case StatusCode::kUnsupported:
      return "No such rollup: " + message;
    default:
      return "HBase error: " + message;
  }
}

}  // namespace

AggregateReply RunHistogramLine(const std::vector<std::string_view>& words, Services& services,
                                WriteContext& context) {
  AggregateReply reply;
  reply.text = PutHistogram(words, services, context, &reply.stored);
  return reply;
}

AggregateReply RunRollupLine(const std::vector<std::string_view>& words, Services& services,
                             WriteContext& context) {
  AggregateReply reply;
  reply.text = PutRollup(words, services, context, &reply.stored);
  return reply;
}

}  // namespace hg::http
