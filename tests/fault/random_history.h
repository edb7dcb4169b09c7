#pragma once
// Random histories. A history makes the same operations on the engine and on the model (cell store
// and point store). Flushes, merges, restarts, file drops by age and clock steps come between. If a
// history fails, it is reduced to the steps that are needed for the failure.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hg {

struct HistoryOptions {
  uint64_t seed = 1;
  uint64_t steps = 100'000;
  /// If true, the engine gets no row deletes, so that tests can check that RunHistory notices it.
  bool forget_row_deletes = false;
};

/// A difference between engine and model, and the steps that lead to it.
struct HistoryFailure {
  std::vector<uint64_t> steps;  // numbers of the steps needed to reproduce it, ascending
  std::string text;             // one line for each of these steps, then the difference
};

/// Returns nullopt if engine and model do not differ. The operation of a step depends only on the
/// seed and the number of the step, so any subset of a history is also a history.
std::optional<HistoryFailure> RunHistory(const HistoryOptions& options);

}  // namespace hg
