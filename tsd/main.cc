// tsdb: the program over the embedded store.

#include <iostream>

#include "tsd/embedded_backend.h"
#include "tsd/program.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  return hg::tsd::RunProgram({argv + 1, argv + argc}, hg::tsd::OpenEmbeddedBackend, std::cin,
                             std::cout, std::cerr);
}
