#pragma once
// Runs commands of the program `tsdb` with the ModelStore as the store.

#include "tests/support/model_backend.h"
#include "tests/support/tool_program.h"

namespace hg::tsd {

class ModelProgram : public ToolProgram {
 public:
  explicit ModelProgram(const std::string& settings = "")
      : ToolProgram(OpenModelBackend, settings) {}
};

}  // namespace hg::tsd
