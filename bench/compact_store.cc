// Flushes and merges everything in a data directory that a daemon has filled, to measure the
// smallest size of its files.
//
//   compact_store FOLDER
//
// The last line has the CPU seconds that the merges took and the bytes of all part files.

#include <CLI/CLI.hpp>
#include <cstdio>

#include "bench/measuring.h"
#include "storage/engine/embedded.h"

using hg::bench::DieUnlessOk;
using hg::bench::ThreadCpuSeconds;

int main(int argc, char** argv) {
  hg::EmbeddedOptions options;
  CLI::App app("Flushes and merges everything in a data directory that no daemon uses.");
  app.add_option("FOLDER", options.path, "data directory")
      ->required()
      ->check(CLI::ExistingDirectory);
  CLI11_PARSE(app, argc, argv);
  options.memory_limit_bytes = uint64_t{8} << 30;
  options.background = false;
  auto store = hg::Embedded::Open(options);
  DieUnlessOk(store.status());
  DieUnlessOk((*store)->cells().Flush());
  const double from = ThreadCpuSeconds();
  DieUnlessOk((*store)->cells().Compact());
  const double merged = ThreadCpuSeconds() - from;
  const auto checked = (*store)->maintenance().Check();
  DieUnlessOk(checked.status());
  if (!checked->damages.empty())
    DieUnlessOk(hg::Status::Corruption(checked->damages[0].ToString()));
  const uint64_t bytes = (*store)->Stats().file_bytes;
  DieUnlessOk((*store)->Close());
  std::printf("merge_seconds %.3f bytes %llu\n", merged, (unsigned long long)bytes);
  return 0;
}
