#pragma once
// Random histories. A history makes the same operations on the engine and on the model (cell store
// and point store). Between the operations there are flushes, merges, restarts, deletions of old
// files, and steps of the clock. If engine and model differ, the history is reduced to the steps
// that are needed for the difference.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hg {

struct HistoryOptions {
  uint64_t seed = 1;
  uint64_t steps = 100'000;
  /// If true, the engine does not get row deletes. Tests use this to check that RunHistory finds
  /// the difference.
  bool forget_row_deletes = false;
};

/// A difference between engine and model, and the steps of the history that lead to this
/// difference.
struct HistoryFailure {
  std::vector<uint64_t> steps;  // numbers of the steps needed for the difference, ascending
  std::string text;             // one line of text for each of these steps, and then the difference
};

/// Runs a history. Returns nullopt if engine and model do not differ. The operation of a step
/// depends only on the seed and on the number of the step, so any subset of a history is also a
/// history.
std::optional<HistoryFailure> RunHistory(const HistoryOptions& options);

}  // namespace hg
