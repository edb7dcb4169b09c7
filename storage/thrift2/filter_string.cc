#include "storage/thrift2/filter_string.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "storage/hbase/filter_messages.h"
#include "storage/points/filter_grammar.h"

namespace hg::thrift2 {
namespace {

using points::FilterNode;
using Argument = points::FilterArgument;

// java.util.regex.Pattern.DOTALL, which HBase sets for every regexstring.
constexpr uint64_t kDotAll = 32;

// The filters of HBase's filter language that FilterBytesOf does not support.
constexpr std::array<std::string_view, 9> kNotSupported = {"ColumnCountGetFilter",
                                                           "PageFilter",
                                                           "ColumnPaginationFilter",
                                                           "InclusiveStopFilter",
                                                           "TimestampsFilter",
                                                           "SingleColumnValueFilter",
                                                           "SingleColumnValueExcludeFilter",
                                                           "DependentColumnFilter",
                                                           "ColumnValueFilter"};

Status WrongArguments(const FilterNode& node) {
  return Status::InvalidArgument("filter " + node.name + ": wrong arguments");
}

bool Are(const FilterNode& node, std::initializer_list<Argument::Kind> kinds) {
  return std::equal(
      kinds.begin(), kinds.end(), node.arguments.begin(), node.arguments.end(),
      [](Argument::Kind kind, const Argument& argument) { return argument.kind == kind; });
}

// Converts "binary:VALUE" and the other comparators.
Result<Bytes> Comparator(ByteView text, RowFilter::Op op) {
  const size_t colon = text.find(':');
  if (colon == ByteView::npos) {
    return Status::InvalidArgument("comparator '" + Bytes(text) + "' without ':'");
  }
  const ByteView name = text.substr(0, colon);
  const ByteView value = text.substr(colon + 1);
  if (name == "binary") return hbase::BytesComparator("BinaryComparator", value);
  if (name == "binaryprefix") return hbase::BytesComparator("BinaryPrefixComparator", value);
  if (name != "regexstring" && name != "substring") {
    return Status::InvalidArgument("unknown comparator '" + Bytes(name) + "'");
  }
  if (op != RowFilter::Op::kEqual && op != RowFilter::Op::kNotEqual) {
    return Status::InvalidArgument("comparator '" + Bytes(name) + "' needs = or !=");
  }
  if (name == "regexstring") return hbase::RegexComparator(value, kDotAll, "UTF-8");
  Bytes content;
  hbase::AddBytes(&content, 1, value);
  return hbase::Named("SubstringComparator", content);
}

Result<Bytes> ConvertFilter(const FilterNode& node) {
  const std::vector<Argument>& arguments = node.arguments;
  const ByteView name = node.name;
  if (name == "RowFilter" || name == "FamilyFilter" || name == "QualifierFilter" ||
      name == "ValueFilter") {
    if (!Are(node, {Argument::Kind::kOperator, Argument::Kind::kText})) return WrongArguments(node);
    ASSIGN_OR_RETURN(const Bytes comparator, Comparator(arguments[1].text, arguments[0].op));
    return hbase::CompareFilter(name, arguments[0].op, comparator);
  }
  if (name == "PrefixFilter" || name == "ColumnPrefixFilter") {
    if (!Are(node, {Argument::Kind::kText})) return WrongArguments(node);
    Bytes content;
    hbase::AddBytes(&content, 1, arguments[0].text);
    return hbase::Named(name, content);
  }
  if (name == "MultipleColumnPrefixFilter") {
    std::vector<Bytes> prefixes;
    for (const Argument& argument : arguments) {
      if (argument.kind != Argument::Kind::kText) return WrongArguments(node);
      prefixes.push_back(argument.text);
    }
    return hbase::PrefixesFilter(std::move(prefixes));
  }
  if (name == "ColumnRangeFilter") {
    if (!Are(node, {Argument::Kind::kText, Argument::Kind::kBool, Argument::Kind::kText,
                    Argument::Kind::kBool}))
      return WrongArguments(node);
    const Bytes& min = arguments[0].text;  // if empty, there is no lower limit
    return hbase::ColumnRangeFilter(min, min.empty() || arguments[1].number != 0, arguments[2].text,
                                    arguments[3].number != 0);
  }
  if (name == "KeyOnlyFilter") {
    if (!arguments.empty() && !Are(node, {Argument::Kind::kBool})) return WrongArguments(node);
    return hbase::KeyOnlyFilter(!arguments.empty() && arguments[0].number != 0);
  }
  if (name == "FirstKeyOnlyFilter") {
    if (!arguments.empty()) return WrongArguments(node);
    return hbase::Named(name, "");
  }
  if (std::find(kNotSupported.begin(), kNotSupported.end(), name) != kNotSupported.end()) {
    return Status::Unsupported("filterString: '" + node.name + "' is not supported");
  }
  return Status::InvalidArgument("HBase's filter language has no filter '" + node.name + "'");
}

// The recursion is bounded, because the parser bounds the parentheses.
Result<Bytes> Convert(const FilterNode& node) {
  if (node.kind == FilterNode::Kind::kFilter) return ConvertFilter(node);
  std::vector<Bytes> filters;
  for (const FilterNode& child : node.children) {
    ASSIGN_OR_RETURN(filters.emplace_back(), Convert(child));
  }
  return hbase::FilterList(
      node.kind == FilterNode::Kind::kAnd ? hbase::Join::kAll : hbase::Join::kOne, filters);
}

}  // namespace

Result<Bytes> FilterBytesOf(std::string_view text) {
  ASSIGN_OR_RETURN(const FilterNode node,
                   points::ParseFilterText(text, points::FilterEscapes::kNone));
  return Convert(node);
}

}  // namespace hg::thrift2
