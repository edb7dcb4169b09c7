#pragma once
// Parses queries in words of a command line, for query, scan and fsck (opentsdb-tools.md §2):
//   START [END] query [query…]
//   query = AGG [rate [counter[,MAX[,RESET]]]] [downsample MS FUNC] METRIC [tagk=tagv…]

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "query/request/request.h"
#include "query/time/time_zone.h"
#include "storage/base/status.h"
#include "storage/series_matcher.h"
#include "tsd/config.h"
#include "uid/names.h"

namespace hg::tsd {

/// One query whose syntax was checked. Texts are UTF-8.
struct WordQuery {
  std::string aggregator;
  bool rate = false;
  std::optional<query::RateOptions> rate_options;
  std::string downsample;  // "60000ms-max"; empty = none
  std::string metric;
  std::vector<std::pair<std::string, std::string>> tags;  // in the order of the words
};

struct WordQueries {
  // Start and end as OpenTSDB's tools use them: values beyond 2^32 s are interpreted as
  // milliseconds. An end in the far future may therefore be before the start, and the range is then
  // empty.
  int64_t start_s = 0;
  std::optional<int64_t> end_s;
  std::vector<WordQuery> queries;
};

/// The minimum number of words of a query. If there are fewer, commands print their usage text.
inline constexpr size_t kQueryWordsMin = 3;

/// Parses at least kQueryWordsMin words. Relative times count back from now_ms, and dates are in
/// `zone`. InvalidArgument names the word: unknown aggregator, invalid date or number, an end that
/// is not after the start, or missing words.
Result<WordQueries> ParseQueryWords(const std::vector<std::string>& words, int64_t now_ms,
                                    const query::TimeZone& zone);

/// Returns the time zone of dates on the command line: tsd.core.timezone, or the local zone.
/// InvalidArgument: unknown zone.
Result<query::TimeZone> ReadTimeZone(const Config& config);

/// The series that a query selects: the ids of metric and tags.
struct Selection {
  Bytes metric;
  SeriesMatcher matcher;
};

/// Resolves metric and tags. NotFound names the unknown name. InvalidArgument: a tag filter other
/// than an exact value, `*`, or exact values separated by `|`.
Result<Selection> Select(const WordQuery& query, uid::Names& names);

}  // namespace hg::tsd
