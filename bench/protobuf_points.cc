#include "bench/protobuf_points.h"

#include <bit>

#include "storage/base/sized_bytes.h"
#include "storage/base/varint.h"

namespace hg::bench {
namespace {

enum WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2 };

constexpr size_t kRemoteTimeBytes = 6;  // bytes of a varint of milliseconds from 1971 to 2109
constexpr size_t kFixed64Bytes = 8;

void AppendKey(uint8_t field, WireType type, std::string* out) {
  out->push_back(static_cast<char>(field << 3 | type));
}

void AppendBytes(uint8_t field, std::string_view bytes, std::string* out) {
  AppendKey(field, kBytes, out);
  AppendSized(out, bytes);
}

void WriteLittle(char* to, uint64_t number) {
  for (size_t i = 0; i < kFixed64Bytes; ++i, number >>= 8) to[i] = static_cast<char>(number);
}

void AppendDouble(uint8_t field, double value, std::string* out) {
  AppendKey(field, kFixed64, out);
  out->append(kFixed64Bytes, '\0');
  WriteLittle(out->data() + out->size() - kFixed64Bytes, std::bit_cast<uint64_t>(value));
}

}  // namespace

void AppendRemoteLabel(std::string_view name, std::string_view value, std::string* out) {
  std::string label;
  AppendBytes(1, name, &label);
  AppendBytes(2, value, &label);
  AppendBytes(1, label, out);
}

size_t AppendRemoteSeries(std::string_view metric, std::string_view labels, double value,
                          std::string* out) {
  std::string series;
  AppendRemoteLabel("__name__", metric, &series);
  series += labels;
  std::string sample;
  AppendDouble(1, value, &sample);
  AppendKey(2, kVarint, &sample);
  sample.append(kRemoteTimeBytes, '\0');
  AppendBytes(2, sample, &series);
  AppendBytes(1, series, out);
  return out->size() - kRemoteTimeBytes;
}

void WriteRemoteTime(char* to, uint32_t seconds) {
  uint64_t ms = uint64_t{seconds} * 1000;
  for (size_t i = 0; i < kRemoteTimeBytes; ++i, ms >>= 7) {
    to[i] = static_cast<char>((ms & 0x7F) | (i + 1 < kRemoteTimeBytes ? 0x80 : 0));
  }
}

void AppendOtlpAttribute(std::string_view key, std::string_view value, std::string* out) {
  std::string any, attribute;
  AppendBytes(1, value, &any);
  AppendBytes(1, key, &attribute);
  AppendBytes(2, any, &attribute);
  AppendBytes(7, attribute, out);
}

size_t AppendOtlpMetric(std::string_view metric, std::string_view attributes, double value,
                        std::string* out) {
  std::string point(attributes);
  AppendDouble(4, value, &point);
  AppendKey(3, kFixed64, &point);
  point.append(kFixed64Bytes, '\0');
  std::string gauge, message;
  AppendBytes(1, point, &gauge);
  AppendBytes(1, metric, &message);
  AppendBytes(5, gauge, &message);
  AppendBytes(2, message, out);
  return out->size() - kFixed64Bytes;
}

void WriteOtlpTime(char* to, uint32_t seconds) { WriteLittle(to, seconds * 1'000'000'000ULL); }

std::string OtlpHead(size_t metrics_bytes) {
  const auto opening = [](uint8_t field, size_t bytes) {
    std::string head;
    AppendKey(field, kBytes, &head);
    AppendVarint(&head, bytes);
    return head;
  };
  const std::string scope = opening(2, metrics_bytes);
  return opening(1, scope.size() + metrics_bytes) + scope;
}

}  // namespace hg::bench
