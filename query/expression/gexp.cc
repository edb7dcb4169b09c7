#include "query/expression/gexp.h"

#include <utility>

#include "query/expression/limits.h"
#include "storage/base/status.h"

namespace hg::query {
namespace {

constexpr std::pair<std::string_view, GexpFunction> kFunctions[] = {
    {"absolute", GexpFunction::kAbsolute},
    {"scale", GexpFunction::kScale},
    {"alias", GexpFunction::kAlias},
    {"movingAverage", GexpFunction::kMovingAverage},
    {"highestMax", GexpFunction::kHighestMax},
    {"highestCurrent", GexpFunction::kHighestCurrent},
    {"shift", GexpFunction::kShift},
    {"timeShift", GexpFunction::kShift},
    {"sumSeries", GexpFunction::kSum},
    {"sum", GexpFunction::kSum},
    {"diffSeries", GexpFunction::kDifference},
    {"difference", GexpFunction::kDifference},
    {"multiplySeries", GexpFunction::kMultiply},
    {"multiply", GexpFunction::kMultiply},
    {"divideSeries", GexpFunction::kDivide},
    {"divide", GexpFunction::kDivide},
};

/// Maximum number of colons in the text of a metric: aggregator, two options, metric.
constexpr int kColonsMax = 3;

bool IsNameByte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c != '\0' && std::string_view("-_#/$@|.'][").find(c) != std::string_view::npos);
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<std::string>* metrics)
      : text_(text), metrics_(*metrics) {}

  // Parses the outermost call. Text after it is ignored.
  Result<GexpCall> Run() {
    ASSIGN_OR_RETURN(std::string name, Name());
    return Call(std::move(name), 1);
  }

 private:
  char Now() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Now() != c) return false;
    ++at_;
    return true;
  }
  Status Failed(std::string_view expected) {
    constexpr size_t kShownMax = 200;
    return Status::Unsupported("Failed to parse " + Shortened(text_, kShownMax) + ": expected " +
                               std::string(expected) + " at byte " + std::to_string(at_));
  }
  Status Expect(char c) { return Take(c) ? Status() : Failed("'" + std::string(1, c) + "'"); }

  Result<std::string> Name() {
    if (Take('*')) return std::string("*");
    if (!IsNameByte(Now())) return Failed("a name");
    size_t begin = at_;
    while (at_ < text_.size() && IsNameByte(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<GexpCall> Call(std::string name, int depth) {
    if (depth > kExpressionNestingMax) {
      return Status::Unsupported("More than " + std::to_string(kExpressionNestingMax) +
                                 " functions inside each other");
    }
    GexpCall out;
    out.name = std::move(name);
    RETURN_IF_ERROR(Expect('('));
    do {
      ASSIGN_OR_RETURN(GexpArgument argument, Argument(depth));
      out.arguments.push_back(std::move(argument));
    } while (Take(','));
    RETURN_IF_ERROR(Expect(')'));
    for (auto [known, function] : kFunctions) {
      if (out.name != known) continue;
      out.function = function;
      return out;
    }
    return Status::Unsupported("Function " + out.name + " has not been implemented");
  }

  Result<GexpArgument> Argument(int depth) {
    ASSIGN_OR_RETURN(std::string name, Name());
    if (Now() == '(') {
      ASSIGN_OR_RETURN(GexpCall call, Call(std::move(name), depth + 1));
      return GexpArgument(std::move(call));
    }
    if (Now() != ':') return GexpArgument(GexpScalar{std::move(name)});
    for (int colons = 0; Take(':'); ++colons) {
      if (colons == kColonsMax) return Failed("no more than three ':'");
      ASSIGN_OR_RETURN(std::string part, Name());
      name += ":" + part;
    }
    if (Now() == '{') RETURN_IF_ERROR(Tags(&name));
    metrics_.push_back(std::move(name));
    return GexpArgument(GexpMetric{metrics_.size() - 1});
  }

  Status Tags(std::string* metric) {
    char before = '{';
    while (Take(before)) {
      ASSIGN_OR_RETURN(std::string key, Name());
      RETURN_IF_ERROR(Expect('='));
      ASSIGN_OR_RETURN(std::string value, Name());
      *metric += before + key + "=" + value;
      before = ',';
    }
    *metric += '}';
    return Expect('}');
  }

  std::string_view text_;
  std::vector<std::string>& metrics_;
  size_t at_ = 0;
};

}  // namespace

Result<GexpCall> ParseGexp(std::string_view text, std::vector<std::string>* metrics) {
  if (text.size() > kExpressionBytesMax) {
    return Status::Unsupported("The expression is longer than " +
                               std::to_string(kExpressionBytesMax) + " bytes");
  }
  return Parser(text, metrics).Run();
}

}  // namespace hg::query
