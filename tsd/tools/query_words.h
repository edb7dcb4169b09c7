#pragma once
// Queries as words of a command line, for query, scan and fsck (spec cli.md §2):
//   START [END] query [query…]
//   query = AGG [rate [counter[,MAX[,RESET]]]] [downsample MS FUNC] METRIC [tagk=tagv…]

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "query/request.h"
#include "query/time_zone.h"
#include "storage/base/status.h"
#include "storage/series_matcher.h"
#include "tsd/config.h"
#include "uid/names.h"

namespace hg::tsd {

/// One query, checked as far as words go. Texts are UTF-8.
struct WordQuery {
  std::string aggregator;
  bool rate = false;
  std::optional<query::RateOptions> rate_options;
  std::string downsample;  // "60000ms-max"; empty = none
  std::string metric;
  std::vector<std::pair<std::string, std::string>> tags;  // in order of the words
};

struct WordQueries {
  // As OpenTSDB's tools scan them: beyond 2^32 s they take seconds for milliseconds, so that an end
  // in the far future may come before the start, and nothing is between them.
  int64_t start_s = 0;
  std::optional<int64_t> end_s;
  std::vector<WordQuery> queries;
};

/// The fewest words that can be meant as a query; with less a command is misused.
inline constexpr size_t kQueryWordsMin = 3;

/// At least kQueryWordsMin words. Relative times count from now_ms, dates are read in `zone`.
/// InvalidArgument names the word: unknown aggregator, no date, no number, an end that is not after
/// the start, or words that end too early.
Result<WordQueries> ParseQueryWords(const std::vector<std::string>& words, int64_t now_ms,
                                    const query::TimeZone& zone);

/// The zone of dates on the command line: tsd.core.timezone, else the process'. InvalidArgument:
/// unknown zone.
Result<query::TimeZone> ReadTimeZone(const Config& config);

/// What a query selects, in ids.
struct Selection {
  Bytes metric;
  SeriesMatcher matcher;
};

/// Resolves metric and tags. NotFound names the unknown one. InvalidArgument: a tag filter other
/// than an exact value,
/// `*`, or exact values between `|`.
Result<Selection> Select(const WordQuery& query, uid::Names& names);

}  // namespace hg::tsd
