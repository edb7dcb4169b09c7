#pragma once
// Random histories. A history makes the same operations on the engine and on the model (cell store
// and point store). Between the operations, the history flushes, merges, restarts the engine,
// deletes old files and advances the clock. If engine and model differ, the history is reduced to
// the steps that are needed for the difference.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hg {

struct HistoryOptions {
  uint64_t seed = 1;
  uint64_t steps = 100'000;
  /// If true, row deletes are made on the model but not on the engine. Tests use this option to
  /// check that RunHistory finds the difference.
  bool forget_row_deletes = false;
};

/// A difference between engine and model, and the steps of the history that lead to this
/// difference.
struct HistoryFailure {
  /// Numbers of the steps that are needed for the difference, ascending.
  std::vector<uint64_t> steps;
  std::string text;  // one line of text for each of these steps, and then the difference
};

/// Runs the operations of a history on the engine and on a model of it. Returns the first
/// difference between the two, or nullopt. The operation of a step depends only on the seed and on
/// the number of the step, so any selection of steps is also a history.
std::optional<HistoryFailure> RunHistory(const HistoryOptions& options);

}  // namespace hg
