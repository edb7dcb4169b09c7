#pragma once
// Parses queries that are written as words of a command line, for the commands query, scan and fsck
// (opentsdb-tools.md §2):
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

/// One query whose syntax was checked. All texts are UTF-8.
struct WordQuery {
  std::string aggregator;
  bool rate = false;
  std::optional<query::RateOptions> rate_options;
  std::string downsample;  // downsampling, such as "60000ms-max"; empty = no downsampling
  std::string metric;
  std::vector<std::pair<std::string, std::string>> tags;  // tags in the order of the words
};

struct WordQueries {
  // Start and end of the time range as OpenTSDB's tools interpret them: values beyond 2^32 seconds
  // count as milliseconds. Therefore, an end in the far future may be before the start; the time
  // range is then empty.
  int64_t start_s = 0;
  std::optional<int64_t> end_s;
  std::vector<WordQuery> queries;
};

/// The minimum number of words of a query. If there are fewer words, commands print their usage
/// text.
inline constexpr size_t kQueryWordsMin = 3;

/// Parses queries from at least kQueryWordsMin words. Relative times are counted back from now_ms,
/// and dates are in the time zone `zone`. InvalidArgument: an aggregator is unknown, a date or
/// number is invalid, the end is not after the start, or words are missing. The message contains
/// the word. If `changes_rows` is true, a time beyond 2^32 seconds is also an InvalidArgument,
/// because the command would change rows of another time than the time in the words.
Result<WordQueries> ParseQueryWords(const std::vector<std::string>& words, int64_t now_ms,
                                    const query::TimeZone& zone, bool changes_rows = false);

/// Returns the time zone for dates on the command line: the value of tsd.core.timezone, or the
/// local time zone. InvalidArgument: the time zone is unknown.
Result<query::TimeZone> ReadTimeZone(const Config& config);

/// The series that a query selects: the ids of its metric and of its tags.
struct Selection {
  Bytes metric;
  SeriesMatcher matcher;
};

/// Resolves the names of the metric and the tags. NotFound: a name is unknown; the message contains
/// the name. InvalidArgument: a tag filter is none of the supported kinds. They are an exact value,
/// `*`, and exact values separated by `|`.
Result<Selection> Select(const WordQuery& query, uid::Names& names);

}  // namespace hg::tsd
