#include "storage/points/filter_grammar.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "storage/base/invariant.h"

namespace hg::points {
namespace {

bool EqualsIgnoringCase(std::string_view word, std::string_view lower) {
  return std::equal(word.begin(), word.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

class Parser {
 public:
  Parser(std::string_view text, FilterEscapes escapes)
      : text_(text), backslash_(escapes == FilterEscapes::kBackslash) {}

  Result<FilterNode> Parse() {
    if (text_.size() > kFilterTextBytesMax) {
      return Status::LimitExceeded("the filter has " + std::to_string(text_.size()) +
                                   " bytes; the maximum is " + std::to_string(kFilterTextBytesMax));
    }
    ASSIGN_OR_RETURN(FilterNode node, Either(0));
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
  Result<FilterNode> Either(int depth) {
    return Joined(FilterNode::Kind::kOr, "OR", [&] {
      return Joined(FilterNode::Kind::kAnd, "AND", [&] { return Single(depth); });
    });
  }

  template <typename Part>
  Result<FilterNode> Joined(FilterNode::Kind kind, std::string_view word, const Part& part) {
    ASSIGN_OR_RETURN(FilterNode first, part());
    if (PeekWord() != word) return first;
    FilterNode all;
    all.kind = kind;
    all.children.push_back(std::move(first));
    while (TakeWord(word)) {
      const size_t from = at_;
      ASSIGN_OR_RETURN(all.children.emplace_back(), part());
      INVARIANT(at_ > from);
    }
    return all;
  }

  Result<FilterNode> Single(int depth) {
    if (Take('(')) {
      if (depth == kFilterParenthesesMax) {
        return Status::LimitExceeded("filter, at byte " + std::to_string(at_) + ": at most " +
                                     std::to_string(kFilterParenthesesMax) +
                                     " parentheses can be nested");
      }
      ASSIGN_OR_RETURN(FilterNode node, Either(depth + 1));
      if (!Take(')')) return Wrong("')'");
      return node;
    }
    FilterNode node;
    node.name = PeekWord();
    if (node.name.empty()) return Wrong("the name of a filter or '('");
    if (node.name == "SKIP" || node.name == "WHILE")
      return Status::Unsupported("filter: '" + node.name + "' is not supported");
    at_ += node.name.size();
    if (!Take('(')) return Wrong("'(' after '" + node.name + "'");
    if (Take(')')) return node;
    do {
      const size_t from = at_;
      ASSIGN_OR_RETURN(node.arguments.emplace_back(), OneArgument());
      INVARIANT(at_ > from);
    } while (Take(','));
    if (!Take(')')) return Wrong("',' or ')'");
    return node;
  }

  Result<FilterArgument> OneArgument() {
    SkipSpace();
    FilterArgument argument;
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
      argument.kind = FilterArgument::Kind::kOperator;
      argument.op = op;
      return argument;
    }
    for (const bool value : {false, true}) {
      const std::string_view word = PeekWord();
      if (!EqualsIgnoringCase(word, value ? "true" : "false")) continue;
      at_ += word.size();
      argument.kind = FilterArgument::Kind::kBool;
      argument.number = value ? 1 : 0;
      return argument;
    }
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), argument.number);
    if (error != std::errc() || end == begin)
      return Wrong("a text in quotation marks, an operator, a number, true or false");
    at_ += static_cast<size_t>(end - begin);
    argument.kind = FilterArgument::Kind::kNumber;
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
      } else if (!backslash_ || c != '\\') {
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
  const bool backslash_;
  size_t at_ = 0;
};

}  // namespace

Result<FilterNode> ParseFilterText(std::string_view text, FilterEscapes escapes) {
  return Parser(text, escapes).Parse();
}

}  // namespace hg::points
