#include "storage/points/filter_row.h"

#include <algorithm>
#include <cctype>

#include "storage/codec/row_key.h"
#include "storage/points/match_series.h"

namespace hg::points {
namespace {

using Kind = RowFilter::Kind;
using Op = RowFilter::Op;
using Comparator = RowFilter::Comparator;

bool ComparesEqualityOnly(Comparator comparator) {
  return comparator != Comparator::kBytes && comparator != Comparator::kPrefix;
}

bool ContainsLetters(ByteView text, ByteView part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end() ||
         part.empty();
}

bool AnyBit(Comparator comparator, ByteView a, ByteView b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const uint8_t x = ByteAt(a, i);
    const uint8_t y = ByteAt(b, i);
    const int bits = comparator == Comparator::kBitAnd  ? x & y
                     : comparator == Comparator::kBitOr ? x | y
                                                        : x ^ y;
    if (bits != 0) return true;
  }
  return false;
}

bool Compares(const RowFilter& filter, ByteView value) {
  switch (filter.comparator) {
    case Comparator::kBytes:
      return Holds(filter.op, value.compare(filter.operand));
    case Comparator::kPrefix:
      return Holds(filter.op, value.substr(0, filter.operand.size()).compare(filter.operand));
    case Comparator::kSubstring:
      return ContainsLetters(value, filter.operand) == (filter.op == Op::kEqual);
    default:
      return AnyBit(filter.comparator, value, filter.operand) == (filter.op == Op::kEqual);
  }
}

// Returns whether a kRandom filter selects the key. The same seed always selects the same rows,
// independently of batches and regions.
bool Drawn(const RowFilter& filter, ByteView key) {
  if (filter.chance <= 0) return false;
  if (filter.chance >= 1) return true;
  uint64_t hash = filter.seed ^ 0xCBF29CE484222325U;
  for (const char c : key) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3U;
  // Without this mixing step, the high bits of the hash would be nearly equal for short keys.
  hash = (hash ^ hash >> 33) * 0xFF51AFD7ED558CCDU;
  hash = (hash ^ hash >> 33) * 0xC4CEB9FE1A85EC53U;
  return static_cast<double>(hash >> 11) < filter.chance * 9007199254740992.0;
}

bool FitsTemplate(const RowFilter& filter, ByteView key) {
  if (key.size() < filter.operand.size()) return false;
  for (size_t i = 0; i < filter.operand.size(); ++i) {
    if (filter.mask[i] == 0 && key[i] != filter.operand[i]) return false;
  }
  return true;
}

bool FitsSeries(const RowFilter& filter, ByteView key) {
  const KeyLayout& layout = filter.layout;
  const auto prefix = static_cast<size_t>(layout.prefix_width());
  if (key.size() < prefix) return false;
  return MatchesSeries(
      filter.series, layout,
      key.substr(static_cast<size_t>(layout.salt_width), static_cast<size_t>(layout.metric_width)),
      key.substr(prefix));
}

// Returns whether the row passes. If `cells` is null, conditions on cells are assumed to be true.
bool Passes(const RowFilter& filter, ByteView key, const std::vector<Cell>* cells) {
  switch (filter.kind) {
    case Kind::kAll:
      return true;
    case Kind::kCompareKey:
      return Compares(filter, key);
    case Kind::kColumnValue: {
      if (cells == nullptr) return true;
      const auto cell = std::find_if(cells->begin(), cells->end(), [&](const Cell& c) {
        return c.family == filter.family && c.qualifier == filter.qualifier;
      });
      return cell == cells->end() ? filter.pass_if_missing : Compares(filter, cell->value);
    }
    case Kind::kRandom:
      return Drawn(filter, key);
    case Kind::kTemplate:
      return FitsTemplate(filter, key);
    case Kind::kSeries:
      return FitsSeries(filter, key);
    case Kind::kAnd:
      return std::all_of(filter.children.begin(), filter.children.end(),
                         [&](const RowFilter& child) { return Passes(child, key, cells); });
    case Kind::kOr:
      return std::any_of(filter.children.begin(), filter.children.end(),
                         [&](const RowFilter& child) { return Passes(child, key, cells); });
  }
  return true;
}

// Sets `next` to the smallest key ≥ `key` that matches the template.
bool NextOfTemplate(const RowFilter& filter, ByteView key, Bytes* next) {
  const size_t size = filter.operand.size();
  const auto least = [&](size_t from) {
    for (size_t i = from; i < size; ++i) (*next)[i] = filter.mask[i] == 0 ? filter.operand[i] : 0;
  };
  next->assign(key.substr(0, size));
  next->resize(size, 0);
  for (size_t i = 0; i < size; ++i) {
    if (i >= key.size()) {
      least(i);
      return true;
    }
    if (filter.mask[i] != 0 || key[i] == filter.operand[i]) continue;
    if (ByteAt(key, i) < ByteAt(filter.operand, i)) {
      least(i);
      return true;
    }
    // No key at or after `key` has the prefix key[0, i) and passes the filter. The next prefix is
    // found by incrementing the last byte before i that the template leaves free.
    while (i > 0 && (filter.mask[i - 1] == 0 || ByteAt(*next, i - 1) == 0xFF)) --i;
    if (i == 0) return false;
    (*next)[i - 1] = static_cast<char>(ByteAt(*next, i - 1) + 1);
    least(i);
    return true;
  }
  next->assign(key);
  return true;
}

}  // namespace

bool Holds(Op op, int order) {
  switch (op) {
    case Op::kLess:
      return order < 0;
    case Op::kLessOrEqual:
      return order <= 0;
    case Op::kEqual:
      return order == 0;
    case Op::kNotEqual:
      return order != 0;
    case Op::kGreaterOrEqual:
      return order >= 0;
    case Op::kGreater:
      return order > 0;
  }
  return false;
}

Status CheckFilter(const RowFilter& filter) {
  const bool compares = filter.kind == Kind::kCompareKey || filter.kind == Kind::kColumnValue;
  if (compares && ComparesEqualityOnly(filter.comparator) && filter.op != Op::kEqual &&
      filter.op != Op::kNotEqual) {
    return Status::InvalidArgument("substrings and bits can be compared only with = or !=");
  }
  if (filter.kind == Kind::kTemplate && filter.mask.size() != filter.operand.size()) {
    return Status::InvalidArgument(
        "a template of " + std::to_string(filter.operand.size()) +
        " bytes has a mask of another length: " + std::to_string(filter.mask.size()));
  }
  for (const RowFilter& child : filter.children) RETURN_IF_ERROR(CheckFilter(child));
  return {};
}

bool KeyMayPass(const RowFilter& filter, ByteView key) { return Passes(filter, key, nullptr); }

bool RowPasses(const RowFilter& filter, ByteView key, const std::vector<Cell>& cells) {
  return Passes(filter, key, &cells);
}

bool SeekKey(const RowFilter& filter, ByteView key, Bytes* next) {
  next->assign(key);
  if (filter.kind == Kind::kTemplate) return NextOfTemplate(filter, key, next);
  if (filter.kind == Kind::kAnd) {
    for (const RowFilter& child : filter.children) {
      Bytes of_child;
      if (!SeekKey(child, key, &of_child)) return false;
      *next = std::max(*next, of_child);
    }
  }
  if (filter.kind == Kind::kOr) {
    bool any = false;
    for (const RowFilter& child : filter.children) {
      Bytes of_child;
      if (!SeekKey(child, key, &of_child)) continue;
      *next = any ? std::min(*next, of_child) : of_child;
      any = true;
    }
    return any;
  }
  return true;
}

bool ColumnChosen(const CellSelection& wanted, ByteView family, ByteView qualifier) {
  if (!wanted.qualifiers.empty() && std::find(wanted.qualifiers.begin(), wanted.qualifiers.end(),
                                              qualifier) == wanted.qualifiers.end()) {
    return false;
  }
  return ColumnInRanges(wanted, family, qualifier);
}

bool ColumnInRanges(const CellSelection& wanted, ByteView family, ByteView qualifier) {
  if (!wanted.family.empty() && family != wanted.family) return false;
  if (!wanted.prefixes.empty() &&
      std::none_of(wanted.prefixes.begin(), wanted.prefixes.end(),
                   [&](const Bytes& prefix) { return qualifier.starts_with(prefix); })) {
    return false;
  }
  return qualifier >= wanted.column_min &&
         (wanted.column_max.empty() || qualifier < wanted.column_max);
}

void Strip(const CellSelection& wanted, std::vector<Cell>* cells) {
  if (wanted.first_cell_only && cells->size() > 1) cells->resize(1);
  if (wanted.keys_only) {
    for (Cell& cell : *cells) cell.value.clear();
  }
}

}  // namespace hg::points
