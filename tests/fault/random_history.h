#pragma once
// Random histories: operations through both doors of the engine, and the same on the model; flush,
// merge, reopening, files that go for their age and steps of the clock between them. A failing
// history is shrunk to the steps that are needed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hg {

struct HistoryOptions {
  uint64_t seed = 1;
  uint64_t steps = 100'000;
  /// For the test of the test: the engine does not get the deletes of rows.
  bool forget_row_deletes = false;
};

/// Where engine and model differ.
struct HistoryFailure {
  std::vector<uint64_t> steps;  // numbers of the steps that are needed, rising
  std::string text;             // these steps, a line each, and the difference
};

/// None: no difference. Every step's operation depends on the seed and its number alone, so that a
/// part of a history is one, too.
std::optional<HistoryFailure> RunHistory(const HistoryOptions& options);

}  // namespace hg
