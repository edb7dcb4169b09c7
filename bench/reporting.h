#pragma once
// Prints the latencies that a benchmark client has measured. The last line of a client's output
// consists of pairs of a name and a number, which scripts parse.

#include <cstdio>
#include <fstream>
#include <string>

#include "bench/histogram.h"
#include "bench/measuring.h"

namespace hg::bench {

inline double Micros(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

/// Prints "median_us 1.0 p99_us 2.0 p999_us 3.0 max_us 4.0" without a line end. The numbers are the
/// median, the percentiles 99 and 99.9, and the maximum, in microseconds.
inline void PrintLatencies(const Histogram& latencies) {
  std::printf("median_us %.1f p99_us %.1f p999_us %.1f max_us %.1f",
              Micros(latencies.Quantile(0.5)), Micros(latencies.Quantile(0.99)),
              Micros(latencies.Quantile(0.999)), Micros(latencies.max()));
}

/// Writes one line "microseconds count" to `file` for each bucket of the histogram that is not
/// empty. "microseconds" is the smallest value of the bucket.
inline void WriteHistogram(const Histogram& latencies, const std::string& file) {
  std::ofstream out(file);
  latencies.Each(
      [&](uint64_t least, uint64_t count) { out << Micros(least) << ' ' << count << '\n'; });
  if (!out) Die("cannot write " + file);
}

}  // namespace hg::bench
