#pragma once
// Random histories: operations on the engine's cell store and point store, and the same on the
// model. Flushes, merges, reopening, file drops by age and clock steps come between them. A failing
// history is shrunk to the steps that are needed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hg {

struct HistoryOptions {
  uint64_t seed = 1;
  uint64_t steps = 100'000;
  /// To test the test itself: the engine does not get row deletes.
  bool forget_row_deletes = false;
};

/// A difference between engine and model.
struct HistoryFailure {
  std::vector<uint64_t> steps;  // numbers of the steps needed to reproduce it, ascending
  std::string text;             // one line for each of these steps, then the difference
};

/// Returns no value if there is no difference. Each step's operation depends only on the seed and
/// its number, so any subset of a history is also a history.
std::optional<HistoryFailure> RunHistory(const HistoryOptions& options);

}  // namespace hg
