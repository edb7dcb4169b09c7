#include "storage/points/filter_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "storage/points/filter_row.h"

namespace hg::points {
namespace {

constexpr size_t kTextBytesMax = 64 << 10;
constexpr int kDepthMax = 32;

constexpr std::string_view kSupported =
    "PrefixFilter, RowFilter, InclusiveStopFilter, SingleColumnValueFilter, PageFilter, "
    "FamilyFilter, QualifierFilter, ColumnPrefixFilter, MultipleColumnPrefixFilter, "
    "ColumnRangeFilter, KeyOnlyFilter, FirstKeyOnlyFilter";

struct Argument {
  enum class Kind : uint8_t { kText, kOperator, kNumber, kBool };
  Kind kind = Kind::kText;
  Bytes text;
  RowFilter::Op op = RowFilter::Op::kEqual;
  int64_t number = 0;  // kBool: 0 or 1
};

// A node of the parsed filter: one filter with its arguments, or an operator (AND, OR) with several
// nodes.
struct Node {
  enum class Kind : uint8_t { kFilter, kAnd, kOr };
  Kind kind = Kind::kFilter;
  std::string name;
  std::vector<Argument> arguments;
  std::vector<Node> children;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Node> Parse() {
    if (text_.size() > kTextBytesMax) {
      return Status::InvalidArgument("a filter of " + std::to_string(text_.size()) +
                                     " bytes: at most " + std::to_string(kTextBytesMax));
    }
    ASSIGN_OR_RETURN(Node node, Either(0));
    SkipSpace();
    if (at_ != text_.size()) return Wrong("AND, OR or the end");
    return node;
  }

 private:
  [[nodiscard]] Status Wrong(std::string_view expected) const {
    return Status::InvalidArgument("filter, at byte " + std::to_string(at_) + " ('" +
                                   std::string(text_.substr(at_, 20)) + "'): expected " +
                                   std::string(expected));
  }
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool Take(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] std::string_view PeekWord() {
    SkipSpace();
    size_t end = at_;
    while (end < text_.size() &&
           ((text_[end] >= 'A' && text_[end] <= 'Z') || (text_[end] >= 'a' && text_[end] <= 'z')))
      ++end;
    return text_.substr(at_, end - at_);
  }
  bool TakeWord(std::string_view word) {
    if (PeekWord() != word) return false;
    at_ += word.size();
    return true;
  }

  // AND binds more tightly than OR.
  Result<Node> Either(int depth) {
    return Joined(Node::Kind::kOr, "OR",
                  [&] { return Joined(Node::Kind::kAnd, "AND", [&] { return Single(depth); }); });
  }

  template <typename Part>
  Result<Node> Joined(Node::Kind kind, std::string_view word, const Part& part) {
    ASSIGN_OR_RETURN(Node first, part());
    if (PeekWord() != word) return first;
    Node all;
    all.kind = kind;
    all.children.push_back(std::move(first));
    while (TakeWord(word)) {
      ASSIGN_OR_RETURN(all.children.emplace_back(), part());
    }
    return all;
  }

  Result<Node> Single(int depth) {
    if (Take('(')) {
      if (depth == kDepthMax) return Wrong("at most 32 parentheses inside each other");
      ASSIGN_OR_RETURN(Node node, Either(depth + 1));
      if (!Take(')')) return Wrong("')'");
      return node;
    }
    Node node;
    node.name = PeekWord();
    if (node.name.empty()) return Wrong("the name of a filter or '('");
    if (node.name == "SKIP" || node.name == "WHILE")
      return Status::Unsupported("filter: '" + node.name + "' is not supported");
    at_ += node.name.size();
    if (!Take('(')) return Wrong("'(' after '" + node.name + "'");
    if (Take(')')) return node;
    do {
      ASSIGN_OR_RETURN(node.arguments.emplace_back(), OneArgument());
    } while (Take(','));
    if (!Take(')')) return Wrong("',' or ')'");
    return node;
  }

  Result<Argument> OneArgument() {
    SkipSpace();
    Argument argument;
    if (Take('\'')) {
      ASSIGN_OR_RETURN(argument.text, QuotedText());
      return argument;
    }
    using Op = RowFilter::Op;
    constexpr std::pair<std::string_view, Op> kOps[] = {
        {"<=", Op::kLessOrEqual}, {">=", Op::kGreaterOrEqual}, {"!=", Op::kNotEqual},
        {"<", Op::kLess},         {">", Op::kGreater},         {"=", Op::kEqual}};
    for (const auto& [sign, op] : kOps) {
      if (!text_.substr(at_).starts_with(sign)) continue;
      at_ += sign.size();
      argument.kind = Argument::Kind::kOperator;
      argument.op = op;
      return argument;
    }
    for (const bool value : {false, true}) {
      if (!TakeWord(value ? "true" : "false")) continue;
      argument.kind = Argument::Kind::kBool;
      argument.number = value ? 1 : 0;
      return argument;
    }
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), argument.number);
    if (error != std::errc() || end == begin)
      return Wrong("a text in quotation marks, an operator, a number, true or false");
    at_ += static_cast<size_t>(end - begin);
    argument.kind = Argument::Kind::kNumber;
    return argument;
  }

  // The opening quotation mark has already been read.
  Result<Bytes> QuotedText() {
    Bytes bytes;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '\'') {
        if (at_ >= text_.size() || text_[at_] != '\'') return bytes;
        ++at_;
        bytes += c;
      } else if (c != '\\') {
        bytes += c;
      } else if (at_ < text_.size() && text_[at_] == '\\') {
        ++at_;
        bytes += c;
      } else {
        Bytes one;
        if (at_ + 3 > text_.size() || text_[at_] != 'x' || !FromHex(text_.substr(at_ + 1, 2), &one))
          return Wrong("xHH or a backslash after a backslash");
        at_ += 3;
        bytes += one;
      }
    }
    return Wrong("a closing quotation mark");
  }

  const std::string_view text_;
  size_t at_ = 0;
};

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
                                 "' is the second condition on prefixes of columns");
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
  ASSIGN_OR_RETURN(const Node node, Parser(text).Parse());
  return Converter(spec).Convert(node);
}

}  // namespace hg::points
