#include "bench/pickled_points.h"

#include <bit>

#include "storage/base/bytes.h"

namespace hg::bench {
namespace {

constexpr size_t kLengthBytes = 4;
constexpr size_t kDoubleBytes = 8;
// Opcodes of the pickle protocol.
constexpr char kProto = '\x80', kEmptyList = ']', kMark = '(', kText = 'X', kFloat = 'G';
constexpr char kTuple2 = '\x86', kPut = 'q', kLongPut = 'r', kAppends = 'e', kStop = '.';

void AppendLittle32(uint32_t number, std::string* out) {
  for (int i = 0; i < 4; ++i, number >>= 8) out->push_back(static_cast<char>(number));
}

/// Memoizes the last object, as Python does for every object that could be referenced again.
void AppendPut(uint32_t number, std::string* out) {
  out->push_back(number < 256 ? kPut : kLongPut);
  if (number < 256) {
    out->push_back(static_cast<char>(number));
  } else {
    AppendLittle32(number, out);
  }
}

void WriteDouble(char* to, double value) {
  const uint64_t bits = __builtin_bswap64(std::bit_cast<uint64_t>(value));
  std::memcpy(to, &bits, sizeof(bits));
}

size_t AppendDouble(double value, std::string* out) {
  out->push_back(kFloat);
  out->append(kDoubleBytes, '\0');
  WriteDouble(out->data() + out->size() - kDoubleBytes, value);
  return out->size() - kDoubleBytes;
}

}  // namespace

std::string PickleHead() {
  std::string head(kLengthBytes, '\0');
  head += {kProto, 2, kEmptyList};
  AppendPut(0, &head);
  return head + kMark;
}

size_t AppendPickledPoint(std::string_view path, double value, uint32_t number, std::string* out) {
  const uint32_t remembered = 1 + 3 * number;
  out->push_back(kText);
  AppendLittle32(static_cast<uint32_t>(path.size()), out);
  out->append(path);
  AppendPut(remembered, out);
  const size_t time = AppendDouble(0, out);
  AppendDouble(value, out);
  for (uint32_t tuple = 1; tuple <= 2; ++tuple) {
    out->push_back(kTuple2);
    AppendPut(remembered + tuple, out);
  }
  return time;
}

void WritePickledTime(char* to, uint32_t seconds) { WriteDouble(to, seconds); }

void FinishPickle(std::string* frame) {
  *frame += {kAppends, kStop};
  const uint32_t bytes = __builtin_bswap32(static_cast<uint32_t>(frame->size() - kLengthBytes));
  std::memcpy(frame->data(), &bytes, sizeof(bytes));
}

}  // namespace hg::bench
