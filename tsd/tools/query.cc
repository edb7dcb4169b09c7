// The command query: prints the points of queries as text (opentsdb-tools.md §3).

#include <iterator>
#include <optional>

#include "http/graph/from_answer.h"
#include "http/graph/style.h"
#include "query/engine.h"
#include "query/plan/validate.h"
#include "storage/model/java_hash.h"
#include "storage/model/number_text.h"
#include "tsd/query_settings.h"
#include "tsd/tools/cell_text.h"
#include "tsd/tools/query_graph.h"
#include "tsd/tools/query_words.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

/// Converts a tag of the command line to a filter (opentsdb-queries.md §4.3).
query::FilterSpec LegacyFilter(const std::string& tagk, const std::string& value) {
  query::FilterSpec filter{"literal_or", tagk, value, true, false};
  const size_t open = value.find('(');
  if (value == "*") {
    filter.type = "wildcard";
  } else if (open != std::string::npos && value.ends_with(')')) {
    filter.type = value.substr(0, open);
    filter.filter = value.substr(open + 1, value.size() - open - 2);
  } else if (value.find('*') != std::string::npos) {
    filter.type = "wildcard";
    filter.ignore_case = true;
  }
  return filter;
}

query::Request ToRequest(const WordQueries& times, const WordQuery& words) {
  query::SubQuery sub;
  sub.aggregator = words.aggregator;
  sub.metric = words.metric;
  if (!words.downsample.empty()) sub.downsample = words.downsample;
  sub.rate = words.rate;
  sub.rate_options = words.rate_options;
  for (const auto& [key, value] : words.tags) sub.filters.push_back(LegacyFilter(key, value));

  query::Request request;
  request.start = std::to_string(times.start_s);
  if (times.end_s) request.end = std::to_string(*times.end_s);
  request.queries.push_back(std::move(sub));
  request.ms_resolution = true;
  request.no_annotations = true;
  return request;
}

/// Returns the tags of a group in the order in which OpenTSDB prints its map.
std::string GroupTags(const query::Group& group) {
  TagNames tags;
  for (const size_t i : ResultTagOrder(group.tags)) tags.push_back(group.tags[i]);
  return TagMapText(tags);
}

void PrintGroup(const query::Group& group, std::ostream& out) {
  const std::string tags = GroupTags(group);
  const query::PointColumns& points = group.points;
  std::string line;
  for (size_t i = 0; i < points.size(); ++i) {
    line = group.metric + " " + std::to_string(points.time_ms[i]) + " ";
    if (points.double_at(i)) {
      AppendFixed6(&line, std::bit_cast<double>(points.bits[i]));
    } else {
      line += std::to_string(static_cast<int64_t>(points.bits[i]));
    }
    out << line << " " << tags << "\n";
  }
}

/// Checks the names of all queries before the first one runs. The engine checks patterns.
Status CheckNames(const WordQueries& queries, uid::Names& names) {
  for (const WordQuery& query : queries.queries) {
    RETURN_IF_ERROR(names.Find(UidKind::kMetric, query.metric).status());
    for (const auto& [key, value] : query.tags)
      RETURN_IF_ERROR(names.Find(UidKind::kTagk, key).status());
  }
  return {};
}

/// Runs the queries one by one, so that results before a failure are printed. If `plot` is not
/// null, the results are added to it instead.
Status RunQueries(Invocation& call, const WordQueries& queries, const query::Options& options,
                  http::graph::Plot* plot) {
  Session& session = call.session;
  RETURN_IF_ERROR(CheckNames(queries, session.names()));
  // Such a range results from an end after 2^32 s (query_words.h). OpenTSDB's scans are then empty.
  if (queries.end_s && *queries.end_s <= queries.start_s) return {};
  query::Engine engine(session.points(), session.names(), session.cells(), call.clock, options,
                       nullptr, session.rollups());
  for (const WordQuery& words : queries.queries) {
    ASSIGN_OR_RETURN(query::ValidQuery valid,
                     engine.Validate(ToRequest(queries, words), RequestContext::Unlimited()));
    // Validate returns the times in milliseconds, as for HTTP queries, which adds a second to the
    // range. They are replaced by seconds, as in OpenTSDB's tool, so that small values are not read
    // as milliseconds.
    valid.start_ms = queries.start_s;
    if (queries.end_s) valid.end_ms = *queries.end_s;
    query::RunOptions run;
    run.trim = false;
    run.on_failure = query::OnFailure::kLeaveWhatPrecedes;
    ASSIGN_OR_RETURN(const query::Answer answer, engine.Run(valid, run));
    if (plot == nullptr)
      for (const query::Group& group : answer.groups) PrintGroup(group, call.out);
    for (const query::SubQueryInfo& info : answer.queries) RETURN_IF_ERROR(info.failure);
    if (plot == nullptr) continue;
    http::graph::Plot part = http::graph::PlotOf(valid, answer, plot->style, plot->zone, {});
    plot->begin_ms = queries.start_s * 1000;
    plot->end_ms = queries.end_s ? *queries.end_s * 1000 : part.end_ms;
    std::move(part.lines.begin(), part.lines.end(), std::back_inserter(plot->lines));
  }
  return {};
}

Status DrawQueries(Invocation& call, const WordQueries& queries, const query::Options& options,
                   const query::TimeZone& zone, const std::string& base) {
  ASSIGN_OR_RETURN(const http::Parameters parameters, PlotWords(call.line.words()));
  http::graph::Plot plot;
  plot.zone = zone;
  ASSIGN_OR_RETURN(plot.style, http::graph::ReadStyle(parameters));
  RETURN_IF_ERROR(RunQueries(call, queries, options, &plot));
  return WritePlotFiles(base, plot);
}

int RunQuery(Invocation& call) {
  if (call.line.words().size() < kQueryWordsMin) return call.Misused("not enough arguments");
  const auto zone = ReadTimeZone(call.session.config());
  if (!zone.ok()) return call.Fail(zone.status());
  const auto queries = ParseQueryWords(call.line.words(), call.clock.NowMs(), *zone);
  if (!queries.ok()) return call.Fail(queries.status());
  auto options = ReadQueryOptions(call.session.config());
  if (!options.ok()) return call.Fail(options.status());
  if (Status s = call.Open(StoreUse::kLook); !s.ok()) return call.Fail(s);
  // This process serves no other queries, so there are no memory limits.
  options->memory_bytes_max = options->query_memory_bytes_max = 0;
  const std::optional<std::string> base = call.line.Value("--graph");
  if (!base) {
    const Status printed = RunQueries(call, *queries, *options, nullptr);
    return printed.ok() ? kExitOk : call.Fail(printed);
  }
  if (Status s = DrawQueries(call, *queries, *options, *zone, *base); !s.ok()) return call.Fail(s);
  return kExitOk;
}

constexpr OptionSpec kQueryOptions[] = {
    {"--graph", "BASE", "write BASE.png, BASE_N.dat and BASE.gnuplot instead of printing lines"},
    {"--verbose", "", "log more", "-v"},
};

}  // namespace

const Command kQueryCommand{
    "query",
    "START [END] query [query...]",
    "Prints the points of queries, one per line.",
    "A query is: AGG [rate [counter[,MAX[,RESET]]]] [downsample MS FUNC] METRIC [tagk=tagv...]\n"
    "Without downsampling the output has all points of the hours that the times touch.\n"
    "Words of the form +name=value after the times describe a plot, like the parameters of /q:\n"
    "+wxh=800x400 +title=...",
    kQueryOptions,
    "/api/query?start=START&m=AGG:METRIC",
    RunQuery};

}  // namespace hg::tsd
