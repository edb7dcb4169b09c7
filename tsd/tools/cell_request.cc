#include "tsd/tools/cell_request.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "storage/lsm/table_attributes.h"
#include "storage/region/pre_split.h"

namespace hg::tsd {
namespace {

constexpr std::string_view kWrites = "put append increment delete check-and-put check-and-delete ";
constexpr std::string_view kPuts = "put check-and-put ";
constexpr std::string_view kChecks = "check-and-put check-and-delete ";
constexpr std::string_view kDeletes = "delete check-and-delete ";
constexpr std::string_view kAggregates = "count sum min max avg ";

/// An option, and the verbs that accept it. A space follows each verb.
struct VerbOption {
  OptionSpec spec;
  std::string verbs;
};

std::string AllWords(std::initializer_list<std::string_view> groups) {
  std::string all;
  for (const std::string_view group : groups) all += group;
  return all;
}

const std::vector<VerbOption>& VerbOptions() {
  static const std::string ranges = AllWords({"scan ", kAggregates});
  static const std::string reads = AllWords({"get scan ", kAggregates});
  static const std::vector<VerbOption> options = {
      {{"--prefix", "KEY", "scan and aggregates: only rows that begin with the key"}, ranges},
      {{"--start", "KEY", "scan and aggregates: the first row"}, ranges},
      {{"--stop", "KEY", "scan and aggregates: the first row that is not read"}, ranges},
      {{"--reversed", "", "scan: rows in descending order; --start is the greatest row"}, "scan "},
      {{"--limit", "N", "scan and aggregates: maximum number of rows"}, ranges},
      {{"--filter", "TEXT", "scan and aggregates: a filter in HBase's filter language"}, ranges},
      {{"--versions", "N", "get, scan: number of newest versions of each cell; the default is 1"},
       "get scan "},
      {{"--from-time", "MS", "reads: only cells of this time or later"}, reads},
      {{"--to-time", "MS", "reads: only cells before this time"}, reads},
      {{"--timestamp", "MS",
        "put: time of the cell; delete: only cells up to this time. Both are now by default"},
       AllWords({kPuts, kDeletes})},
      {{"--version", "MS", "delete: only the version of this time, or 'newest'"},
       AllWords({kDeletes})},
      {{"--ttl", "TIME", "put, append, increment: how long the cell is kept, such as 90m or 3d"},
       AllWords({kPuts, "append increment "})},
      {{"--expect", "VALUE", "check-and-…: write only if the column has this value"},
       AllWords({kChecks})},
      {{"--expect-absent", "", "check-and-…: write only if the column is absent or empty"},
       AllWords({kChecks})},
      {{"--check", "COLUMN", "check-and-…: compare this column; the default is the changed column"},
       AllWords({kChecks})},
      {{"--durability", "LEVEL",
        "writes: at least none, buffered, logged or synced, as in tsd.storage.durability"},
       AllWords({kWrites})},
      {{"--json", "", "print JSON"}, AllWords({kWrites, reads})}};
  return options;
}

/// A verb, and the words after it: TABLE, then ROW if one_row is set, then the column, then the
/// value.
struct VerbSpec {
  std::string_view name;
  CellVerb verb;
  size_t words_min;
  size_t words_max;
};

constexpr VerbSpec kVerbs[] = {{"get", CellVerb::kGet, 2, SIZE_MAX},
                               {"put", CellVerb::kPut, 4, 4},
                               {"append", CellVerb::kAppend, 4, 4},
                               {"increment", CellVerb::kIncrement, 3, 4},
                               {"delete", CellVerb::kDelete, 2, 3},
                               {"check-and-put", CellVerb::kCheckAndPut, 4, 4},
                               {"check-and-delete", CellVerb::kCheckAndDelete, 2, 3},
                               {"scan", CellVerb::kScan, 1, SIZE_MAX},
                               {"count", CellVerb::kCount, 1, SIZE_MAX},
                               {"sum", CellVerb::kSum, 2, SIZE_MAX},
                               {"min", CellVerb::kMin, 2, SIZE_MAX},
                               {"max", CellVerb::kMax, 2, SIZE_MAX},
                               {"avg", CellVerb::kAvg, 2, SIZE_MAX}};

Result<CellColumn> ReadColumn(const std::string& text) {
  const size_t colon = text.find(':');
  CellColumn column{text.substr(0, colon), {}};
  if (column.family.empty()) {
    return Status::InvalidArgument("column '" + text + "': expected FAMILY or FAMILY:QUALIFIER");
  }
  if (colon != std::string::npos) {
    ASSIGN_OR_RETURN(column.qualifier, region::ParseKey(text.substr(colon + 1)));
  }
  return column;
}

Result<int64_t> ReadNumber(std::string_view name, const std::string& text, int64_t least,
                           int64_t most) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= least && number <= most)
    return number;
  return Status::InvalidArgument("Invalid value for " + std::string(name) + ": " + text +
                                 " (expected " + std::to_string(least) + " to " +
                                 std::to_string(most) + ")");
}

Result<std::optional<int64_t>> ReadOption(const CommandLine& line, std::string_view option,
                                          int64_t least, int64_t most) {
  const auto text = line.Value(option);
  if (!text) return std::optional<int64_t>();
  ASSIGN_OR_RETURN(const int64_t number, ReadNumber(option, *text, least, most));
  return std::optional<int64_t>(number);
}

Status CheckOptions(const CommandLine& line, std::string_view verb) {
  for (const VerbOption& option : VerbOptions()) {
    if (!line.Has(option.spec.name)) continue;
    const std::string& verbs = option.verbs;
    const std::string word = std::string(verb) + ' ';
    const size_t at = verbs.find(word);
    if (at == 0 || verbs.find(' ' + word) != std::string::npos) continue;
    return Status::InvalidArgument("'" + std::string(verb) + "' does not take " +
                                   std::string(option.spec.name) +
                                   " (only: " + verbs.substr(0, verbs.size() - 1) + ")");
  }
  return {};
}

// The options --prefix, --start and --stop together restrict the keys.
Status ReadRange(const CommandLine& line, ScanSpec* scan) {
  Bytes first, after;  // ascending: [first, after)
  if (const auto prefix = line.Value("--prefix")) {
    ASSIGN_OR_RETURN(first, region::ParseKey(*prefix));
    after = AfterPrefix(first);
  }
  std::optional<Bytes> start, stop;
  if (const auto text = line.Value("--start")) {
    ASSIGN_OR_RETURN(start, region::ParseKey(*text));
  }
  if (const auto text = line.Value("--stop")) {
    ASSIGN_OR_RETURN(stop, region::ParseKey(*text));
  }
  scan->reversed = line.Has("--reversed");
  if (!scan->reversed) {
    scan->start = std::max(first, start.value_or(""));
    scan->stop = after;
    if (stop && !stop->empty() && (after.empty() || *stop < after)) scan->stop = *stop;
    return {};
  }
  // The reversed scan begins at the first key after the keys with the prefix, and the filter
  // excludes that key. There is no greatest key before the keys with the prefix, so the scan ends
  // at a somewhat smaller key.
  scan->start = after;
  if (start && !start->empty() && (after.empty() || *start < after)) scan->start = *start;
  scan->stop = stop.value_or("");
  if (first.empty()) return {};
  scan->filter.kind = RowFilter::Kind::kCompareKey;
  scan->filter.comparator = RowFilter::Comparator::kPrefix;
  scan->filter.operand = first;
  constexpr size_t kFill = 32;
  Bytes before = first;
  const uint8_t last = ByteAt(first, first.size() - 1);
  before.pop_back();
  if (last > 0) before += static_cast<char>(last - 1) + Bytes(kFill, '\xFF');
  scan->stop = std::max(scan->stop, before);
  return {};
}

// Selects columns in the store. A scan has only one list of qualifiers for all families, so if
// there are several families, the selection is repeated in ForEachSelected (select_again).
void SelectColumns(CellRequest* request) {
  if (request->columns.empty()) return;
  ScanSpec& scan = request->scan;
  const Bytes& family = request->columns[0].family;
  const bool one_family = std::all_of(request->columns.begin(), request->columns.end(),
                                      [&](const CellColumn& c) { return c.family == family; });
  if (one_family) scan.family = family;
  request->select_again = !one_family;
  for (const CellColumn& column : request->columns) {
    if (!column.qualifier) {
      scan.qualifiers.clear();
      return;
    }
    scan.qualifiers.push_back(*column.qualifier);
  }
}

Status ReadSelection(const CommandLine& line, CellRequest* request) {
  ScanSpec& scan = request->scan;
  scan.table = request->table;
  scan.batch_bytes = size_t{4} << 20;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  RETURN_IF_ERROR(ReadRange(line, &scan));
  ASSIGN_OR_RETURN(const auto limit, ReadOption(line, "--limit", 1, kMost));
  if (limit) scan.limit_rows = static_cast<uint64_t>(*limit);
  ASSIGN_OR_RETURN(const auto versions, ReadOption(line, "--versions", 1, INT32_MAX));
  scan.max_versions = static_cast<int32_t>(versions.value_or(1));
  ASSIGN_OR_RETURN(const auto from, ReadOption(line, "--from-time", 0, kMost));
  ASSIGN_OR_RETURN(const auto to, ReadOption(line, "--to-time", 0, kMost));
  if (from) scan.min_ms = *from;
  if (to) scan.max_ms = *to;
  SelectColumns(request);
  if (const auto text = line.Value("--filter")) {
    const RowFilter of_prefix = scan.filter;
    ASSIGN_OR_RETURN(request->filter, points::ApplyFilterText(*text, &scan));
    if (of_prefix.kind != RowFilter::Kind::kAll) {
      RowFilter both;
      both.kind = RowFilter::Kind::kAnd;
      both.children = {of_prefix, std::move(scan.filter)};
      scan.filter = std::move(both);
    }
    request->select_again |= request->filter.counts_rows;
  }
  if (request->verb == CellVerb::kCount) scan.keys_only = scan.first_cell_only = true;
  return {};
}

Status ReadChange(const CommandLine& line, CellRequest* request) {
  const std::vector<std::string>& words = line.words();
  const CellVerb verb = request->verb;
  const bool has_column = !request->columns.empty();
  const bool needs_qualifier = verb != CellVerb::kDelete && verb != CellVerb::kCheckAndDelete;
  if (needs_qualifier && !request->columns[0].qualifier)
    return Status::InvalidArgument("column '" + words[3] + "': expected FAMILY:QUALIFIER");
  if (words.size() > 4) {
    if (verb == CellVerb::kIncrement) {
      ASSIGN_OR_RETURN(request->by, ReadNumber("BY", words[4], std::numeric_limits<int64_t>::min(),
                                               std::numeric_limits<int64_t>::max()));
    } else {
      ASSIGN_OR_RETURN(request->value, region::ParseKey(words[4]));
    }
  }
  constexpr int64_t kTimeMax = std::numeric_limits<int64_t>::max() - 1;
  ASSIGN_OR_RETURN(request->timestamp, ReadOption(line, "--timestamp", 0, kTimeMax));
  if (const auto version = line.Value("--version")) {
    request->newest_version = *version == "newest";
    if (!request->newest_version) {
      ASSIGN_OR_RETURN(request->version, ReadNumber("--version", *version, 0, kTimeMax));
    }
    if (!has_column || (request->newest_version && !request->columns[0].qualifier)) {
      return Status::InvalidArgument("--version " + *version + " needs a COLUMN" +
                                     (has_column ? " with its qualifier" : ""));
    }
    if (request->timestamp)
      return Status::InvalidArgument("--version " + *version + " and --timestamp: give one");
  }
  if (const auto ttl = line.Value("--ttl")) {
    FamilyDescriptor read;
    RETURN_IF_ERROR(lsm::SetAttribute("TTL", *ttl, &read));
    if (read.ttl_s != kTtlForever) request->ttl_ms = read.ttl_s * 1000;
  }
  if (const auto level = line.Value("--durability")) {
    request->synced = *level == "synced";
    if (!request->synced && *level != "logged" && *level != "buffered" && *level != "none") {
      return Status::InvalidArgument("Invalid value for --durability: " + *level +
                                     " (expected none, buffered, logged or synced)");
    }
  }
  if (verb != CellVerb::kCheckAndPut && verb != CellVerb::kCheckAndDelete) return {};
  const auto expect = line.Value("--expect");
  if (expect.has_value() == line.Has("--expect-absent"))
    return Status::InvalidArgument("expected --expect VALUE or --expect-absent");
  if (expect) {
    ASSIGN_OR_RETURN(const Bytes value, region::ParseKey(*expect));
    if (value.empty())
      return Status::InvalidArgument("--expect needs a value; --expect-absent means none");
    request->expected = value;
  }
  if (const auto check = line.Value("--check")) {
    ASSIGN_OR_RETURN(request->checked, ReadColumn(*check));
  } else if (has_column) {
    request->checked = request->columns[0];
  }
  if (!request->checked.qualifier)
    return Status::InvalidArgument("expected --check FAMILY:QUALIFIER, the column to compare");
  return {};
}

}  // namespace

std::span<const OptionSpec> CellOptions() {
  static const std::vector<OptionSpec> options = [] {
    std::vector<OptionSpec> all;
    for (const VerbOption& option : VerbOptions()) all.push_back(option.spec);
    return all;
  }();
  return options;
}

Result<CellRequest> ReadCellRequest(const CommandLine& line) {
  const std::vector<std::string>& words = line.words();
  const VerbSpec* const spec =
      words.empty() ? std::end(kVerbs)
                    : std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                   [&](const VerbSpec& known) { return known.name == words[0]; });
  if (spec == std::end(kVerbs)) {
    std::string names;
    for (const VerbSpec& known : kVerbs) names += (names.empty() ? "" : ", ") + Bytes(known.name);
    return Status::InvalidArgument(
        (words.empty() ? "expected one of " : "no such action: " + words[0] + "; there are ") +
        names);
  }
  if (words.size() - 1 < spec->words_min) {
    return Status::InvalidArgument(words[0] + " needs " + std::to_string(spec->words_min) +
                                   " words after it");
  }
  if (words.size() - 1 > spec->words_max)
    return Status::InvalidArgument("unexpected word: " + words[spec->words_max + 1]);
  RETURN_IF_ERROR(CheckOptions(line, spec->name));
  CellRequest request;
  request.verb = spec->verb;
  request.table = words[1];
  request.json = line.Has("--json");
  const bool one_row = request.verb == CellVerb::kGet || WritesCells(request.verb);
  if (one_row) {
    ASSIGN_OR_RETURN(request.row, region::ParseKey(words[2]));
  }
  const size_t first_column = one_row ? 3 : 2;
  const size_t columns_end =
      WritesCells(request.verb) ? std::min<size_t>(words.size(), 4) : words.size();
  for (size_t i = first_column; i < columns_end; ++i) {
    ASSIGN_OR_RETURN(request.columns.emplace_back(), ReadColumn(words[i]));
  }
  RETURN_IF_ERROR(WritesCells(request.verb) ? ReadChange(line, &request)
                                            : ReadSelection(line, &request));
  return request;
}

}  // namespace hg::tsd
