// The whole program over a store in memory: the same commands as tsdb, the same answers, no engine.
// What it holds is written to a file in tsd.storage.path at a clean stop and read again at the next
// start; there is no log, so nothing survives a crash. An oracle: where tsdb and this differ on a
// recorded suite, the engine is at fault; where both fail, what stands above it.

#include <iostream>

#include "tests/support/model_backend.h"
#include "tsd/program.h"

int main(int argc, char** argv) {
  return hg::tsd::RunProgram({argv + 1, argv + argc}, hg::tsd::OpenModelBackend, std::cin,
                             std::cout, std::cerr);
}
