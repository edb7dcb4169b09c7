#include "tests/support/hbase/gateway_filter.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <map>

#include "storage/base/varint.h"

namespace hg::hbase {
namespace {

// The fields of a protobuf message. Byte fields are references.
struct Message {
  std::multimap<uint64_t, uint64_t> numbers;
  std::multimap<uint64_t, ByteView> bytes;

  [[nodiscard]] ByteView Text(uint64_t field) const {
    const auto it = bytes.find(field);
    return it == bytes.end() ? ByteView() : it->second;
  }
  [[nodiscard]] uint64_t Number(uint64_t field) const {
    const auto it = numbers.find(field);
    return it == numbers.end() ? 0 : it->second;
  }
};

Result<Message> Parse(ByteView in) {
  Message message;
  while (!in.empty()) {
    uint64_t tag = 0;
    uint64_t value = 0;
    if (!GetVarint64(&in, &tag) || !GetVarint64(&in, &value)) {
      return Status::InvalidArgument("a filter that is cut");
    }
    if ((tag & 7) == 0) {
      message.numbers.emplace(tag >> 3, value);
    } else if ((tag & 7) == 2 && value <= in.size()) {
      message.bytes.emplace(tag >> 3, in.substr(0, value));
      in.remove_prefix(value);
    } else {
      return Status::InvalidArgument("a filter with a field of type " + std::to_string(tag & 7));
    }
  }
  return message;
}

struct Named {
  ByteView name;  // without the package
  Message content;
};

Result<Named> ParseNamed(ByteView bytes) {
  constexpr ByteView kPackage = "org.apache.hadoop.hbase.filter.";
  ASSIGN_OR_RETURN(const Message outer, Parse(bytes));
  const ByteView name = outer.Text(1);
  if (!name.starts_with(kPackage)) return Status::Unsupported("filter " + Bytes(name));
  ASSIGN_OR_RETURN(Message content, Parse(outer.Text(2)));
  return Named{name.substr(kPackage.size()), std::move(content)};
}

class Comparator {
 public:
  virtual ~Comparator() = default;
  /// Compares the value with the operand: below, equal, above.
  [[nodiscard]] virtual int Compare(ByteView value) const = 0;
};

class BytesComparator : public Comparator {
 public:
  BytesComparator(ByteView operand, bool prefix) : operand_(operand), prefix_(prefix) {}
  [[nodiscard]] int Compare(ByteView value) const override {
    return (prefix_ ? value.substr(0, operand_.size()) : value).compare(operand_);
  }

 private:
  const Bytes operand_;
  const bool prefix_;
};

// Patterns are sent as UTF-8 and mean the bytes of ISO-8859-1.
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

class RegexComparator : public Comparator {
 public:
  static Result<std::unique_ptr<Comparator>> Make(const Message& content) {
    if (content.Text(3) != "ISO-8859-1") {
      return Status::Unsupported("patterns in " + Bytes(content.Text(3)));
    }
    auto regex = std::make_unique<RegexComparator>();
    const Bytes pattern = Latin1(content.Text(1));
    int error = 0;
    PCRE2_SIZE at = 0;
    regex->code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                     0, &error, &at, nullptr));
    if (!regex->code_) return Status::InvalidArgument("pattern " + pattern);
    regex->match_.reset(pcre2_match_data_create_from_pattern(regex->code_.get(), nullptr));
    return std::unique_ptr<Comparator>(std::move(regex));
  }
  [[nodiscard]] int Compare(ByteView value) const override {
    return pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(value.data()), value.size(), 0, 0,
                       match_.get(), nullptr) >= 0
               ? 0
               : 1;
  }

 private:
  struct FreeCode {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  };
  struct FreeMatch {
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
  };
  std::unique_ptr<pcre2_code, FreeCode> code_;
  std::unique_ptr<pcre2_match_data, FreeMatch> match_;
};

Result<std::unique_ptr<Comparator>> ReadComparator(ByteView bytes) {
  ASSIGN_OR_RETURN(const Named named, ParseNamed(bytes));
  if (named.name == "RegexStringComparator") return RegexComparator::Make(named.content);
  if (named.name != "BinaryComparator" && named.name != "BinaryPrefixComparator") {
    return Status::Unsupported("comparator " + Bytes(named.name));
  }
  ASSIGN_OR_RETURN(const Message inner, Parse(named.content.Text(1)));
  return std::unique_ptr<Comparator>(
      std::make_unique<BytesComparator>(inner.Text(1), named.name == "BinaryPrefixComparator"));
}

// RowFilter and QualifierFilter.
class CompareFilter : public GatewayFilter {
 public:
  CompareFilter(uint64_t op, std::unique_ptr<Comparator> comparator, bool of_row)
      : op_(op), comparator_(std::move(comparator)), of_row_(of_row) {}
  bool Passes(ByteView key, Cell* cell) override {
    const int order = comparator_->Compare(of_row_ ? key : ByteView(cell->qualifier));
    switch (op_) {
      case 0:
        return order < 0;
      case 1:
        return order <= 0;
      case 2:
        return order == 0;
      case 3:
        return order != 0;
      case 4:
        return order >= 0;
      default:
        return order > 0;
    }
  }

 private:
  const uint64_t op_;
  const std::unique_ptr<Comparator> comparator_;
  const bool of_row_;
};

// Follows HBase's peculiarities: a mask without a free byte passes everything, and so does a key
// that ends before the template.
class FuzzyFilter : public GatewayFilter {
 public:
  FuzzyFilter(ByteView key, ByteView mask) : key_(key), mask_(mask) {}
  bool Passes(ByteView key, Cell*) override {
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

class ColumnRangeFilter : public GatewayFilter {
 public:
  explicit ColumnRangeFilter(const Message& content)
      : min_(content.Text(1)),
        max_(content.Text(3)),
        bounded_(content.bytes.contains(3)),
        min_in_(content.Number(2) != 0),
        max_in_(content.Number(4) != 0) {}
  bool Passes(ByteView, Cell* cell) override {
    const ByteView name = cell->qualifier;
    return (min_in_ ? name >= min_ : name > min_) &&
           (!bounded_ || (max_in_ ? name <= max_ : name < max_));
  }

 private:
  const Bytes min_, max_;
  const bool bounded_, min_in_, max_in_;
};

class PrefixesFilter : public GatewayFilter {
 public:
  explicit PrefixesFilter(const Message& content) {
    const auto [begin, end] = content.bytes.equal_range(1);
    for (auto it = begin; it != end; ++it) prefixes_.emplace_back(it->second);
  }
  bool Passes(ByteView, Cell* cell) override {
    return std::any_of(prefixes_.begin(), prefixes_.end(),
                       [&](const Bytes& prefix) { return cell->qualifier.starts_with(prefix); });
  }

 private:
  std::vector<Bytes> prefixes_;
};

class KeyOnlyFilter : public GatewayFilter {
 public:
  bool Passes(ByteView, Cell* cell) override {
    cell->value.clear();
    return true;
  }
};

class FirstKeyOnlyFilter : public GatewayFilter {
 public:
  void StartRow() override { found_ = false; }
  bool Passes(ByteView, Cell*) override { return !std::exchange(found_, true); }

 private:
  bool found_ = false;
};

class FilterList : public GatewayFilter {
 public:
  FilterList(bool all, std::vector<std::unique_ptr<GatewayFilter>> filters)
      : all_(all), filters_(std::move(filters)) {}
  void StartRow() override {
    for (const auto& filter : filters_) filter->StartRow();
  }
  bool Passes(ByteView key, Cell* cell) override {
    bool any = filters_.empty();
    for (const auto& filter : filters_) {
      const bool passes = filter->Passes(key, cell);
      if (all_ && !passes) return false;
      any = any || passes;
    }
    return any;
  }

 private:
  const bool all_;
  const std::vector<std::unique_ptr<GatewayFilter>> filters_;
};

}  // namespace

Result<std::unique_ptr<GatewayFilter>> ReadGatewayFilter(ByteView bytes) {
  using Filter = std::unique_ptr<GatewayFilter>;
  ASSIGN_OR_RETURN(const Named named, ParseNamed(bytes));
  const Message& content = named.content;
  if (named.name == "RowFilter" || named.name == "QualifierFilter") {
    ASSIGN_OR_RETURN(const Message compare, Parse(content.Text(1)));
    ASSIGN_OR_RETURN(auto comparator, ReadComparator(compare.Text(2)));
    return Filter(std::make_unique<CompareFilter>(compare.Number(1), std::move(comparator),
                                                  named.name == "RowFilter"));
  }
  if (named.name == "FuzzyRowFilter") {
    ASSIGN_OR_RETURN(const Message pair, Parse(content.Text(1)));
    return Filter(std::make_unique<FuzzyFilter>(pair.Text(1), pair.Text(2)));
  }
  if (named.name == "ColumnRangeFilter") return Filter(new ColumnRangeFilter(content));
  if (named.name == "MultipleColumnPrefixFilter") return Filter(new PrefixesFilter(content));
  if (named.name == "KeyOnlyFilter") {
    if (!content.numbers.contains(1)) return Status::InvalidArgument("no len_as_val");
    return Filter(new KeyOnlyFilter());
  }
  if (named.name == "FirstKeyOnlyFilter") return Filter(new FirstKeyOnlyFilter());
  if (named.name == "FilterList") {
    std::vector<Filter> filters;
    const auto [begin, end] = content.bytes.equal_range(2);
    for (auto it = begin; it != end; ++it) {
      ASSIGN_OR_RETURN(Filter filter, ReadGatewayFilter(it->second));
      filters.push_back(std::move(filter));
    }
    return Filter(std::make_unique<FilterList>(content.Number(1) == 1, std::move(filters)));
  }
  return Status::Unsupported("filter " + Bytes(named.name));
}

}  // namespace hg::hbase
