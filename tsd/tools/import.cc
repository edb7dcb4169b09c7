// The command import: reads points from lines into the store (opentsdb-tools.md §5).

#include <memory>
#include <mutex>
#include <unordered_map>

#include "storage/base/sized_bytes.h"
#include "storage/model/number_text.h"
#include "storage/model/special_double.h"
#include "storage/points/points.h"
#include "tsd/ingest/ingest.h"
#include "tsd/settings.h"
#include "tsd/tools/csv.h"
#include "tsd/tools/import_line.h"
#include "tsd/tools/line_source.h"
#include "tsd/tools/tools.h"
#include "tsd/tools/with_room.h"

namespace hg::tsd {
namespace {

constexpr size_t kBatchPoints = 1024;
constexpr uint64_t kBatchesPerCommit = 64;
constexpr uint64_t kPointsPerReport = 1'000'000;

class Importer {
 public:
  Importer(Invocation& call, IngestOptions options)
      : call_(call),
        ingest_(call.session.points(), call.session.names(), std::move(options)),
        any_order_(call.session.config().Bool("tsd.core.bulk.allow_out_of_order_timestamps")),
        skip_errors_(call.line.Has("--skip-errors")),
        csv_(call.line.Has("--csv")) {}

  Status ImportPath(const std::string& path) {
    ASSIGN_OR_RETURN(const auto lines, LineSource::Open(path, call_.in));
    const uint64_t points_before = points_;
    const int64_t began_ns = call_.clock.MonotonicNs();
    RETURN_IF_ERROR(csv_ ? ImportRows(path, *lines) : ImportLines(path, *lines));
    RETURN_IF_ERROR(Flush());
    Report(path, points_ - points_before, call_.clock.MonotonicNs() - began_ns);
    return {};
  }

  /// Waits until everything stored so far is durable.
  Status Finish() {
    RETURN_IF_ERROR(Flush());
    return call_.session.cells().Sync();
  }

  void ReportTotal() { Report("total", points_, call_.clock.MonotonicNs() - began_ns_); }

 private:
  Status ImportLines(const std::string& path, LineSource& lines) {
    std::string_view line;
    for (uint64_t number = 1;; ++number) {
      ASSIGN_OR_RETURN(const bool more, lines.Next(&line));
      if (!more) return {};
      RETURN_IF_ERROR(Judge(AddLine(line), path, number));
      RETURN_IF_ERROR(FlushIfFull());
    }
  }

  Status ImportRows(const std::string& path, LineSource& lines) {
    CsvReader rows(lines);
    std::vector<std::string> cells;
    Result<bool> more = rows.Next(&cells);
    if (more.ok() && !*more) return Status::InvalidArgument(path + ": there is no first row");
    const Result<CsvColumns> columns =
        more.ok() ? ReadCsvHeader(cells) : Result<CsvColumns>(more.status());
    if (!columns.ok()) return Prepend(columns.status(), path + ":" + std::to_string(rows.number()));
    for (;;) {
      more = rows.Next(&cells);
      if (more.ok() && !*more) return {};
      const Status added = more.ok() ? AddRow(*columns, cells) : more.status();
      RETURN_IF_ERROR(Judge(added, path, rows.number()));
      RETURN_IF_ERROR(FlushIfFull());
    }
  }

  /// Handles the result of a point or line. Returns ok if the import must continue.
  Status Judge(Status added, const std::string& path, uint64_t number) {
    if (added.ok()) return {};
    added = Prepend(added, path + ":" + std::to_string(number));
    // Conflict: another name has the same bytes as a name of the line, or no id is left.
    const bool about_the_line = added.code() == StatusCode::kInvalidArgument ||
                                added.code() == StatusCode::kNotFound ||
                                added.code() == StatusCode::kConflict;
    if (!skip_errors_ || !about_the_line) {
      // The points before the invalid line are stored, although the import fails.
      RETURN_IF_ERROR(Flush());
      return added;
    }
    call_.err << "tsdb import: skipped " << added.message() << "\n";
    return {};
  }

  Status AddLine(std::string_view line) {
    ASSIGN_OR_RETURN(const ImportLine parts, ParseImportLine(line));
    // The series is resolved first. So even a line with an invalid value or time assigns ids to new
    // names, as in OpenTSDB (opentsdb-tools.md §5).
    ASSIGN_OR_RETURN(const SeriesNumber series, FindSeries(parts));
    return AddValue(series, parts.time, parts.value, EntryPath::kImport);
  }

  /// Adds the point of a CSV row. Numbers with a fraction are stored as doubles, so they keep their
  /// full precision, unlike in lines.
  Status AddRow(const CsvColumns& columns, const std::vector<std::string>& cells) {
    ASSIGN_OR_RETURN(const CsvPoint point, ReadCsvPoint(columns, cells));
    // Each text follows its length, because the text can contain any bytes.
    raw_key_.clear();
    AppendSized(&raw_key_, point.metric);
    for (const TagText& tag : point.tags) {
      AppendSized(&raw_key_, tag.key);
      AppendSized(&raw_key_, tag.value);
    }
    auto known = series_.find(raw_key_);
    if (known == series_.end()) {
      ASSIGN_OR_RETURN(const SeriesNumber number,
                       Resolve(point.metric, point.tags, Dialect::kLabels));
      known = series_.emplace(raw_key_, number).first;
    }
    return AddValue(known->second, point.time, point.value, EntryPath::kHttp);
  }

  Status AddValue(SeriesNumber series, Timestamp time, std::string_view text, EntryPath path) {
    PointValue value;
    NumberError error;
    if (!ParseValue(text, path, &value, &error)) {
      const auto special = csv_ ? ReadSpecialDouble(text) : std::nullopt;
      if (special) return AddValue(series, time, *special);
      return Status::InvalidArgument("invalid value: " + error.message);
    }
    return AddValue(series, time, value);
  }

  Status AddValue(SeriesNumber series, Timestamp time, const PointValue& value) {
    if (!time.in_range())
      return Status::InvalidArgument("invalid time: " + std::to_string(time.raw));
    RETURN_IF_ERROR(CheckOrder(series, time));
    batch_.push_back(MakePointEntry(series, time, value));
    if (++points_ % kPointsPerReport == 0)
      Report("so far", points_, call_.clock.MonotonicNs() - began_ns_);
    return {};
  }

  Result<SeriesNumber> FindSeries(const ImportLine& parts) {
    raw_key_.assign(parts.metric);
    raw_key_ += ' ';
    raw_key_ += parts.tags;
    if (auto it = series_.find(raw_key_); it != series_.end()) return it->second;
    ASSIGN_OR_RETURN(const std::vector<TagText> tags, ParseImportTags(parts.tags));
    ASSIGN_OR_RETURN(const SeriesNumber number, Resolve(parts.metric, tags, Dialect::kWords));
    series_.emplace(raw_key_, number);
    return number;
  }

  /// Returns the number of a series. `dialect` decides how many tags are allowed.
  Result<SeriesNumber> Resolve(std::string_view metric, std::span<const TagText> tags,
                               Dialect dialect) {
    NamedPoint point;
    point.raw_key.dialect = dialect;
    point.metric = metric;
    point.tags = tags;
    point.time = Timestamp{1};  // any valid time; the time of each line is checked later
    return WithRoom(call_.session.cells(),
                    [&] { return ingest_.Resolve(point, WriteContext::Unlimited()); });
  }

  Status CheckOrder(SeriesNumber series, Timestamp time) {
    if (any_order_) return {};
    int64_t& last_ms = last_ms_[series];
    if (time.millis() <= last_ms)
      return Status::InvalidArgument("the time " + std::to_string(time.raw) +
                                     " is not after the series' previous point (setting "
                                     "tsd.core.bulk.allow_out_of_order_timestamps allows it)");
    last_ms = time.millis();
    return {};
  }

  // A failure to store a batch is not about one line, so Judge does not get it and it always ends
  // the import.
  Status FlushIfFull() { return batch_.size() < kBatchPoints ? Status() : Flush(); }

  Status Flush() {
    if (batch_.empty()) return {};
    ASSIGN_OR_RETURN(const LogPosition position, WithRoom(call_.session.cells(), [this] {
                       return call_.session.points().Append(batch_);
                     }));
    batch_.clear();
    // Starts writing the log to its file, but does not wait for it. Finish waits.
    if (++batches_ % kBatchesPerCommit == 0) {
      call_.session.points().Commit(position, [failure = failure_](const Status& status) {
        if (status.ok()) return;
        const std::lock_guard lock(failure->mutex);
        failure->status = status;
      });
    }
    const std::lock_guard lock(failure_->mutex);
    return failure_->status;
  }

  void Report(const std::string& what, uint64_t points, int64_t ns) {
    const int64_t ms = ns / 1'000'000;
    const double per_second =
        ns > 0 ? static_cast<double>(points) * 1e9 / static_cast<double>(ns) : 0;
    call_.err << "tsdb import: " << what << ": " << points << " points in " << ms << " ms ("
              << static_cast<uint64_t>(per_second) << " points/s)\n";
  }

  Invocation& call_;
  Ingest ingest_;
  const bool any_order_;
  const bool skip_errors_;
  const bool csv_;
  const int64_t began_ns_ = call_.clock.MonotonicNs();
  uint64_t points_ = 0;
  std::string raw_key_;
  std::unordered_map<std::string, SeriesNumber> series_;  // by raw series key
  std::unordered_map<SeriesNumber, int64_t> last_ms_;
  std::vector<PointEntry> batch_;
  uint64_t batches_ = 0;
  /// An error that the log reports, possibly after this object is destroyed.
  struct Failure {
    std::mutex mutex;
    Status status;
  };
  std::shared_ptr<Failure> failure_ = std::make_shared<Failure>();
};

int RunImport(Invocation& call) {
  if (call.line.words().empty()) return call.Misused("no file was given");
  Result<IngestOptions> options = ReadIngestOptions(call.session.config());
  if (!options.ok()) return call.Fail(options.status());
  if (Status s = call.Open(); !s.ok()) return call.Fail(s);

  Importer importer(call, *std::move(options));
  for (const std::string& path : call.line.words()) {
    if (Status s = importer.ImportPath(path); !s.ok()) {
      (void)importer.Finish();
      return call.Fail(s);
    }
  }
  if (Status s = importer.Finish(); !s.ok()) return call.Fail(s);
  importer.ReportTotal();
  return kExitOk;
}

void ApplyImportOptions(const CommandLine& line, Config* config) {
  if (line.Has("--auto-metric")) config->Set("tsd.core.auto_create_metrics", "true");
}

constexpr OptionSpec kImportOptions[] = {
    {"--auto-metric", "", "assign ids to new metrics"},
    {"--skip-errors", "", "report invalid lines and continue"},
    {"--csv", "",
     "files contain comma-separated values; the first row names the columns metric, "
     "time, value and the tag keys"},
};

}  // namespace

const Command kImportCommand{
    "import",
    "PATH...",
    "Stores the points of text files: METRIC TIME VALUE TAGK=TAGV... on each line.",
    "Files whose names end in .gz are decompressed. '-- -' is standard input. The points of a\n"
    "series must be in ascending order of time.",
    kImportOptions,
    "POST /api/put",
    RunImport,
    ApplyImportOptions};

}  // namespace hg::tsd
