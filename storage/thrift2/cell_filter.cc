#include "storage/thrift2/cell_filter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "storage/base/varint.h"
#include "storage/model/utf8.h"
#include "storage/model/watched_regex.h"
#include "storage/points/filter_row.h"

namespace hg::thrift2 {
namespace {

// The work of filters, in the steps of a request.
constexpr uint64_t kStepsPerPatternByte = 4;
constexpr size_t kBytesPerStep = 16;

// The fields of a protobuf message. Byte fields are references.
class Message {
 public:
  void Add(uint64_t field, uint64_t number) { numbers_.emplace_back(field, number); }
  void Add(uint64_t field, ByteView bytes) { bytes_.emplace_back(field, bytes); }

  // Of several fields with one number, the following functions return the first.
  [[nodiscard]] ByteView Text(uint64_t field) const { return Find(bytes_, field).value_or(""); }
  [[nodiscard]] uint64_t Number(uint64_t field) const { return Find(numbers_, field).value_or(0); }
  [[nodiscard]] bool HasText(uint64_t field) const { return Find(bytes_, field).has_value(); }
  [[nodiscard]] bool HasNumber(uint64_t field) const { return Find(numbers_, field).has_value(); }
  /// Calls visit(bytes) for each field with this number, until one call fails.
  template <typename Visit>
  Status ForEach(uint64_t field, const Visit& visit) const {
    for (const auto& [number, bytes] : bytes_) {
      if (number == field) RETURN_IF_ERROR(visit(bytes));
    }
    return {};
  }

 private:
  template <typename Value>
  using Fields = std::vector<std::pair<uint64_t, Value>>;
  template <typename Value>
  static std::optional<Value> Find(const Fields<Value>& fields, uint64_t field) {
    const auto it = std::find_if(fields.begin(), fields.end(),
                                 [field](const auto& one) { return one.first == field; });
    return it == fields.end() ? std::nullopt : std::optional<Value>(it->second);
  }

  Fields<uint64_t> numbers_;
  Fields<ByteView> bytes_;
};

// Maximum memory of the regular expressions of one filter. Each expression counts kFormsOfRegex
// times, because a match may also need it in two other compiled forms.
constexpr size_t kRegexBytesMax = 8 << 20;
constexpr size_t kFormsOfRegex = 4;

// What the rest of a filter may still take.
struct Budget {
  size_t fields = kFilterFieldsMax;
  size_t regex_bytes = kRegexBytesMax;
};

Result<Message> Parse(ByteView in, Budget* budget) {
  Message message;
  while (!in.empty()) {
    if (budget->fields-- == 0) {
      budget->fields = 0;
      return Status::LimitExceeded("the filter has more than " + std::to_string(kFilterFieldsMax) +
                                   " fields");
    }
    uint64_t tag = 0;
    uint64_t value = 0;
    if (!GetVarint64(&in, &tag) || !GetVarint64(&in, &value)) {
      return Status::InvalidArgument("a filter is cut short");
    }
    if ((tag & 7) == 0) {
      message.Add(tag >> 3, value);
    } else if ((tag & 7) == 2 && value <= in.size()) {
      message.Add(tag >> 3, in.substr(0, value));
      in.remove_prefix(value);
    } else {
      return Status::InvalidArgument("a filter has a field of the unsupported type " +
                                     std::to_string(tag & 7));
    }
  }
  return message;
}

struct Named {
  ByteView name;  // without the package
  Message content;
};

Result<Named> ParseNamed(ByteView bytes, Budget* budget) {
  constexpr ByteView kPackage = "org.apache.hadoop.hbase.filter.";
  ASSIGN_OR_RETURN(const Message outer, Parse(bytes, budget));
  const ByteView name = outer.Text(1);
  if (!name.starts_with(kPackage)) return Status::Unsupported("filter " + Bytes(name));
  ASSIGN_OR_RETURN(Message content, Parse(outer.Text(2), budget));
  return Named{name.substr(kPackage.size()), std::move(content)};
}

class Comparator {
 public:
  virtual ~Comparator() = default;
  /// Compares the value with the filter's operand. Returns a negative number if the value is less,
  /// 0 if both are equal, a positive number if the value is greater.
  [[nodiscard]] virtual Result<int> Compare(ByteView value, RequestContext* context) const = 0;
};

class BytesComparator : public Comparator {
 public:
  BytesComparator(ByteView operand, bool prefix) : operand_(operand), prefix_(prefix) {}
  [[nodiscard]] Result<int> Compare(ByteView value, RequestContext* context) const override {
    RETURN_IF_ERROR(context->Step(1 + std::min(value.size(), operand_.size()) / kBytesPerStep));
    return (prefix_ ? value.substr(0, operand_.size()) : value).compare(operand_);
  }

 private:
  const Bytes operand_;
  const bool prefix_;
};

// Converts a pattern from UTF-8, in which clients send it, to the bytes of ISO-8859-1.
Bytes Latin1(ByteView text) {
  Bytes bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const uint8_t c = ByteAt(text, i);
    if (c < 0x80 || i + 1 == text.size()) {
      bytes.push_back(text[i]);
    } else {
      bytes.push_back(static_cast<char>((c & 0x03) << 6 | (ByteAt(text, ++i) & 0x3F)));
    }
  }
  return bytes;
}

using Regex = std::unique_ptr<const WatchedRegex>;

// Takes the memory of the compiled expression from `bytes_left`.
Result<Regex> CompileRegex(ByteView pattern, uint32_t options, size_t* bytes_left) {
  if (pattern.size() > WatchedRegex::kPatternBytesMax) {
    return Status::LimitExceeded("a pattern has " + std::to_string(pattern.size()) +
                                 " bytes; the maximum is " +
                                 std::to_string(WatchedRegex::kPatternBytesMax));
  }
  auto regex = WatchedRegex::Compile(Bytes(pattern), options, Bytes(pattern));
  if (!regex.ok()) return Prepend(regex.status(), "pattern " + Bytes(pattern));
  const size_t bytes = kFormsOfRegex * (*regex)->bytes();
  if (bytes > *bytes_left) {
    return Status::LimitExceeded("the patterns of the filter take more than " +
                                 std::to_string(kRegexBytesMax) + " bytes");
  }
  *bytes_left -= bytes;
  return regex;
}

class RegexComparator : public Comparator {
 public:
  RegexComparator(Regex regex, bool utf8) : regex_(std::move(regex)), utf8_(utf8) {}
  static Result<std::unique_ptr<Comparator>> Make(const Message& content, Budget* budget) {
    const ByteView charset = content.Text(3);
    const bool utf8 = charset == "UTF-8";
    if (!utf8 && charset != "ISO-8859-1") {
      return Status::Unsupported("charset of a pattern: " + Bytes(charset));
    }
    ASSIGN_OR_RETURN(Bytes pattern, WithFlags(content.Number(2)));
    if (utf8) {
      Bytes text(content.Text(1));
      ReplaceInvalidUtf8(&text);
      pattern += text;
    } else {
      pattern += Latin1(content.Text(1));
    }
    ASSIGN_OR_RETURN(Regex regex, CompileRegex(pattern, utf8 ? uint32_t{WatchedRegex::kUtf8} : 0,
                                               &budget->regex_bytes));
    return std::unique_ptr<Comparator>(std::make_unique<RegexComparator>(std::move(regex), utf8));
  }
  [[nodiscard]] Result<int> Compare(ByteView value, RequestContext* context) const override {
    RETURN_IF_ERROR(context->Step(1 + (utf8_ ? value.size() / kBytesPerStep : 0)));
    ASSIGN_OR_RETURN(const bool matches, !utf8_ || IsUtf8(value) ? regex_->Search(value, *context)
                                                                 : SearchReplaced(value, context));
    return matches ? 0 : 1;
  }

 private:
  // Returns the beginning of a pattern that stands for flags of java.util.regex.Pattern.
  static Result<Bytes> WithFlags(uint64_t flags) {
    constexpr std::pair<uint64_t, char> kFlags[] = {{2, 'i'}, {8, 'm'}, {32, 's'}};
    Bytes letters;
    for (const auto& [bit, letter] : kFlags) {
      if ((flags & bit) != 0) letters += letter;
      flags &= ~bit;
    }
    if (flags != 0) return Status::Unsupported("flags of a pattern: " + std::to_string(flags));
    return letters.empty() ? letters : "(?" + letters + ")";
  }

  // Like HBase, replaces bytes that are not UTF-8 by U+FFFD before the search.
  [[nodiscard]] Result<bool> SearchReplaced(ByteView value, RequestContext* context) const {
    constexpr int64_t kReplacementBytes = 3;
    MemoryTally memory(context);
    RETURN_IF_ERROR(memory.Add(kReplacementBytes * static_cast<int64_t>(value.size())));
    Bytes text(value);
    ReplaceInvalidUtf8(&text);
    return regex_->Search(text, *context);
  }

  const Regex regex_;
  const bool utf8_;
};

// Ignores the case of ASCII letters.
class SubstringComparator : public Comparator {
 public:
  explicit SubstringComparator(ByteView operand) : operand_(Lower(operand)) {}
  [[nodiscard]] Result<int> Compare(ByteView value, RequestContext* context) const override {
    RETURN_IF_ERROR(context->Step(1 + value.size() / kBytesPerStep));
    return Lower(value).find(operand_) == Bytes::npos ? 1 : 0;
  }

 private:
  static Bytes Lower(ByteView text) {
    Bytes lower(text);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return lower;
  }
  const Bytes operand_;
};

Result<std::unique_ptr<Comparator>> ReadComparator(ByteView bytes, Budget* budget) {
  ASSIGN_OR_RETURN(const Named named, ParseNamed(bytes, budget));
  if (named.name == "RegexStringComparator") return RegexComparator::Make(named.content, budget);
  if (named.name == "SubstringComparator") {
    return std::unique_ptr<Comparator>(
        std::make_unique<SubstringComparator>(named.content.Text(1)));
  }
  if (named.name != "BinaryComparator" && named.name != "BinaryPrefixComparator") {
    return Status::Unsupported("comparator " + Bytes(named.name));
  }
  ASSIGN_OR_RETURN(const Message inner, Parse(named.content.Text(1), budget));
  return std::unique_ptr<Comparator>(
      std::make_unique<BytesComparator>(inner.Text(1), named.name == "BinaryPrefixComparator"));
}

// Implements RowFilter, FamilyFilter, QualifierFilter and ValueFilter.
class CompareFilter : public CellFilter {
 public:
  enum class Of : uint8_t { kRow, kFamily, kQualifier, kValue };

  CompareFilter(RowFilter::Op op, std::unique_ptr<Comparator> comparator, Of of)
      : op_(op), comparator_(std::move(comparator)), of_(of) {}
  void StartRow() override { row_passes_.reset(); }
  Result<bool> Passes(ByteView key, Cell* cell, RequestContext* context) override {
    RETURN_IF_ERROR(context->Step(1));
    if (row_passes_) return *row_passes_;
    const std::array<ByteView, 4> values = {key, cell->family, cell->qualifier, cell->value};
    ASSIGN_OR_RETURN(const int order,
                     comparator_->Compare(values[static_cast<size_t>(of_)], context));
    const bool passes = points::Holds(op_, order);
    if (of_ == Of::kRow) row_passes_ = passes;
    return passes;
  }

 private:
  const RowFilter::Op op_;
  const std::unique_ptr<Comparator> comparator_;
  const Of of_;
  std::optional<bool> row_passes_;  // result of a filter for rows, once it is known
};

// Follows HBase's peculiarities. With a mask without a free byte, all keys pass. For a key that is
// shorter than the template, only the beginning of the template is compared.
class FuzzyFilter : public CellFilter {
 public:
  FuzzyFilter(ByteView key, ByteView mask) : key_(key), mask_(mask) {}
  Result<bool> Passes(ByteView key, Cell*, RequestContext* context) override {
    RETURN_IF_ERROR(context->Step(1 + mask_.size() / kBytesPerStep));
    if (mask_.find('\1') == Bytes::npos) return true;
    for (size_t i = 0; i < std::min(key.size(), key_.size()); ++i) {
      if (mask_[i] == 0 && key[i] != key_[i]) return false;
    }
    return true;
  }

 private:
  const Bytes key_;
  const Bytes mask_;
};

class ColumnRangeFilter : public CellFilter {
 public:
  explicit ColumnRangeFilter(const Message& content)
      : min_(content.Text(1)),
        max_(content.Text(3)),
        bounded_(content.HasText(3)),
        min_in_(content.Number(2) != 0),
        max_in_(content.Number(4) != 0) {}
  Result<bool> Passes(ByteView, Cell* cell, RequestContext* context) override {
    RETURN_IF_ERROR(context->Step(1));
    const ByteView name = cell->qualifier;
    return (min_in_ ? name >= min_ : name > min_) &&
           (!bounded_ || (max_in_ ? name <= max_ : name < max_));
  }

 private:
  const Bytes min_, max_;
  const bool bounded_, min_in_, max_in_;
};

class PrefixesFilter : public CellFilter {
 public:
  explicit PrefixesFilter(const Message& content) {
    (void)content.ForEach(1, [&](ByteView prefix) {
      prefixes_.emplace_back(prefix);
      return Status();
    });
  }
  Result<bool> Passes(ByteView, Cell* cell, RequestContext* context) override {
    RETURN_IF_ERROR(context->Step(1 + prefixes_.size()));
    return std::any_of(prefixes_.begin(), prefixes_.end(),
                       [&](const Bytes& prefix) { return cell->qualifier.starts_with(prefix); });
  }

 private:
  std::vector<Bytes> prefixes_;
};

// Implements PrefixFilter and ColumnPrefixFilter.
class PrefixFilter : public CellFilter {
 public:
  PrefixFilter(ByteView prefix, bool of_row) : prefix_(prefix), of_row_(of_row) {}
  Result<bool> Passes(ByteView key, Cell* cell, RequestContext* context) override {
    RETURN_IF_ERROR(context->Step(1));
    return (of_row_ ? key : ByteView(cell->qualifier)).starts_with(prefix_);
  }

 private:
  const Bytes prefix_;
  const bool of_row_;
};

// Returns cells without values, or with their lengths as values.
class KeyOnlyFilter : public CellFilter {
 public:
  explicit KeyOnlyFilter(bool lengths) : lengths_(lengths) {}
  Result<bool> Passes(ByteView, Cell* cell, RequestContext* context) override {
    RETURN_IF_ERROR(context->Step(1));
    const size_t length = cell->value.size();
    cell->value.clear();
    if (lengths_) AppendBig(&cell->value, length, 4);
    return true;
  }

 private:
  const bool lengths_;
};

class FirstKeyOnlyFilter : public CellFilter {
 public:
  void StartRow() override { found_ = false; }
  Result<bool> Passes(ByteView, Cell*, RequestContext* context) override {
    RETURN_IF_ERROR(context->Step(1));
    return !std::exchange(found_, true);
  }

 private:
  bool found_ = false;
};

class FilterList : public CellFilter {
 public:
  FilterList(bool all, std::vector<std::unique_ptr<CellFilter>> filters)
      : all_(all), filters_(std::move(filters)) {}
  void StartRow() override {
    for (const auto& filter : filters_) filter->StartRow();
  }
  Result<bool> Passes(ByteView key, Cell* cell, RequestContext* context) override {
    RETURN_IF_ERROR(context->Step(1));
    bool any = filters_.empty();
    for (const auto& filter : filters_) {
      ASSIGN_OR_RETURN(const bool passes, filter->Passes(key, cell, context));
      if (all_ && !passes) return false;
      any = any || passes;
    }
    return any;
  }

 private:
  const bool all_;
  const std::vector<std::unique_ptr<CellFilter>> filters_;
};

std::optional<CompareFilter::Of> ComparedBy(ByteView name) {
  using Of = CompareFilter::Of;
  if (name == "RowFilter") return Of::kRow;
  if (name == "FamilyFilter") return Of::kFamily;
  if (name == "QualifierFilter") return Of::kQualifier;
  if (name == "ValueFilter") return Of::kValue;
  return std::nullopt;
}

Result<std::unique_ptr<CellFilter>> Read(ByteView bytes, int depth, Budget* budget) {
  using Filter = std::unique_ptr<CellFilter>;
  if (depth > kFilterDepthMax) return Status::LimitExceeded("filters are nested too deeply");
  ASSIGN_OR_RETURN(const Named named, ParseNamed(bytes, budget));
  const Message& content = named.content;
  if (const auto of = ComparedBy(named.name)) {
    ASSIGN_OR_RETURN(const Message compare, Parse(content.Text(1), budget));
    ASSIGN_OR_RETURN(auto comparator, ReadComparator(compare.Text(2), budget));
    // RowFilter::Op has the same numbers as HBase's operators. A client may send any number.
    const auto op = static_cast<RowFilter::Op>(
        std::min<uint64_t>(compare.Number(1), static_cast<uint64_t>(RowFilter::Op::kGreater)));
    return Filter(std::make_unique<CompareFilter>(op, std::move(comparator), *of));
  }
  if (named.name == "FuzzyRowFilter") {
    std::vector<Filter> templates;
    RETURN_IF_ERROR(content.ForEach(1, [&](ByteView bytes_of_pair) -> Status {
      ASSIGN_OR_RETURN(const Message pair, Parse(bytes_of_pair, budget));
      if (pair.Text(1).size() != pair.Text(2).size()) {
        return Status::InvalidArgument("a fuzzy filter has a mask of another length than its key");
      }
      templates.push_back(std::make_unique<FuzzyFilter>(pair.Text(1), pair.Text(2)));
      return {};
    }));
    return Filter(std::make_unique<FilterList>(false, std::move(templates)));
  }
  if (named.name == "ColumnRangeFilter") {
    return Filter(std::make_unique<ColumnRangeFilter>(content));
  }
  if (named.name == "MultipleColumnPrefixFilter") {
    return Filter(std::make_unique<PrefixesFilter>(content));
  }
  if (named.name == "PrefixFilter" || named.name == "ColumnPrefixFilter") {
    return Filter(std::make_unique<PrefixFilter>(content.Text(1), named.name == "PrefixFilter"));
  }
  if (named.name == "KeyOnlyFilter") {
    if (!content.HasNumber(1)) return Status::InvalidArgument("len_as_val is missing");
    return Filter(std::make_unique<KeyOnlyFilter>(content.Number(1) != 0));
  }
  if (named.name == "FirstKeyOnlyFilter") return Filter(std::make_unique<FirstKeyOnlyFilter>());
  if (named.name == "FilterList") {
    std::vector<Filter> filters;
    RETURN_IF_ERROR(content.ForEach(2, [&](ByteView bytes_of_filter) -> Status {
      ASSIGN_OR_RETURN(Filter filter, Read(bytes_of_filter, depth + 1, budget));
      filters.push_back(std::move(filter));
      return {};
    }));
    return Filter(std::make_unique<FilterList>(content.Number(1) == 1, std::move(filters)));
  }
  return Status::Unsupported("filter " + Bytes(named.name));
}

}  // namespace

Result<std::unique_ptr<CellFilter>> ReadCellFilter(ByteView bytes) {
  if (bytes.size() > kFilterBytesMax) {
    return Status::LimitExceeded("the filter has " + std::to_string(bytes.size()) +
                                 " bytes; the maximum is " + std::to_string(kFilterBytesMax));
  }
  Budget budget;
  return Read(bytes, 0, &budget);
}

Result<bool> MatchesWhole(ByteView pattern, ByteView text, RequestContext* context) {
  size_t bytes_left = kRegexBytesMax;
  ASSIGN_OR_RETURN(const Regex regex, CompileRegex(pattern, WatchedRegex::kWholeText, &bytes_left));
  RETURN_IF_ERROR(context->Step(kStepsPerPatternByte * (1 + pattern.size())));
  return regex->Search(text, *context);
}

}  // namespace hg::thrift2
