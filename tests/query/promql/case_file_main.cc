// promql_cases FILE...: prints each case that did not pass, and counts
// (tests/compat/promql/upstream.py).

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/query/promql/case_file.h"

int main(int argc, char** argv) {
  using hg::query::promql::CaseEnd;
  constexpr const char* kWords[] = {"passed", "failed", "unsupported"};
  size_t failed = 0;
  for (int i = 1; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    if (!in) {
      std::fprintf(stderr, "cannot read %s\n", argv[i]);
      return 2;
    }
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    size_t counts[3] = {};
    for (const auto& result : hg::query::promql::RunCases(text)) {
      ++counts[static_cast<size_t>(result.end)];
      if (result.end == CaseEnd::kPassed) continue;
      std::printf("%s\t%s\t%zu\t%s\t%s\n", kWords[static_cast<size_t>(result.end)], argv[i],
                  result.line, result.command.c_str(), result.why.c_str());
    }
    std::printf("counts\t%s\t%zu\t%zu\t%zu\n", argv[i], counts[0], counts[1], counts[2]);
    failed += counts[1];
  }
  return failed > 0 ? 1 : 0;
}
