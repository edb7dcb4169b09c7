// The main program tsdb. It opens the storage engine that the settings select.

#include <iostream>

#include "tsd/open_backend.h"
#include "tsd/program.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  return hg::tsd::RunProgram({argv + 1, argv + argc}, hg::tsd::OpenBackendOrBeside, std::cin,
                             std::cout, std::cerr);
}
