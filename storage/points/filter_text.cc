#include "storage/points/filter_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "storage/points/filter_grammar.h"
#include "storage/points/filter_row.h"

namespace hg::points {
namespace {

constexpr std::string_view kSupported =
    "PrefixFilter, RowFilter, InclusiveStopFilter, SingleColumnValueFilter, PageFilter, "
    "FamilyFilter, QualifierFilter, ColumnPrefixFilter, MultipleColumnPrefixFilter, "
    "ColumnRangeFilter, KeyOnlyFilter, FirstKeyOnlyFilter";

using Argument = FilterArgument;
using Node = FilterNode;

// Converts nodes to conditions and restrictions of a scan.
class Converter {
 public:
  explicit Converter(ScanSpec* spec) : spec_(*spec) {}

  Result<TextFilter> Convert(const Node& node) {
    RETURN_IF_ERROR(Restrict(node));
    filter_.rows.kind = RowCondition::Kind::kAnd;
    spec_.filter = filter_.rows.ForStore();
    RETURN_IF_ERROR(CheckFilter(spec_.filter));
    if (filter_.counts_rows)
      std::stable_partition(filter_.rows.children.begin(), filter_.rows.children.end(), HasNoPage);
    return std::move(filter_);
  }

 private:
  using Kind = Argument::Kind;

  static bool HasNoPage(const RowCondition& condition) {
    return condition.kind != RowCondition::Kind::kPage &&
           std::all_of(condition.children.begin(), condition.children.end(), HasNoPage);
  }

  static Status WrongArguments(const Node& node, std::string_view expected) {
    return Status::InvalidArgument("filter: expected " + node.name + "(" + std::string(expected) +
                                   ")");
  }

  static bool Are(const Node& node, std::initializer_list<Kind> kinds) {
    return node.arguments.size() == kinds.size() &&
           std::equal(kinds.begin(), kinds.end(), node.arguments.begin(),
                      [](Kind kind, const Argument& argument) { return argument.kind == kind; });
  }

  // Reads "binary:VALUE" and the other comparators.
  static Status ReadComparator(const Bytes& text, RowFilter* filter) {
    constexpr std::pair<std::string_view, RowFilter::Comparator> kComparators[] = {
        {"binary:", RowFilter::Comparator::kBytes},
        {"binaryprefix:", RowFilter::Comparator::kPrefix},
        {"substring:", RowFilter::Comparator::kSubstring}};
    for (const auto& [name, comparator] : kComparators) {
      if (!text.starts_with(name)) continue;
      filter->comparator = comparator;
      filter->operand = text.substr(name.size());
      return {};
    }
    return Status::Unsupported("filter: comparator '" + text.substr(0, text.find(':')) +
                               "' is not supported (supported: binary, binaryprefix, substring)");
  }

  // Restricts the scan by a node that every row must pass.
  Status Restrict(const Node& node) {
    if (node.kind == Node::Kind::kAnd) {
      for (const Node& child : node.children) RETURN_IF_ERROR(Restrict(child));
      return {};
    }
    if (node.kind == Node::Kind::kFilter) {
      if (node.name == "PageFilter") {
        ASSIGN_OR_RETURN(const uint64_t rows, PageOf(node));
        spec_.limit_rows = std::min(spec_.limit_rows, rows);
        return {};
      }
      ASSIGN_OR_RETURN(const bool selected, SelectCells(node));
      if (selected) return {};
      RETURN_IF_ERROR(NarrowRange(node));
    }
    ASSIGN_OR_RETURN(filter_.rows.children.emplace_back(), ConditionOf(node));
    return {};
  }

  static Result<uint64_t> PageOf(const Node& node) {
    if (!Are(node, {Kind::kNumber}) || node.arguments[0].number < 1)
      return WrongArguments(node, "number from 1");
    return static_cast<uint64_t>(node.arguments[0].number);
  }

  // A forward scan reads only the range of keys that can pass the filter.
  Status NarrowRange(const Node& node) {
    if (spec_.reversed || !Are(node, {Kind::kText})) return {};
    const Bytes& key = node.arguments[0].text;
    Bytes stop;
    if (node.name == "PrefixFilter") {
      spec_.start = std::max(spec_.start, key);
      stop = AfterPrefix(key);
    } else if (node.name == "InclusiveStopFilter") {
      stop = key + Bytes(1, '\0');
    }
    if (!stop.empty() && (spec_.stop.empty() || stop < spec_.stop)) spec_.stop = stop;
    return {};
  }

  // Applies a filter that selects cells. Returns false if the node is not such a filter.
  Result<bool> SelectCells(const Node& node) {
    const std::vector<Argument>& arguments = node.arguments;
    const bool texts =
        !arguments.empty() && std::all_of(arguments.begin(), arguments.end(),
                                          [](const Argument& a) { return a.kind == Kind::kText; });
    if (node.name == "KeyOnlyFilter" || node.name == "FirstKeyOnlyFilter") {
      if (!arguments.empty()) return WrongArguments(node, "");
      (node.name == "KeyOnlyFilter" ? spec_.keys_only : spec_.first_cell_only) = true;
      return true;
    }
    if (node.name == "ColumnPrefixFilter" || node.name == "MultipleColumnPrefixFilter") {
      const bool one = node.name == "ColumnPrefixFilter";
      if (!texts || (one && arguments.size() != 1))
        return WrongArguments(node, one ? "'prefix'" : "'prefix', …");
      std::vector<Bytes> prefixes;
      for (const Argument& argument : arguments) prefixes.push_back(argument.text);
      RETURN_IF_ERROR(SelectPrefixes(node, std::move(prefixes)));
      return true;
    }
    if (node.name == "ColumnRangeFilter") {
      if (!Are(node, {Kind::kText, Kind::kBool, Kind::kText, Kind::kBool}))
        return WrongArguments(node, "'min', true or false, 'max', true or false");
      const Bytes after(1, '\0');
      SelectRange(arguments[0].text + (arguments[1].number != 0 ? Bytes() : after),
                  arguments[2].text + (arguments[3].number != 0 ? after : Bytes()));
      return true;
    }
    if (node.name != "FamilyFilter" && node.name != "QualifierFilter") return false;
    if (!Are(node, {Kind::kOperator, Kind::kText}))
      return WrongArguments(node, "operator, 'comparator:value'");
    RowFilter compared;
    RETURN_IF_ERROR(ReadComparator(arguments[1].text, &compared));
    compared.op = arguments[0].op;
    RETURN_IF_ERROR(node.name == "FamilyFilter" ? SelectFamily(compared)
                                                : SelectQualifiers(node, compared));
    return true;
  }

  Status SelectFamily(const RowFilter& compared) {
    if (compared.op != RowFilter::Op::kEqual ||
        compared.comparator != RowFilter::Comparator::kBytes || compared.operand.empty())
      return Status::Unsupported("filter: FamilyFilter supports only = and 'binary:FAMILY'");
    if (!spec_.family.empty() && spec_.family != compared.operand)
      return Status::InvalidArgument("filter: no cell has family '" + spec_.family + "' and '" +
                                     compared.operand + "'");
    spec_.family = compared.operand;
    return {};
  }

  Status SelectQualifiers(const Node& node, const RowFilter& compared) {
    const Bytes next = compared.operand + Bytes(1, '\0');
    using Op = RowFilter::Op;
    if (compared.comparator == RowFilter::Comparator::kPrefix && compared.op == Op::kEqual)
      return SelectPrefixes(node, {compared.operand});
    if (compared.comparator == RowFilter::Comparator::kBytes) {
      switch (compared.op) {
        case Op::kEqual:
          SelectRange(compared.operand, next);
          return {};
        case Op::kGreaterOrEqual:
          SelectRange(compared.operand, "");
          return {};
        case Op::kGreater:
          SelectRange(next, "");
          return {};
        case Op::kLessOrEqual:
          SelectRange("", next);
          return {};
        case Op::kLess:
          if (compared.operand.empty()) break;
          SelectRange("", compared.operand);
          return {};
        case Op::kNotEqual:
          break;
      }
    }
    return Status::Unsupported(
        "filter: QualifierFilter supports 'binary:' with =, <, <=, >, >= and 'binaryprefix:' "
        "with =");
  }

  Status SelectPrefixes(const Node& node, std::vector<Bytes> prefixes) {
    if (!spec_.prefixes.empty())
      return Status::Unsupported("filter: '" + node.name +
                                 "' is a second condition on prefixes of columns; only one is "
                                 "supported");
    spec_.prefixes = std::move(prefixes);
    return {};
  }

  void SelectRange(Bytes min, const Bytes& max) {
    spec_.column_min = std::max(spec_.column_min, min);
    if (!max.empty() && (spec_.column_max.empty() || max < spec_.column_max))
      spec_.column_max = max;
  }

  Result<RowCondition> ConditionOf(const Node& node) {
    RowCondition condition;
    if (node.kind != Node::Kind::kFilter) {
      condition.kind =
          node.kind == Node::Kind::kAnd ? RowCondition::Kind::kAnd : RowCondition::Kind::kOr;
      for (const Node& child : node.children) {
        ASSIGN_OR_RETURN(condition.children.emplace_back(), ConditionOf(child));
      }
      std::stable_partition(condition.children.begin(), condition.children.end(), HasNoPage);
      return condition;
    }
    if (node.name == "PageFilter") {
      ASSIGN_OR_RETURN(condition.rows_left, PageOf(node));
      condition.kind = RowCondition::Kind::kPage;
      filter_.counts_rows = true;
      return condition;
    }
    condition.kind = RowCondition::Kind::kRow;
    ASSIGN_OR_RETURN(condition.row, RowFilterOf(node));
    return condition;
  }

  Result<RowFilter> RowFilterOf(const Node& node) {
    const std::vector<Argument>& arguments = node.arguments;
    RowFilter filter;
    filter.kind = RowFilter::Kind::kCompareKey;
    if (node.name == "PrefixFilter" || node.name == "InclusiveStopFilter") {
      const bool prefix = node.name == "PrefixFilter";
      if (!Are(node, {Kind::kText})) return WrongArguments(node, "'key'");
      filter.op = prefix ? RowFilter::Op::kEqual : RowFilter::Op::kLessOrEqual;
      filter.comparator = prefix ? RowFilter::Comparator::kPrefix : RowFilter::Comparator::kBytes;
      filter.operand = arguments[0].text;
      return filter;
    }
    if (node.name == "RowFilter") {
      if (!Are(node, {Kind::kOperator, Kind::kText}))
        return WrongArguments(node, "operator, 'comparator:value'");
      filter.op = arguments[0].op;
      RETURN_IF_ERROR(ReadComparator(arguments[1].text, &filter));
      return filter;
    }
    if (node.name == "SingleColumnValueFilter") {
      const std::initializer_list<Kind> four = {Kind::kText, Kind::kText, Kind::kOperator,
                                                Kind::kText};
      const bool six = Are(
          node, {Kind::kText, Kind::kText, Kind::kOperator, Kind::kText, Kind::kBool, Kind::kBool});
      if (!six && !Are(node, four)) {
        return WrongArguments(
            node,
            "'family', 'qualifier', operator, 'comparator:value'[, skip rows without the column: "
            "true or false, only the newest version: true]");
      }
      if (six && arguments[5].number == 0) {
        return Status::Unsupported(
            "filter: SingleColumnValueFilter compares the newest version only; its last argument "
            "must be true");
      }
      filter.kind = RowFilter::Kind::kColumnValue;
      filter.family = arguments[0].text;
      filter.qualifier = arguments[1].text;
      filter.op = arguments[2].op;
      RETURN_IF_ERROR(ReadComparator(arguments[3].text, &filter));
      filter.pass_if_missing = !six || arguments[4].number == 0;
      return filter;
    }
    constexpr std::string_view kCellFilters[] = {
        "FamilyFilter",      "QualifierFilter", "ColumnPrefixFilter", "MultipleColumnPrefixFilter",
        "ColumnRangeFilter", "KeyOnlyFilter",   "FirstKeyOnlyFilter"};
    if (std::find(std::begin(kCellFilters), std::end(kCellFilters), node.name) !=
        std::end(kCellFilters)) {
      return Status::Unsupported("filter: '" + node.name +
                                 "' selects cells and is not supported inside OR");
    }
    return Status::Unsupported("filter: '" + node.name +
                               "' is not supported (supported: " + std::string(kSupported) + ")");
  }

  ScanSpec& spec_;
  TextFilter filter_;
};

}  // namespace

RowFilter RowCondition::ForStore() const {
  if (kind == Kind::kRow) return row;
  RowFilter filter;
  if (kind == Kind::kPage || children.empty()) return filter;
  filter.kind = kind == Kind::kAnd ? RowFilter::Kind::kAnd : RowFilter::Kind::kOr;
  for (const RowCondition& child : children) filter.children.push_back(child.ForStore());
  return filter;
}

bool RowCondition::Passes(ByteView key, const std::vector<Cell>& cells) {
  const auto passes = [&](RowCondition& child) { return child.Passes(key, cells); };
  switch (kind) {
    case Kind::kRow:
      return RowPasses(row, key, cells);
    case Kind::kPage:
      if (rows_left == 0) return false;
      --rows_left;
      return true;
    case Kind::kAnd:
      return std::all_of(children.begin(), children.end(), passes);
    case Kind::kOr:
      return std::any_of(children.begin(), children.end(), passes);
  }
  return true;
}

Result<TextFilter> ApplyFilterText(std::string_view text, ScanSpec* spec) {
  ASSIGN_OR_RETURN(const Node node, ParseFilterText(text, FilterEscapes::kBackslash));
  return Converter(spec).Convert(node);
}

}  // namespace hg::points
