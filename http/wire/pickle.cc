#include "http/wire/pickle.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/hex_digit.h"
#include "storage/model/number_text.h"
#include "storage/model/utf8.h"

namespace hg::http {
namespace {

/// Maximum objects that a pickle pushes on the stack (five per point) or memoizes. An object that
/// is pushed several times counts each time, so that the number of references is limited, too.
constexpr size_t kPickleNodesMax = 262144;

/// Maximum number of consecutive memo numbers that a pickle may skip. Pickles memoize objects under
/// consecutive numbers.
constexpr uint64_t kNumbersLeftOutMax = 16;
constexpr uint32_t kNowhere = UINT32_MAX;

/// An object of a pickle; a point has five. Nodes own no memory of their own. They refer to each
/// other by index, so that an object that contains itself does no harm.
struct Node {
  enum class Kind : uint8_t { kMark, kNone, kInt, kFloat, kText, kList, kTuple };
  Kind kind = Kind::kNone;
  uint32_t first = 0, count = 0;  // kTuple: range in items_; kList: first is the index in lists_
  int64_t integer = 0;
  double floating = 0;
  std::string_view text = {};  // in the pickle, or in texts_
};

/// Python's pickle machine without the opcodes that call functions or create instances.
class Unpickler {
 public:
  explicit Unpickler(std::string_view pickle) : all_(pickle), rest_(pickle) {}

  /// Returns the index of the root object.
  Result<uint32_t> Run() {
    for (;;) {
      const size_t offset = all_.size() - rest_.size();
      if (rest_.empty()) return Status::InvalidArgument("the pickle ends before its end mark");
      const auto opcode = static_cast<uint8_t>(rest_[0]);
      rest_.remove_prefix(1);
      if (opcode == '.') {
        if (stack_.empty() || nodes_[stack_.back()].kind == Node::Kind::kMark) return Wrong(offset);
        return stack_.back();
      }
      if (!Do(opcode)) return Wrong(offset);
    }
  }

  [[nodiscard]] const Node& at(uint32_t place) const { return nodes_[place]; }
  /// Returns the items of a list or tuple. For other objects the result is empty.
  [[nodiscard]] std::span<const uint32_t> ItemsOf(const Node& node) const {
    if (node.kind == Node::Kind::kList) return lists_[node.first];
    return std::span(items_).subspan(node.first, node.count);
  }

 private:
  [[nodiscard]] Status Wrong(size_t offset) const {
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto byte = static_cast<uint8_t>(all_[offset]);
    return Status::InvalidArgument(
        std::string("byte 0x") + kHex[byte >> 4] + kHex[byte & 15] + " at offset " +
        std::to_string(offset) +
        " of the pickle does not belong to a list of (path, (time, value)) with texts and numbers");
  }

  bool Do(uint8_t opcode) {
    switch (opcode) {
      case 0x80:  // PROTO
        return Skip(1);
      case 0x95:  // FRAME
        return Skip(8);
      case '(':
        return Push({.kind = Node::Kind::kMark});
      case '0':
        return Pop();
      case '1':
        return PopToMark(nullptr);
      case '2':
        return !stack_.empty() && PushAgain(stack_.back());
      case 'N':
        return Push({});
      case ']':
        return PushList({});
      case ')':
        return Push({.kind = Node::Kind::kTuple});
      case 'l':
        return Gather(true);
      case 't':
        return Gather(false);
      case 0x85:  // TUPLE1, TUPLE2, TUPLE3
      case 0x86:
      case 0x87:
        return GatherLast(opcode - 0x84u);
      case 'a':
        return Append();
      case 'e':
        return Appends();
      case 'p':
      case 'g':
        return MemoByText(opcode == 'p');
      case 'q':
      case 'h':
        return MemoByNumber(1, opcode == 'q');
      case 'r':
      case 'j':
        return MemoByNumber(4, opcode == 'r');
      case 0x94:  // MEMOIZE
        return Memo(remembered_, true);
      default:
        return DoScalar(opcode);
    }
  }

  bool DoScalar(uint8_t opcode) {
    switch (opcode) {
      case 'I':
      case 'L':
        return LineInteger();
      case 'F':
        return LineFloat();
      case 'S':
      case 'V':
        return LineText(opcode == 'S');
      case 'J':
        return Integer(4, true);
      case 'K':
        return Integer(1, false);
      case 'M':
        return Integer(2, false);
      case 0x88:  // NEWTRUE, NEWFALSE
      case 0x89:
        return Push({.kind = Node::Kind::kInt, .integer = opcode == 0x88 ? 1 : 0});
      case 0x8a:  // LONG1
        return Long(1);
      case 0x8b:  // LONG4
        return Long(4);
      case 'G':
        return BigEndianFloat();
      case 'U':  // texts, grouped by the width of their length; B, C: bytes
      case 'C':
      case 0x8c:
        return Text(1);
      case 'T':
      case 'X':
      case 'B':
        return Text(4);
      case 0x8d:
        return Text(8);
      default:
        return false;
    }
  }

  bool Take(size_t size, std::string_view* bytes) {
    if (rest_.size() < size) return false;
    *bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool Skip(size_t size) {
    std::string_view unused;
    return Take(size, &unused);
  }
  bool TakeLine(std::string_view* line) {
    const size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return false;
    *line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    if (line->ends_with('\r')) line->remove_suffix(1);
    return true;
  }
  /// Takes a little-endian number of up to eight bytes.
  bool TakeNumber(size_t width, uint64_t* number) {
    std::string_view bytes;
    if (!Take(width, &bytes)) return false;
    *number = 0;
    for (size_t i = width; i-- > 0;) *number = *number << 8 | static_cast<uint8_t>(bytes[i]);
    return true;
  }

  bool Push(Node node) {
    if (!PushAgain(static_cast<uint32_t>(nodes_.size()))) return false;
    nodes_.push_back(std::move(node));
    return true;
  }
  bool PushAgain(uint32_t place) {
    if (pushes_ == kPickleNodesMax) return false;
    ++pushes_;
    stack_.push_back(place);
    return true;
  }
  bool PushInt(int64_t number) { return Push({.kind = Node::Kind::kInt, .integer = number}); }
  bool PushText(std::string_view text) { return Push({.kind = Node::Kind::kText, .text = text}); }
  bool PushList(std::vector<uint32_t> items) {
    lists_.push_back(std::move(items));
    return Push({.kind = Node::Kind::kList, .first = static_cast<uint32_t>(lists_.size() - 1)});
  }
  bool PushTuple(std::span<const uint32_t> items) {
    const auto first = static_cast<uint32_t>(items_.size());
    items_.insert(items_.end(), items.begin(), items.end());
    return Push(
        {.kind = Node::Kind::kTuple, .first = first, .count = static_cast<uint32_t>(items.size())});
  }
  bool Pop() {
    if (stack_.empty()) return false;
    stack_.pop_back();
    return true;
  }

  /// Pops everything above the last mark, and the mark itself.
  bool PopToMark(std::vector<uint32_t>* items) {
    size_t mark = stack_.size();
    while (mark > 0 && nodes_[stack_[mark - 1]].kind != Node::Kind::kMark) --mark;
    if (mark == 0) return false;
    if (items != nullptr)
      items->assign(stack_.begin() + static_cast<ptrdiff_t>(mark), stack_.end());
    stack_.resize(mark - 1);
    return true;
  }
  bool Gather(bool list) {
    std::vector<uint32_t> items;
    if (!PopToMark(&items)) return false;
    return list ? PushList(std::move(items)) : PushTuple(items);
  }
  bool GatherLast(size_t count) {
    if (stack_.size() < count) return false;
    const size_t left = stack_.size() - count;
    const auto first = static_cast<uint32_t>(items_.size());
    items_.insert(items_.end(), stack_.begin() + static_cast<ptrdiff_t>(left), stack_.end());
    stack_.resize(left);
    return Push(
        {.kind = Node::Kind::kTuple, .first = first, .count = static_cast<uint32_t>(count)});
  }
  bool AppendTo(std::span<const uint32_t> items) {
    if (stack_.empty() || nodes_[stack_.back()].kind != Node::Kind::kList) return false;
    std::vector<uint32_t>& list = lists_[nodes_[stack_.back()].first];
    list.insert(list.end(), items.begin(), items.end());
    return true;
  }
  bool Append() {
    if (stack_.empty()) return false;
    const uint32_t item = stack_.back();
    stack_.pop_back();
    return AppendTo({&item, 1});
  }
  bool Appends() {
    std::vector<uint32_t> items;
    return PopToMark(&items) && AppendTo(items);
  }

  bool Memo(uint64_t key, bool put) {
    if (!put) {
      if (key < memo_.size()) return memo_[key] != kNowhere && PushAgain(memo_[key]);
      const auto known = far_memo_.find(key);
      return known != far_memo_.end() && PushAgain(known->second);
    }
    if (stack_.empty() || remembered_ == kPickleNodesMax) return false;
    if (key >= memo_.size() && key - memo_.size() < kNumbersLeftOutMax && far_memo_.empty())
      memo_.resize(static_cast<size_t>(key) + 1, kNowhere);
    uint32_t& place =
        key < memo_.size() ? memo_[key] : far_memo_.try_emplace(key, kNowhere).first->second;
    remembered_ += place == kNowhere ? 1 : 0;
    place = stack_.back();
    return true;
  }
  bool MemoByText(bool put) {
    std::string_view line;
    uint64_t key = 0;
    if (!TakeLine(&line)) return false;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), key);
    return error == std::errc() && stop == line.data() + line.size() && Memo(key, put);
  }
  bool MemoByNumber(size_t width, bool put) {
    uint64_t key = 0;
    return TakeNumber(width, &key) && Memo(key, put);
  }

  bool LineInteger() {
    std::string_view line;
    if (!TakeLine(&line)) return false;
    if (line.ends_with('L')) line.remove_suffix(1);
    int64_t number = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    return error == std::errc() && stop == line.data() + line.size() && PushInt(number);
  }
  bool LineFloat() {
    std::string_view line;
    if (!TakeLine(&line)) return false;
    double number = std::nan("");
    if (line == "inf" || line == "-inf") {
      number = HUGE_VAL;
    } else if (line != "nan" && !ParseJavaDouble(line, &number)) {
      return false;
    }
    return Push({.kind = Node::Kind::kFloat, .floating = number});
  }
  bool Integer(size_t width, bool is_signed) {
    uint64_t number = 0;
    if (!TakeNumber(width, &number)) return false;
    return PushInt(is_signed ? static_cast<int32_t>(number) : static_cast<int64_t>(number));
  }
  /// Takes a little-endian two's complement number of at most 64 bits.
  bool Long(size_t length_width) {
    uint64_t length = 0, number = 0;
    if (!TakeNumber(length_width, &length) || length > 8 || !TakeNumber(length, &number))
      return false;
    if (length > 0 && length < 8 && (number >> (8 * length - 1) & 1) != 0)
      number |= ~uint64_t{0} << 8 * length;
    return PushInt(static_cast<int64_t>(number));
  }
  bool BigEndianFloat() {
    std::string_view bytes;
    if (!Take(8, &bytes)) return false;
    return Push(
        {.kind = Node::Kind::kFloat, .floating = std::bit_cast<double>(ReadBig(bytes.data(), 8))});
  }
  bool Text(size_t length_width) {
    uint64_t length = 0;
    std::string_view bytes;
    return TakeNumber(length_width, &length) && length <= rest_.size() &&
           Take(static_cast<size_t>(length), &bytes) && PushText(bytes);
  }
  /// Takes a text that ends with its line. A quoted text has Python's escapes. A text without
  /// quotes is in Python's encoding "raw-unicode-escape": it has only Unicode escapes, and every
  /// other byte is an ISO-8859-1 character.
  bool LineText(bool quoted) {
    std::string_view line;
    if (!TakeLine(&line)) return false;
    if (quoted) {
      if (line.size() < 2 || line.front() != line.back() ||
          (line.front() != '\'' && line.front() != '"')) {
        return false;
      }
      line = line.substr(1, line.size() - 2);
    }
    std::string text;
    while (!line.empty()) {
      const char c = line[0];
      line.remove_prefix(1);
      if (c == '\\' && TakeEscape(quoted, &line, &text)) continue;
      if (quoted) {
        text += c;
      } else {
        AppendCodePoint(&text, static_cast<uint8_t>(c));
      }
    }
    return PushText(texts_.emplace_back(std::move(text)));
  }
  /// Decodes the characters after a backslash. Returns false if the characters are not an escape.
  static bool TakeEscape(bool quoted, std::string_view* rest, std::string* text) {
    if (rest->empty()) return false;
    const char kind = (*rest)[0];
    size_t digits = 0;
    if (quoted) {
      digits = kind == 'x' ? 2 : 0;
    } else {
      digits = kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    }
    if (digits > 0) {
      if (rest->size() <= digits) return false;
      char32_t code = 0;
      for (size_t i = 1; i <= digits; ++i) {
        const int digit = HexDigit((*rest)[i]);
        if (digit < 0) return false;
        code = code << 4 | static_cast<char32_t>(digit);
      }
      if (code > 0x10FFFF) return false;
      rest->remove_prefix(digits + 1);
      if (quoted) {
        *text += static_cast<char>(code);
      } else {
        AppendCodePoint(text, code);
      }
      return true;
    }
    if (!quoted) return false;
    constexpr std::string_view kKinds = "\\'\"nrt", kMeant = "\\'\"\n\r\t";
    const size_t at = kKinds.find(kind);
    if (at == std::string_view::npos) return false;
    *text += kMeant[at];
    rest->remove_prefix(1);
    return true;
  }

  const std::string_view all_;
  std::string_view rest_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> items_;  // items of tuples
  std::vector<std::vector<uint32_t>> lists_;
  std::deque<std::string> texts_;  // decoded texts, which the pickle contains only in encoded form
  std::vector<uint32_t> stack_;
  size_t pushes_ = 0;
  std::vector<uint32_t> memo_;  // indexed by number; kNowhere: skipped
  // far_memo_ is a map and not a hash table, because a client chooses these numbers and could make
  // hashes collide.
  std::map<uint64_t, uint32_t> far_memo_;
  size_t remembered_ = 0;
};

Status ReadTimeAndValue(const Node& time, const Node& value, Timestamp now, GraphitePoint* point) {
  Status read;
  if (time.kind == Node::Kind::kInt) {
    read = SetGraphiteTime(static_cast<double>(time.integer), now, point);
  } else if (time.kind == Node::Kind::kFloat) {
    read = SetGraphiteTime(time.floating, now, point);
  } else if (time.kind == Node::Kind::kText) {
    read = ReadGraphiteTime(time.text, now, point);
  } else {
    read = Status::InvalidArgument("the time is no number");
  }
  if (!read.ok()) return Prepend(read, point->path);
  if (value.kind == Node::Kind::kInt) {
    point->value = PointValue::Int(value.integer);
  } else if (value.kind == Node::Kind::kFloat && std::isfinite(value.floating)) {
    point->value = PointValue::Double(value.floating);
  } else if (value.kind == Node::Kind::kText) {
    return Prepend(ReadGraphiteValue(value.text, point), point->path);
  } else {
    return Status::InvalidArgument(std::string(point->path) + ": the value is no finite number");
  }
  return {};
}

/// The nodes of a point (path, (time, value)).
struct PointNodes {
  const Node& path;
  const Node& time;
  const Node& value;
};

/// Returns the nodes of an element of the pickle, or none if the element is not a point.
std::optional<PointNodes> PointAt(const Unpickler& pickle, uint32_t place) {
  const std::span<const uint32_t> outer = pickle.ItemsOf(pickle.at(place));
  if (outer.size() != 2 || pickle.at(outer[0]).kind != Node::Kind::kText) return {};
  const std::span<const uint32_t> inner = pickle.ItemsOf(pickle.at(outer[1]));
  if (inner.size() != 2) return {};
  return PointNodes{pickle.at(outer[0]), pickle.at(inner[0]), pickle.at(inner[1])};
}

Status CheckTexts(const Unpickler& pickle, std::span<const uint32_t> places, size_t bytes_max) {
  size_t bytes = 0;
  for (const uint32_t place : places) {
    if (const auto nodes = PointAt(pickle, place))
      bytes += nodes->path.text.size() + nodes->time.text.size() + nodes->value.text.size();
  }
  if (bytes <= bytes_max) return {};
  return Status::InvalidArgument("the texts of the points of a pickle have " +
                                 std::to_string(bytes) + " bytes, more than " +
                                 std::to_string(bytes_max));
}

Status ReadPoint(const Unpickler& pickle, uint32_t place, Timestamp now, GraphitePoint* point) {
  const auto nodes = PointAt(pickle, place);
  if (!nodes)
    return Status::InvalidArgument("an element of the pickle is no (path, (time, value))");
  point->path = nodes->path.text;
  Status read = ReadTimeAndValue(nodes->time, nodes->value, now, point);
  if (!read.ok() || point->path.size() > kGraphitePathBytesMax) {
    // Errors of the path are reported first.
    GraphiteSeries series;
    RETURN_IF_ERROR(ReadGraphitePath(point->path, &series));
  }
  return read;
}

}  // namespace

struct PickledPoints::Parsed {
  Unpickler unpickler;
  Timestamp now;
  std::span<const uint32_t> left = {};  // the elements that Next has not returned yet
};

PickledPoints::PickledPoints(std::unique_ptr<Parsed> parsed) : parsed_(std::move(parsed)) {}
PickledPoints::PickledPoints(PickledPoints&&) noexcept = default;
PickledPoints& PickledPoints::operator=(PickledPoints&&) noexcept = default;
PickledPoints::~PickledPoints() = default;

Result<PickledPoints> PickledPoints::Parse(std::string_view pickle, Timestamp now) {
  auto parsed = std::make_unique<Parsed>(Unpickler(pickle), now);
  Unpickler& unpickler = parsed->unpickler;
  ASSIGN_OR_RETURN(const uint32_t root, unpickler.Run());
  if (unpickler.at(root).kind != Node::Kind::kList && unpickler.at(root).kind != Node::Kind::kTuple)
    return Status::InvalidArgument("the pickle is no list");
  parsed->left = unpickler.ItemsOf(unpickler.at(root));
  RETURN_IF_ERROR(CheckTexts(unpickler, parsed->left, kPickleTextsMax * pickle.size()));
  return PickledPoints(std::move(parsed));
}

std::optional<Result<GraphitePoint>> PickledPoints::Next() {
  if (parsed_->left.empty()) return {};
  const uint32_t place = parsed_->left.front();
  parsed_->left = parsed_->left.subspan(1);
  GraphitePoint point;
  const Status read = ReadPoint(parsed_->unpickler, place, parsed_->now, &point);
  return read.ok() ? Result<GraphitePoint>(point) : read;
}

}  // namespace hg::http
