#include "query/buckets/rate.h"

#include <bit>
#include <string>

namespace hg::query {
namespace {

struct RateValue {
  uint64_t bits = 0;
  bool is_double = false;

  [[nodiscard]] double as_double() const {
    return is_double ? std::bit_cast<double>(bits)
                     : static_cast<double>(static_cast<int64_t>(bits));
  }
};

}  // namespace

Status ApplyRate(const RateOptions& options, PointColumns* points) {
  size_t out = 0;
  int64_t t0 = 0;
  RateValue v0;
  for (size_t i = 0; i < points->size(); ++i) {
    int64_t t1 = points->time_ms[i];
    RateValue v1{points->bits[i], points->double_at(i)};
    if (t1 <= t0) {
      return Status::InvalidArgument(
          "Next timestamp (" + std::to_string(t1) +
          ") is supposed to be strictly greater than the previous one (" + std::to_string(t0) +
          "), but it's not.");
    }
    double seconds = static_cast<double>(t1 - t0) / 1000.0;
    bool ints = !v0.is_double && !v1.is_double;
    double difference = ints ? static_cast<double>(static_cast<int64_t>(v1.bits - v0.bits))
                             : v1.as_double() - v0.as_double();
    double rate = difference / seconds;
    bool drop = false;
    if (options.counter && difference < 0) {
      drop = options.drop_resets;
      uint64_t max = static_cast<uint64_t>(options.counter_max);
      difference = ints
                       ? static_cast<double>(static_cast<int64_t>(max - v0.bits + v1.bits))
                       : static_cast<double>(options.counter_max) - v0.as_double() + v1.as_double();
      rate = difference / seconds;
      if (options.reset_value > 0 && rate > static_cast<double>(options.reset_value)) rate = 0.0;
    }
    t0 = t1;
    v0 = v1;
    if (drop) continue;
    points->time_ms[out] = t1;
    points->bits[out++] = std::bit_cast<uint64_t>(rate);
  }
  points->time_ms.resize(out);
  points->bits.resize(out);
  points->kinds.clear();
  points->all_double = true;
  return {};
}

}  // namespace hg::query
