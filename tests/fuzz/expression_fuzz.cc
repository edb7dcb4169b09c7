// Expressions of queries: compiling and running any text ends within its limits.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "query/expression/gexp.h"
#include "query/expression/limits.h"
#include "query/expression/program.h"
#include "storage/base/invariant.h"

namespace hg::query {
namespace {

void Language(std::string_view text) {
  const Result<Program> program = CompileExpression(text);
  if (!program.ok()) {
    INVARIANT(!program.status().message().empty());
    return;
  }
  INVARIANT(text.size() <= kExpressionBytesMax && !program->variables.empty());
  Evaluator evaluator(*program);
  std::vector<double> inputs;
  for (size_t i = 0; i < program->variables.size(); ++i) {
    inputs.push_back(i % 2 == 0 ? 2.5 : -1.0);
  }
  double first = 0, second = 0;
  const Status once = evaluator.Run(inputs, &first);
  const Status again = evaluator.Run(inputs, &second);
  INVARIANT(once.ok() == again.ok());
  INVARIANT(!once.ok() || first == second || (first != first && second != second));
}

void Functions(std::string_view text) {
  std::vector<std::string> metrics;
  const Result<GexpCall> call = ParseGexp(text, &metrics);
  INVARIANT(!call.ok() || !call->arguments.empty());
}

}  // namespace
}  // namespace hg::query

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  hg::query::Language(text);
  hg::query::Functions(text);
  return 0;
}
