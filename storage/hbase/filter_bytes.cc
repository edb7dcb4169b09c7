#include "storage/hbase/filter_bytes.h"

#include <algorithm>
#include <cstring>

#include "storage/hbase/filter_messages.h"
#include "storage/points/match_series.h"

namespace hg::hbase {
namespace {

Bytes QualifiersFilter(const std::vector<Bytes>& qualifiers) {
  std::vector<Bytes> each;
  for (const Bytes& qualifier : qualifiers) {
    each.push_back(CompareFilter("QualifierFilter", RowFilter::Op::kEqual,
                                 BytesComparator("BinaryComparator", qualifier)));
  }
  return FilterList(Join::kOne, each);
}

bool AsksForValues(const RowFilter& filter) {
  return filter.kind == RowFilter::Kind::kColumnValue ||
         std::any_of(filter.children.begin(), filter.children.end(), AsksForValues);
}

// Ids are written as \xHH, so no byte has a special meaning in the regular expression.
void AppendLiteral(std::string* pattern, ByteView bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) *pattern += "\\x" + ToHex(bytes.substr(i, 1));
}

std::string Any(int bytes) { return ".{" + std::to_string(bytes) + "}"; }

// Returns a pattern for a clause. The pair may be at any position of the key, so that keys with
// unsorted pairs match, too.
std::string ClausePattern(const TagClause& clause, const KeyLayout& layout) {
  const std::string pairs = "(?:" + Any(layout.pair_width()) + ")*";
  std::string text = clause.kind == TagClause::Kind::kAbsent ? "(?!" : "(?=";
  text += pairs;
  AppendLiteral(&text, clause.tagk);
  if (clause.kind == TagClause::Kind::kOneOf) {
    text += "(?:";
    for (size_t i = 0; i < clause.values.size(); ++i) {
      if (i > 0) text += "|";
      AppendLiteral(&text, clause.values[i]);
    }
    text += ")";
  } else {
    text += Any(layout.tagv_width);
  }
  return text + pairs + "$)";
}

std::string TsuidsPattern(const std::vector<Bytes>& tsuids, const KeyLayout& layout) {
  std::string text = "(?=" + Any(layout.salt_width) + "(?:";
  for (size_t i = 0; i < tsuids.size(); ++i) {
    const ByteView tsuid = tsuids[i];
    const auto metric = std::min(tsuid.size(), static_cast<size_t>(layout.metric_width));
    if (i > 0) text += "|";
    AppendLiteral(&text, tsuid.substr(0, metric));
    text += Any(4);
    AppendLiteral(&text, tsuid.substr(metric));
  }
  return text + ")$)";
}

}  // namespace

Bytes RegexKeyFilter(ByteView pattern) {
  // The field is a string, so each byte ≥ 0x80 is sent as two bytes of UTF-8.
  Bytes text;
  for (const char c : pattern) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x80) {
      text.push_back(c);
    } else {
      text.push_back(static_cast<char>(0xC0 | byte >> 6));
      text.push_back(static_cast<char>(0x80 | (byte & 0x3F)));
    }
  }
  return CompareFilter("RowFilter", RowFilter::Op::kEqual, RegexComparator(text, 0, "ISO-8859-1"));
}

Bytes FuzzyKeyFilter(ByteView key, ByteView mask) {
  Bytes pair;
  AddBytes(&pair, 1, key);
  AddBytes(&pair, 2, mask);
  Bytes content;
  AddBytes(&content, 1, pair);
  return Named("FuzzyRowFilter", content);
}

std::optional<std::string> SeriesPattern(const SeriesMatcher& matcher, const KeyLayout& layout) {
  if (points::MatchesAll(matcher)) return std::nullopt;
  std::string text = "(?s)^";
  if (!matcher.tsuids.empty()) text += TsuidsPattern(matcher.tsuids, layout);
  text += Any(layout.prefix_width());
  for (const TagClause& clause : matcher.clauses) {
    // A clause without values matches nothing. An empty alternative in the expression would match
    // keys, so there is no expression for such a clause.
    if (clause.kind == TagClause::Kind::kOneOf && clause.values.empty()) return std::nullopt;
    text += ClausePattern(clause, layout);
    if (text.size() > kPatternBytesMax) return std::nullopt;
  }
  if (matcher.exact_tags && matcher.clauses.empty()) {
    // Matches keys without pairs.
  } else if (matcher.exact_tags) {
    text += "(?:(?:";
    for (size_t i = 0; i < matcher.clauses.size(); ++i) {
      if (i > 0) text += "|";
      AppendLiteral(&text, matcher.clauses[i].tagk);
    }
    text += ")" + Any(layout.tagv_width) + ")*";
  } else {
    text += "(?:" + Any(layout.pair_width()) + ")*";
  }
  text += "$";
  if (text.size() > kPatternBytesMax) return std::nullopt;
  return text;
}

std::optional<Bytes> KeyFilterBytes(const RowFilter& filter, bool reversed) {
  switch (filter.kind) {
    case RowFilter::Kind::kCompareKey:
      if (filter.comparator == RowFilter::Comparator::kBytes) {
        return CompareFilter("RowFilter", filter.op,
                             BytesComparator("BinaryComparator", filter.operand));
      }
      if (filter.comparator == RowFilter::Comparator::kPrefix && !filter.operand.empty()) {
        return CompareFilter("RowFilter", filter.op,
                             BytesComparator("BinaryPrefixComparator", filter.operand));
      }
      return std::nullopt;
    case RowFilter::Kind::kTemplate:
      // If the mask has no free bytes, some servers pass every row, so the condition is sent in
      // another form.
      if (std::memchr(filter.mask.data(), 1, filter.mask.size()) == nullptr) {
        if (filter.operand.empty()) return std::nullopt;
        return CompareFilter("RowFilter", RowFilter::Op::kEqual,
                             BytesComparator("BinaryPrefixComparator", filter.operand));
      }
      if (reversed) return std::nullopt;
      return FuzzyKeyFilter(filter.operand, filter.mask);
    case RowFilter::Kind::kSeries: {
      const auto pattern = SeriesPattern(filter.series, filter.layout);
      if (!pattern) return std::nullopt;
      return RegexKeyFilter(*pattern);
    }
    case RowFilter::Kind::kAnd:
    case RowFilter::Kind::kOr: {
      std::vector<Bytes> some;
      for (const RowFilter& child : filter.children) {
        if (auto bytes = KeyFilterBytes(child, reversed)) some.push_back(std::move(*bytes));
      }
      const bool whole = some.size() == filter.children.size();
      if (some.empty() || (filter.kind == RowFilter::Kind::kOr && !whole)) return std::nullopt;
      return FilterList(filter.kind == RowFilter::Kind::kAnd ? Join::kAll : Join::kOne, some);
    }
    case RowFilter::Kind::kAll:
    case RowFilter::Kind::kColumnValue:
    case RowFilter::Kind::kRandom:
      return std::nullopt;
  }
  return std::nullopt;
}

Bytes FilterBytes(const CellSelection& wanted, const RowFilter& filter, bool reversed) {
  std::vector<Bytes> all;
  if (auto keys = KeyFilterBytes(filter, reversed)) all.push_back(std::move(*keys));
  const size_t of_columns = all.size();
  if (wanted.family.empty() && !wanted.qualifiers.empty()) {
    all.push_back(QualifiersFilter(wanted.qualifiers));
  }
  if (!wanted.prefixes.empty()) all.push_back(PrefixesFilter(wanted.prefixes));
  if (!wanted.column_min.empty() || !wanted.column_max.empty()) {
    all.push_back(ColumnRangeFilter(wanted.column_min, true, wanted.column_max, false));
  }
  if (!AsksForValues(filter)) {
    // After a filter that seeks, FirstKeyOnlyFilter would count a skipped cell as the first one.
    if (wanted.first_cell_only && all.size() == of_columns) {
      all.push_back(Named("FirstKeyOnlyFilter", ""));
    }
    if (wanted.keys_only) all.push_back(KeyOnlyFilter(false));
  }
  return all.empty() ? Bytes() : FilterList(Join::kAll, all);
}

}  // namespace hg::hbase
