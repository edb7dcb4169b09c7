// The complete program over a store in memory: the same commands and results as tsdb, without an
// engine. Its data is written to a file in tsd.storage.path at a clean stop and read at the next
// start. There is no log, so nothing survives a crash. If tsdb and this program differ on a
// recorded suite, the engine is wrong. If both fail, the code above the store is wrong.

#include <iostream>

#include "tests/support/model_backend.h"
#include "tsd/program.h"

int main(int argc, char** argv) {
  return hg::tsd::RunProgram({argv + 1, argv + argc}, hg::tsd::OpenModelBackend, std::cin,
                             std::cout, std::cerr);
}
