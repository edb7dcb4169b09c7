// The command export: prints the points of queries as comma-separated values (csv.h).

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "storage/model/instant.h"
#include "storage/model/number_text.h"
#include "storage/model/special_double.h"
#include "storage/points/points.h"
#include "tsd/settings.h"
#include "tsd/tools/csv.h"
#include "tsd/tools/query_words.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

class Exporter {
 public:
  explicit Exporter(Invocation& call) : call_(call) {}

  Status Run(const WordQueries& queries) {
    std::vector<Selection> selections;
    for (const WordQuery& query : queries.queries) {
      ASSIGN_OR_RETURN(Selection selection, Select(query, call_.session.names()));
      RETURN_IF_ERROR(FindKeys(selection));
      selections.push_back(std::move(selection));
    }
    call_.out << "metric,time,value";
    for (const std::string& key : keys_) call_.out << "," << CsvTagColumn(key);
    call_.out << "\n";
    for (const Selection& selection : selections)
      RETURN_IF_ERROR(PrintSelection(queries, selection));
    return {};
  }

 private:
  using TagNames = std::map<std::string, std::string>;

  /// Finds the tag keys of all series that may be exported. They must be known before the first row
  /// is printed, which contains them.
  Status FindKeys(const Selection& selection) {
    Status status;
    const auto visit = [&](ByteView tsuid) {
      const Result<TagNames> tags = Tags(tsuid);
      if (!tags.ok()) {
        status = tags.status();
        return false;
      }
      for (const auto& [key, value] : *tags) keys_.insert(key);
      return true;
    };
    RETURN_IF_ERROR(
        call_.session.points().ListSeries(selection.metric, selection.matcher, nullptr, visit));
    return status;
  }

  Status PrintSelection(const WordQueries& queries, const Selection& selection) {
    const int64_t start_ms = queries.start_s * 1000;
    const int64_t end_ms =
        queries.end_s ? *queries.end_s * 1000 + 999 : std::numeric_limits<int64_t>::max();
    PointScanSpec spec;
    spec.metric = selection.metric;
    spec.matcher = selection.matcher;
    spec.rows.begin = static_cast<uint32_t>(queries.start_s - queries.start_s % kRowSpan);
    if (queries.end_s) spec.rows.end = static_cast<uint64_t>(*queries.end_s) + 1;
    ASSIGN_OR_RETURN(const auto scan, call_.session.points().Scan(
                                          spec, ReadReconcileOptions(call_.session.config())));
    ASSIGN_OR_RETURN(const std::string metric,
                     call_.session.names().NameOf(UidKind::kMetric, selection.metric));
    const std::string before = CsvCell(metric) + ",";
    for (RowHour row;;) {
      ASSIGN_OR_RETURN(const bool more, scan->Next(&row));
      if (!more) return {};
      std::optional<std::string> behind;  // read at the first point that is printed
      for (size_t i = 0; i < row.value.size(); ++i) {
        const int64_t ms = int64_t{row.base} * 1000 + row.offset_ms[i];
        if (ms < start_ms || ms > end_ms) continue;
        if (!behind) {
          ASSIGN_OR_RETURN(behind, TagCells(row.tsuid));
          if (behind->empty()) break;
        }
        std::string line = before;
        line += std::to_string(TimestampOfMillis(ms).value_or(Timestamp{ms}).raw) + ",";
        if (row.double_at(i) && !std::isfinite(std::bit_cast<double>(row.value[i]))) {
          line += SpecialDoubleText(row.value[i]);
        } else if (row.double_at(i)) {
          AppendJavaDouble(&line, std::bit_cast<double>(row.value[i]));
        } else {
          line += std::to_string(static_cast<int64_t>(row.value[i]));
        }
        call_.out << line << *behind;
      }
    }
  }

  /// Returns the part of a row after the value, including the line break. If the first row has no
  /// column for a tag of the series, reports the series and returns "".
  Result<std::string> TagCells(ByteView tsuid) {
    if (tsuid == last_tsuid_) return last_cells_;
    ASSIGN_OR_RETURN(const TagNames tags, Tags(tsuid));
    last_tsuid_ = tsuid;
    last_cells_.clear();
    for (const auto& [key, value] : tags) {
      if (keys_.contains(key)) continue;
      call_.err << "tsdb export: a new series is left out, because its tag key \"" << key
                << "\" is newer than the first row; export again to get the series\n";
      return last_cells_;
    }
    std::string cells;
    for (const std::string& key : keys_) {
      const auto tag = tags.find(key);
      cells += "," + (tag == tags.end() ? std::string() : CsvCell(tag->second));
    }
    return last_cells_ = cells + "\n";
  }

  Result<TagNames> Tags(ByteView tsuid) {
    const KeyLayout& layout = call_.session.layout();
    const auto key_width = static_cast<size_t>(layout.tagk_width);
    const auto value_width = static_cast<size_t>(layout.tagv_width);
    uid::Names& names = call_.session.names();
    TagNames tags;
    for (ByteView rest = tsuid.substr(static_cast<size_t>(layout.metric_width)); !rest.empty();
         rest.remove_prefix(std::min(key_width + value_width, rest.size()))) {
      ASSIGN_OR_RETURN(std::string key, names.NameOf(UidKind::kTagk, rest.substr(0, key_width)));
      ASSIGN_OR_RETURN(std::string value,
                       names.NameOf(UidKind::kTagv, rest.substr(key_width, value_width)));
      tags.emplace(std::move(key), std::move(value));
    }
    return tags;
  }

  Invocation& call_;
  std::set<std::string> keys_;
  Bytes last_tsuid_;
  std::string last_cells_;
};

int RunExport(Invocation& call) {
  if (call.line.words().size() < kQueryWordsMin) return call.Misused("not enough arguments");
  const auto zone = ReadTimeZone(call.session.config());
  if (!zone.ok()) return call.Fail(zone.status());
  const auto queries = ParseQueryWords(call.line.words(), call.clock.NowMs(), *zone);
  if (!queries.ok()) return call.Fail(queries.status());
  if (Status s = call.Open(StoreUse::kLook); !s.ok()) return call.Fail(s);
  if (Status s = Exporter(call).Run(*queries); !s.ok()) return call.Fail(s);
  return kExitOk;
}

}  // namespace

const Command kExportCommand{
    "export",
    "START [END] query [query...]",
    "Prints the points of queries as comma-separated values (CSV), which `import --csv` reads.",
    "The first row names the columns: metric, time, value and the key of each tag. A tag key\n"
    "that is metric, time or value has the prefix \"tag:\".\n"
    "A query is: AGG METRIC [tagk=tagv...]. The aggregator is checked and otherwise ignored.",
    {},
    "/api/query?start=START&m=none:METRIC",
    RunExport};

}  // namespace hg::tsd
