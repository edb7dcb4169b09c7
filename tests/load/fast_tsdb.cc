// The complete program with the embedded engine, whose clock runs faster than the machine's. So
// hours of flushes, merges and expiry can be observed in minutes (pace.py).
//
// HOURGLASS_CLOCK="BEGIN AT FACTOR": the engine's clock shows BEGIN (s) when the machine's shows AT
// (s), and runs FACTOR times as fast. Durations, such as the pace of merges, are those of the
// machine.

#include <cstdlib>
#include <iostream>
#include <sstream>

#include "tests/support/fast_clock.h"
#include "tsd/embedded_backend.h"
#include "tsd/program.h"

int main(int argc, char** argv) {
  const char* text = std::getenv("HOURGLASS_CLOCK");
  std::istringstream words(text != nullptr ? text : "");
  int64_t begin_s = 0, at_s = 0, factor = 0;
  if (!(words >> begin_s >> at_s >> factor) || factor < 1) {
    std::cerr << "HOURGLASS_CLOCK is not \"BEGIN AT FACTOR\"\n";
    return 2;
  }
  const hg::FastClock clock(begin_s * 1000, at_s * 1000, factor);
  const auto open = [&clock](const hg::tsd::Config& config, const std::string& who,
                             hg::tsd::StoreUse use) {
    return hg::tsd::OpenEmbeddedBackendBy(clock, config, who, use);
  };
  return hg::tsd::RunProgram({argv + 1, argv + argc}, open, std::cin, std::cout, std::cerr);
}
