// The command scan: prints the rows that a query would read, cell by cell (opentsdb-tools.md §4).

#include <optional>

#include "storage/codec/append_cell.h"
#include "storage/codec/cell_class.h"
#include "storage/codec/compacted.h"
#include "storage/codec/row_key.h"
#include "storage/codec/value.h"
#include "storage/for_each_row.h"
#include "storage/model/name_text.h"
#include "storage/points/render.h"
#include "tsd/tools/cell_text.h"
#include "tsd/tools/import_line.h"
#include "tsd/tools/query_words.h"
#include "tsd/tools/selected_rows.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

/// The values that the cells of one row share.
struct RowContext {
  uint32_t base = 0;
  std::string metric;
  std::string tags;  // import form: " k=v k=v"
};

int64_t PointTimeMs(const RowContext& row, const codec::StoredPoint& point) {
  return int64_t{row.base} * 1000 + point.offset_ms();
}

/// Returns the time in the resolution of the point.
int64_t PointTime(const RowContext& row, const codec::StoredPoint& point) {
  const int64_t ms = PointTimeMs(row, point);
  return point.qualifier.is_millis() ? ms : ms / 1000;
}

std::string ImportLineOf(const RowContext& row, const codec::StoredPoint& point) {
  return ImportLineText(row.metric, PointTime(row, point), point.value(), row.tags);
}

std::string RawPoint(const RowContext& row, codec::Qualifier qualifier, ByteView value) {
  const codec::StoredPoint point{qualifier, 0};
  const uint32_t offset = qualifier.is_millis() ? point.offset_ms() : point.offset_ms() / 1000;
  return ByteListText(qualifier.Encode()) + "\t" + ByteListText(value) + "\t" +
         std::to_string(offset) + "\t" + (qualifier.is_float() ? "f" : "l") + "\t" +
         std::to_string(PointTime(row, point)) + "\t(" + DateText(PointTimeMs(row, point)) + ")\n";
}

std::string RawPoint(const RowContext& row, const codec::StoredPoint& point) {
  return RawPoint(row, point.qualifier, codec::EncodeValue(point.value()));
}

/// Prints a single point whose value has an invalid width. If the time is in seconds, the printed
/// qualifier has the length that OpenTSDB's repair writes (opentsdb-schema.md §7.4). For an empty
/// value this is −1, which sets the whole byte. If the time is in milliseconds, the stored
/// qualifier is printed.
std::optional<std::string> RawOddPoint(const RowContext& row, const Cell& cell) {
  const size_t width = cell.value.size();
  ByteView bytes = cell.qualifier;
  codec::Qualifier qualifier;
  if (!codec::TakeQualifier(&bytes, &qualifier)) return std::nullopt;
  if (qualifier.is_millis()) return RawPoint(row, qualifier, cell.value);
  if (width == 8) return std::nullopt;
  const uint32_t length = static_cast<uint8_t>(width - 1);
  return RawPoint(row, codec::Qualifier{(qualifier.bits & ~uint32_t{kLengthMask}) | length},
                  cell.value);
}

/// Returns the raw form of an annotation. OpenTSDB's scan reads the qualifier of an annotation as
/// if it were the qualifier of a point. It reads the offset from the second byte on, and the time
/// from the first byte on. Both results are wrong, but this tool prints the same (opentsdb-tools.md
/// §4).
std::string RawAnnotation(const RowContext& row, const Cell& cell) {
  ByteView behind_prefix = ByteView(cell.qualifier).substr(1);
  codec::Qualifier offset;
  (void)codec::TakeQualifier(&behind_prefix, &offset);
  const codec::StoredPoint point{codec::Qualifier{ReadBig16(cell.qualifier.data())}, 0};
  return ByteListText(cell.qualifier) + "\t" + ByteListText(cell.value) + "\t" +
         std::to_string(offset.offset_ms() / 1000) + "\t" + FromLatin1(cell.value) + "\t" +
         std::to_string(PointTimeMs(row, point)) + "\t(" + DateText(PointTimeMs(row, point)) +
         ")\n";
}

std::string RawPoints(const RowContext& row, const Cell& cell,
                      const std::vector<codec::StoredPoint>& points) {
  std::string out = ByteListText(cell.qualifier) + "\t" + ByteListText(cell.value) + " = " +
                    std::to_string(points.size()) + " values:\n";
  for (const codec::StoredPoint& point : points) out += "    " + RawPoint(row, point);
  return out;
}

/// Returns the points of a cell. The result is empty for annotations and other objects.
Result<std::vector<codec::StoredPoint>> PointsOf(const Cell& cell) {
  switch (codec::ClassifyQualifier(cell.qualifier)) {
    case codec::CellClass::kAppend: {
      ASSIGN_OR_RETURN(codec::AppendCell append, codec::ParseAppendCell(cell.value));
      return std::move(append.points);
    }
    case codec::CellClass::kPoint:
    case codec::CellClass::kCompacted:
    case codec::CellClass::kMalformed: {
      ASSIGN_OR_RETURN(codec::StrictCell strict, codec::ParsePointCell(cell.qualifier, cell.value));
      return std::move(strict.points);
    }
    default:
      return std::vector<codec::StoredPoint>();
  }
}

/// Reads a millisecond point whose value has more bytes than its flags say. The additional bytes
/// are ignored. OpenTSDB's readers repair only points with times in seconds.
std::optional<codec::StoredPoint> LongMillisPoint(const Cell& cell) {
  ByteView bytes = cell.qualifier;
  codec::Qualifier qualifier;
  if (!codec::TakeQualifier(&bytes, &qualifier) || !bytes.empty() || !qualifier.is_millis() ||
      !qualifier.valid_flags() || cell.value.size() <= static_cast<size_t>(qualifier.value_width()))
    return std::nullopt;
  return codec::StoredPoint{qualifier, codec::ReadValueBits(cell.value.data(), qualifier.flags())};
}

Result<std::string> ImportText(const RowContext& row, const Cell& cell) {
  if (const auto point = LongMillisPoint(cell)) return ImportLineOf(row, *point);
  ASSIGN_OR_RETURN(const auto points, PointsOf(cell));
  std::string out;
  for (const codec::StoredPoint& point : points) out += ImportLineOf(row, point);
  return out;
}

Result<std::string> RawText(const RowContext& row, const Cell& cell) {
  const codec::CellClass kind = codec::ClassifyQualifier(cell.qualifier);
  if (kind == codec::CellClass::kAnnotation) return "  " + RawAnnotation(row, cell);
  if (codec::IsObjectQualifier(cell.qualifier) && kind != codec::CellClass::kAppend)
    return "  " + ByteListText(cell.value) + "\t[Not a data point]\n";
  const auto points = PointsOf(cell);
  if (kind == codec::CellClass::kPoint) {
    if (points.ok()) return "  " + RawPoint(row, points->at(0));
    if (const auto odd = RawOddPoint(row, cell)) return "  " + *odd;
  }
  if (!points.ok()) return points.status();
  return "  " + RawPoints(row, cell, *points);
}

/// Returns the text that is printed instead of the tags if their ids cannot be resolved. OpenTSDB
/// prints the Java exception with its class name.
std::string TagErrorText(const Status& status) {
  if (status.code() != StatusCode::kNotFound) return status.ToString();
  return "net.opentsdb.uid.NoSuchUniqueId: " + std::string(status.message());
}

class Scanner {
 public:
  Scanner(Invocation& call, bool import_form, bool delete_rows)
      : call_(call), import_form_(import_form), delete_rows_(delete_rows) {}

  Status Run(const WordQueries& queries) {
    std::vector<Selection> selections;
    for (const WordQuery& query : queries.queries) {
      ASSIGN_OR_RETURN(Selection selection, Select(query, call_.session.names()));
      selections.push_back(std::move(selection));
    }
    for (const Selection& selection : selections)
      RETURN_IF_ERROR(ScanSelection(queries, selection));
    if (changed_ == 0) return {};
    return Status::Conflict(std::to_string(changed_) + (changed_ == 1 ? " row was" : " rows were") +
                            " changed by other writers after being read, and not deleted; run the "
                            "command again to delete the new content");
  }

 private:
  const KeyLayout& layout() const { return call_.session.layout(); }

  Status ScanSelection(const WordQueries& queries, const Selection& selection) {
    for (const ScanSpec& spec : ScansOf(layout(), call_.session.data_table(), queries, selection)) {
      RETURN_IF_ERROR(ForEachRow(call_.session.cells(), spec, [&](const Row& row) {
        return IsSelected(layout(), selection, row.key) ? PrintRow(row) : Status();
      }));
    }
    return {};
  }

  Status PrintRow(const Row& row) {
    const size_t salt = static_cast<size_t>(layout().salt_width);
    const size_t metric_width = static_cast<size_t>(layout().metric_width);
    if (row.key.size() < static_cast<size_t>(layout().prefix_width()))
      return Status::Corruption("the row key is cut short: " + ToHexUpper(row.key));
    RowContext context;
    context.base = ReadBig32(row.key.data() + salt + metric_width);
    ASSIGN_OR_RETURN(context.metric, call_.session.names().NameOf(
                                         UidKind::kMetric, row.key.substr(salt, metric_width)));

    const Result<TagNames> tags = Tags(row.key);
    if (import_form_) {
      if (!tags.ok()) return tags.status();
      for (const auto& [key, value] : *tags) context.tags += " " + key + "=" + value;
    } else {
      call_.out << ByteListText(row.key) << " " << context.metric << " " << context.base << " ("
                << DateText(int64_t{context.base} * 1000) << ") "
                << (tags.ok() ? TagMapText(*tags) : TagErrorText(tags.status())) << "\n";
    }
    for (const Cell& cell : row.cells) {
      ASSIGN_OR_RETURN(const std::string text,
                       import_form_ ? ImportText(context, cell) : RawText(context, cell));
      call_.out << text;
    }
    return delete_rows_ ? Delete(row) : Status();
  }

  /// Deletes a row that was printed, unless other writers have changed it.
  Status Delete(const Row& row) {
    call_.out.flush();
    if (!call_.out) {
      return Status::IoError("cannot write to standard output; the row " + ToHexUpper(row.key) +
                             " and the rows after it are not deleted");
    }
    const RowMutation remove{
        row.key, {{CellChange::Kind::kDeleteFamily, Bytes(points::kFamily), {}, {}, {}, {}}}};
    ASSIGN_OR_RETURN(const bool deleted,
                     call_.session.cells().MutateIfUnchanged(points::kFamily, row.cells,
                                                             call_.session.data_table(), remove));
    if (!deleted) ++changed_;
    return {};
  }

  /// Returns the tags of a row key. A key without tags is valid here, although readers of points
  /// reject it.
  Result<TagNames> Tags(ByteView key) {
    if (key.size() == static_cast<size_t>(layout().prefix_width())) return TagNames();
    ASSIGN_OR_RETURN(const codec::RowKey row, codec::RowKey::Decode(layout(), key));
    TagNames tags;
    uid::Names& names = call_.session.names();
    for (size_t i = 0; i < row.pair_count(); ++i) {
      ASSIGN_OR_RETURN(std::string tagk, names.NameOf(UidKind::kTagk, row.tagk(i)));
      ASSIGN_OR_RETURN(std::string tagv, names.NameOf(UidKind::kTagv, row.tagv(i)));
      tags.emplace_back(std::move(tagk), std::move(tagv));
    }
    SortAsPrinted(&tags);
    return tags;
  }

  Invocation& call_;
  const bool import_form_;
  const bool delete_rows_;
  uint64_t changed_ = 0;  // number of rows that other writers changed before they were deleted
};

int RunScan(Invocation& call) {
  if (call.line.words().size() < kQueryWordsMin) return call.Misused("not enough arguments");
  const auto zone = ReadTimeZone(call.session.config());
  if (!zone.ok()) return call.Fail(zone.status());
  const bool delete_rows = call.line.Has("--delete");
  const auto queries = ParseQueryWords(call.line.words(), call.clock.NowMs(), *zone, delete_rows);
  if (!queries.ok()) return call.Fail(queries.status());
  const StoreUse use = delete_rows ? StoreUse::kWork : StoreUse::kLook;
  if (Status s = call.Open(use); !s.ok()) return call.Fail(s);

  Scanner scanner(call, delete_rows || call.line.Has("--import"), delete_rows);
  if (Status s = scanner.Run(*queries); !s.ok()) return call.Fail(s);
  return kExitOk;
}

constexpr OptionSpec kScanOptions[] = {
    {"--import", "", "print lines that `import` reads"},
    {"--delete", "", "delete each row after printing it; implies --import"},
};

}  // namespace

const Command kScanCommand{
    "scan",
    "START [END] query [query...]",
    "Prints the stored rows that queries would read. A row is a whole hour of a series.",
    "A query is: AGG [rate [counter[,MAX[,RESET]]]] [downsample MS FUNC] METRIC [tagk=tagv...]\n"
    "Aggregator, rate and downsampling are checked and otherwise ignored.",
    kScanOptions,
    "/api/query?start=START&m=none:METRIC",
    RunScan};

}  // namespace hg::tsd
