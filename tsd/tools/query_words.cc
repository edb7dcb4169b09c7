#include "tsd/tools/query_words.h"

#include <algorithm>
#include <charconv>

#include "query/buckets/aggregator.h"
#include "query/time/time_text.h"

namespace hg::tsd {
namespace {

std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Returns whether the word after the start is the end: it contains the punctuation of a date or
/// time, or is a number above 0.
bool LooksLikeTime(const std::string& word) {
  if (word.starts_with('+')) return false;
  if (word.find_first_of(":/-") != std::string::npos) return true;
  return ParseNumber(word).value_or(0) > 0;
}

/// Converts a time as described for WordQueries. For example, a time in the year 2500 becomes a
/// time in 1970. InvalidArgument: the time would change, and `changes_rows` is true.
Result<int64_t> AsScanned(int64_t seconds, const std::string& word, bool changes_rows) {
  if (seconds <= 0xFFFFFFFF) return seconds;
  if (changes_rows) {
    return Status::InvalidArgument(
        "the time " + word +
        " is after 2106-02-07 06:28:15 UTC, the last time that a command "
        "accepts if it changes rows");
  }
  return seconds / 1000;
}

/// Iterates over the words. Missing words are an InvalidArgument.
class WordReader {
 public:
  explicit WordReader(const std::vector<std::string>& words) : words_(words) {}

  [[nodiscard]] bool AtEnd() const { return next_ == words_.size(); }
  [[nodiscard]] bool NextIs(std::string_view word) const {
    return !AtEnd() && words_[next_] == word;
  }
  /// AtEnd() must be false.
  [[nodiscard]] const std::string& Peek() const { return words_[next_]; }
  Result<std::string> Take(std::string_view what) {
    if (AtEnd())
      return Status::InvalidArgument("the words end where " + std::string(what) + " should be");
    return words_[next_++];
  }
  void Skip() { ++next_; }

 private:
  const std::vector<std::string>& words_;
  size_t next_ = 0;
};

Result<std::string> TakeAggregator(WordReader* words) {
  ASSIGN_OR_RETURN(std::string name, words->Take("an aggregator"));
  if (query::FindAggregator(name) == nullptr)
    return Status::InvalidArgument("no such aggregator: " + name);
  return name;
}

Result<int64_t> RateNumber(std::string_view text, int64_t absent) {
  if (text.empty()) return absent;
  if (auto number = ParseNumber(text)) return *number;
  return Status::InvalidArgument("not a number in the options of rate: " + std::string(text));
}

/// Parses "counter[,MAX[,RESET]]".
Result<query::RateOptions> ParseRateOptions(std::string_view word) {
  query::RateOptions options;
  options.counter = true;
  const auto part = [&word] {
    const size_t comma = word.find(',');
    std::string_view taken = word.substr(0, comma);
    word = comma == std::string_view::npos ? std::string_view() : word.substr(comma + 1);
    return taken;
  };
  part();
  ASSIGN_OR_RETURN(options.counter_max, RateNumber(part(), options.counter_max));
  ASSIGN_OR_RETURN(options.reset_value, RateNumber(part(), options.reset_value));
  return options;
}

/// Adds "tagk=tagv". A repeated equal pair is allowed, a second value for a key is not.
Status AddTag(const std::string& word, std::vector<std::pair<std::string, std::string>>* tags) {
  const size_t equal = word.find('=');
  const std::string key = word.substr(0, equal);
  const std::string value = word.substr(equal + 1);
  if (key.empty() || value.empty() || value.find('=') != std::string::npos)
    return Status::InvalidArgument("invalid tag: " + word);
  for (const auto& [k, v] : *tags) {
    if (k != key) continue;
    if (v != value) return Status::InvalidArgument("duplicate tag: " + word + ", tags has " + v);
    return {};
  }
  tags->emplace_back(key, value);
  return {};
}

Result<WordQuery> TakeQuery(WordReader* words) {
  WordQuery query;
  ASSIGN_OR_RETURN(query.aggregator, TakeAggregator(words));
  if (words->NextIs("rate")) {
    words->Skip();
    query.rate = true;
    if (!words->AtEnd() && words->Peek().starts_with("counter")) {
      ASSIGN_OR_RETURN(query.rate_options, ParseRateOptions(words->Peek()));
      words->Skip();
    }
  }
  if (words->NextIs("downsample")) {
    words->Skip();
    ASSIGN_OR_RETURN(const std::string interval, words->Take("milliseconds to downsample to"));
    const auto milliseconds = ParseNumber(interval);
    if (!milliseconds || *milliseconds <= 0)
      return Status::InvalidArgument("not a number of milliseconds to downsample to: " + interval);
    ASSIGN_OR_RETURN(const std::string function, TakeAggregator(words));
    query.downsample = std::to_string(*milliseconds) + "ms-" + function;
  }
  ASSIGN_OR_RETURN(query.metric, words->Take("a metric"));
  while (!words->AtEnd() && words->Peek().find(' ', 1) == std::string::npos &&
         words->Peek().find('=', 1) != std::string::npos) {
    RETURN_IF_ERROR(AddTag(words->Peek(), &query.tags));
    words->Skip();
  }
  // After the tags, a word with a blank is a plot option. It is ignored here.
  if (!words->AtEnd() && words->Peek().find(' ', 1) != std::string::npos) words->Skip();
  return query;
}

/// Returns the sorted ids of "a|b|c".
Result<std::vector<Bytes>> FindTagValues(std::string_view alternatives, uid::Names& names) {
  std::vector<Bytes> ids;
  while (true) {
    const size_t bar = alternatives.find('|');
    const std::string_view name = alternatives.substr(0, bar);
    if (!name.empty()) {
      ASSIGN_OR_RETURN(Bytes id, names.Find(UidKind::kTagv, name));
      ids.push_back(std::move(id));
    }
    if (bar == std::string_view::npos) break;
    alternatives.remove_prefix(bar + 1);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

Result<WordQueries> ParseQueryWords(const std::vector<std::string>& words, int64_t now_ms,
                                    const query::TimeZone& zone, bool changes_rows) {
  WordQueries out;
  WordReader reader(words);
  ASSIGN_OR_RETURN(const std::string start, reader.Take("a start time"));
  ASSIGN_OR_RETURN(const int64_t start_ms, query::ParseTime(start, now_ms, zone));
  if (start_ms < 0) return Status::InvalidArgument("the start " + start + " is before 1970");
  out.start_s = start_ms / 1000;
  if (words.size() > kQueryWordsMin && LooksLikeTime(reader.Peek())) {
    ASSIGN_OR_RETURN(const int64_t end_ms, query::ParseTime(reader.Peek(), now_ms, zone));
    out.end_s = end_ms / 1000;
    if (*out.end_s <= out.start_s)
      return Status::InvalidArgument("the end " + reader.Peek() + " is not after the start " +
                                     start);
    ASSIGN_OR_RETURN(out.end_s, AsScanned(*out.end_s, reader.Peek(), changes_rows));
    reader.Skip();
  }
  ASSIGN_OR_RETURN(out.start_s, AsScanned(out.start_s, start, changes_rows));
  while (!reader.AtEnd() && reader.Peek().starts_with('+')) reader.Skip();
  do {
    ASSIGN_OR_RETURN(WordQuery query, TakeQuery(&reader));
    out.queries.push_back(std::move(query));
  } while (!reader.AtEnd());
  return out;
}

Result<query::TimeZone> ReadTimeZone(const Config& config) {
  const std::string& zone = config.String("tsd.core.timezone");
  if (zone.empty()) return query::TimeZone::Local();
  return query::TimeZone::Find(zone);
}

Result<Selection> Select(const WordQuery& query, uid::Names& names) {
  Selection out;
  ASSIGN_OR_RETURN(out.metric, names.Find(UidKind::kMetric, query.metric));
  for (const auto& [key, value] : query.tags) {
    TagClause clause;
    ASSIGN_OR_RETURN(clause.tagk, names.Find(UidKind::kTagk, key));
    if (value != "*") {
      // Patterns are refused. If a pattern meant any value, `scan --delete` would delete too much.
      if (value.find_first_of("*(") != std::string::npos)
        return Status::InvalidArgument(
            "a tag filter must be an exact value, values separated by |, or *, not " + key + "=" +
            value);
      clause.kind = TagClause::Kind::kOneOf;
      ASSIGN_OR_RETURN(clause.values, FindTagValues(value, names));
    }
    out.matcher.clauses.push_back(std::move(clause));
  }
  std::sort(out.matcher.clauses.begin(), out.matcher.clauses.end(),
            [](const TagClause& a, const TagClause& b) { return a.tagk < b.tagk; });
  return out;
}

}  // namespace hg::tsd
