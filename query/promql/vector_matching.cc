#include "query/promql/vector_matching.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "query/promql/math_functions.h"

namespace hg::query::promql {
namespace {

using Side = Matching::Side;

constexpr size_t kStepsAtOnce = 1024;
constexpr uint64_t kStepsPerIncluded = 16;  // the cost of copying a label

/// Returns the labels that must be equal for two series to match.
Labels Signature(Labels labels, const Matching& matching) {
  if (matching.on) {
    labels.Keep(matching.labels);
  } else {
    labels.Drop(matching.labels);
    labels.RemoveName();
  }
  return labels;
}

/// The indices of the series of both sides with one signature.
struct Match {
  Labels signature;
  std::vector<size_t> left, right;
};

struct Matches {
  std::vector<Match> all;
  MemoryHold memory;
};

/// Finds the series of both sides that match. Charges the matches to `tally` and returns its
/// errors.
Result<Matches> MatchSeries(const Value& left, const Value& right, const Matching& matching,
                            MemoryTally* tally) {
  constexpr int64_t kBytesPerSeries = 2 * sizeof(size_t);  // vectors grow by doubling
  Matches matches;
  SeriesNumbers numbers(tally);
  const auto match_of = [&](const VectorSeries& series) -> Result<Match*> {
    RETURN_IF_ERROR(tally->Step(series.labels.steps()));
    Labels signature = Signature(series.labels, matching);
    ASSIGN_OR_RETURN(const SeriesNumbers::Place place, numbers.Of(signature));
    RETURN_IF_ERROR(matches.memory.Add(tally, kBytesPerSeries));
    if (place.fresh) {
      RETURN_IF_ERROR(
          matches.memory.Add(tally, static_cast<int64_t>(2 * sizeof(Match) + signature.bytes())));
      matches.all.push_back({std::move(signature), {}, {}});
    }
    return &matches.all[place.number];
  };
  for (size_t i = 0; i < left.vector.size(); ++i) {
    ASSIGN_OR_RETURN(Match* const match, match_of(left.vector[i]));
    match->left.push_back(i);
  }
  for (size_t i = 0; i < right.vector.size(); ++i) {
    ASSIGN_OR_RETURN(Match* const match, match_of(right.vector[i]));
    match->right.push_back(i);
  }
  return matches;
}

bool AnyAt(const Value& vector, const std::vector<size_t>& numbers, size_t step) {
  return std::any_of(numbers.begin(), numbers.end(),
                     [&](size_t number) { return !IsAbsent(vector.vector[number].values[step]); });
}

class Combiner {
 public:
  Combiner(const Binary& binary, const Value& left, const Value& right, const Steps& steps,
           MemoryTally* tally)
      : binary_(binary),
        matching_(binary.matching),
        drops_(IsComparison(binary.op) && !binary.returns_bool),
        swapped_(matching_.many == Side::kRight),
        many_value_(swapped_ ? right : left),
        one_value_(swapped_ ? left : right),
        steps_(steps),
        tally_(tally),
        builder_(steps, tally) {}

  Result<Value> Run() {
    ASSIGN_OR_RETURN(const Matches matches,
                     MatchSeries(many_value_, one_value_, matching_, tally_));
    for (const Match& match : matches.all) {
      RETURN_IF_ERROR(RefuseDuplicates(match));
      if (matching_.many == Side::kNone) RETURN_IF_ERROR(RefuseSeveral(match));
      RETURN_IF_ERROR(Combine(match));
    }
    return builder_.Take();
  }

 private:
  /// Finds the steps at which any series of the "many" side has a sample. Computed once.
  Status FindManyAt() {
    if (!many_at_.empty()) return {};
    RETURN_IF_ERROR(many_at_memory_.Add(tally_, static_cast<int64_t>(steps_.count)));
    many_at_.resize(steps_.count);
    for (const VectorSeries& series : many_value_.vector) {
      RETURN_IF_ERROR(ForEachStep(steps_.count, tally_, [&](size_t i) {
        if (!IsAbsent(series.values[i])) many_at_[i] = 1;
      }));
    }
    return {};
  }

  /// Fails if several series of the "one" side have a sample at the same step, and the other side
  /// has any sample at that step.
  Status RefuseDuplicates(const Match& match) {
    if (match.right.size() < 2) return {};
    RETURN_IF_ERROR(FindManyAt());
    for (size_t i = 0; i < steps_.count; ++i) {
      RETURN_IF_ERROR(tally_->Step(1 + match.right.size()));
      const VectorSeries* first = nullptr;
      for (const size_t number : match.right) {
        const VectorSeries& series = one_value_.vector[number];
        if (IsAbsent(series.values[i])) continue;
        if (first == nullptr) {
          first = &series;
          continue;
        }
        if (many_at_[i] == 0) break;
        return Status::InvalidArgument(
            "found duplicate series for the match group " + match.signature.Text() + " on the " +
            (swapped_ ? "left" : "right") + " hand-side of the operation: " + first->labels.Text() +
            ", " + series.labels.Text() +
            "; many-to-many matching is not allowed: matching labels must be unique on one side");
      }
    }
    return {};
  }

  /// Fails if several series of the left side match at the same step, even if a comparison would
  /// drop them.
  Status RefuseSeveral(const Match& match) {
    if (match.left.size() < 2 || match.right.empty()) return {};
    for (size_t i = 0; i < steps_.count; ++i) {
      RETURN_IF_ERROR(tally_->Step(1 + match.left.size() + match.right.size()));
      if (!AnyAt(one_value_, match.right, i)) continue;
      const auto present = std::count_if(match.left.begin(), match.left.end(), [&](size_t number) {
        return !IsAbsent(many_value_.vector[number].values[i]);
      });
      if (present > 1) return MultipleMatches(match);
    }
    return {};
  }

  Labels ResultLabels(const Labels& many, const Labels& one) const {
    Labels labels = many;
    if (DropsName(binary_.op) || binary_.returns_bool) labels.RemoveName();
    if (matching_.many == Side::kNone) {
      if (matching_.on) {
        labels.Keep(matching_.labels);
      } else {
        labels.Drop(matching_.labels);
      }
    }
    for (const std::string& label : matching_.included) labels.Set(label, one.Get(label));
    return labels;
  }

  Status Combine(const Match& match) {
    for (const size_t many : match.left) {
      for (const size_t one : match.right)
        RETURN_IF_ERROR(CombineTwo(match, many_value_.vector[many], one_value_.vector[one]));
    }
    return {};
  }

  /// Returns the steps at which a comparison has decided about a series of the result, or null if
  /// they are not needed. They are needed only if several series could have the same result labels.
  Result<std::vector<uint8_t>*> DecidedOf(const Match& match, size_t series) {
    if (!drops_ || matching_.many == Side::kNone || match.left.size() < 2) return nullptr;
    if (decided_.size() <= series) decided_.resize(series + 1);
    if (decided_[series].empty()) {
      RETURN_IF_ERROR(decided_memory_.Add(
          tally_, static_cast<int64_t>(steps_.count + 2 * sizeof(decided_[series]))));
      decided_[series].resize(steps_.count);
    }
    return &decided_[series];
  }

  Status CombineTwo(const Match& match, const VectorSeries& many, const VectorSeries& one) {
    Column* to = nullptr;
    std::vector<uint8_t>* decided = nullptr;
    for (size_t i = 0; i < steps_.count; ++i) {
      if (i % kStepsAtOnce == 0)
        RETURN_IF_ERROR(tally_->Step(1 + std::min(kStepsAtOnce, steps_.count - i)));
      if (IsAbsent(many.values[i]) || IsAbsent(one.values[i])) continue;
      const double value = ValueOf(many.values[i], one.values[i]);
      if (IsAbsent(value) && match.left.size() < 2) continue;
      if (to == nullptr) {
        RETURN_IF_ERROR(tally_->Step(many.labels.steps() + one.labels.steps() +
                                     kStepsPerIncluded * matching_.included.size()));
        ASSIGN_OR_RETURN(const size_t series,
                         builder_.SeriesOf(ResultLabels(many.labels, one.labels)));
        to = &builder_.column(series);
        ASSIGN_OR_RETURN(decided, DecidedOf(match, series));
      }
      if (decided != nullptr && std::exchange((*decided)[i], 1) != 0) return MultipleMatches(match);
      if (IsAbsent(value)) continue;
      if (!IsAbsent((*to)[i])) return MultipleMatches(match);
      (*to)[i] = value;
    }
    return {};
  }

  [[nodiscard]] double ValueOf(double many, double one) const {
    const double left = swapped_ ? one : many, right = swapped_ ? many : one;
    if (!IsComparison(binary_.op)) return Compute(binary_.op, left, right);
    const bool holds = Holds(binary_.op, left, right);
    if (binary_.returns_bool) return holds ? 1 : 0;
    return holds ? left : Absent();
  }

  [[nodiscard]] Status MultipleMatches(const Match& match) const {
    if (matching_.many == Side::kNone) {
      return Status::InvalidArgument("multiple matches for labels " + match.signature.Text() +
                                     ": many-to-one matching must be explicit "
                                     "(group_left/group_right)");
    }
    return Status::InvalidArgument("multiple matches for labels " + match.signature.Text() +
                                   ": grouping labels must ensure unique matches");
  }

  const Binary& binary_;
  const Matching& matching_;
  const bool drops_;    // a comparison that drops samples
  const bool swapped_;  // the "one" side is the left one
  const Value& many_value_;
  const Value& one_value_;
  const Steps steps_;
  MemoryTally* const tally_;
  VectorBuilder builder_;
  std::vector<uint8_t> many_at_;  // by step; empty until it is needed
  MemoryHold many_at_memory_;
  std::vector<std::vector<uint8_t>> decided_;  // by series of the result, then by step
  MemoryHold decided_memory_;
};

}  // namespace

Result<Value> CombineVectors(const Binary& binary, const Value& left, const Value& right,
                             const Steps& steps, MemoryTally* tally) {
  return Combiner(binary, left, right, steps, tally).Run();
}

Result<Value> CombineSets(const Binary& binary, Value left, Value right, const Steps& steps,
                          MemoryTally* tally) {
  const bool unites = binary.op == BinaryOperator::kOr;
  const bool wanted = binary.op == BinaryOperator::kAnd;
  ASSIGN_OR_RETURN(const Matches matches, MatchSeries(left, right, binary.matching, tally));
  for (const Match& match : matches.all) {
    // `deciding` stays unchanged. Its samples determine the steps at which the samples of `judged`
    // are removed.
    const Value& deciding = unites ? left : right;
    Value& judged = unites ? right : left;
    for (size_t i = 0; i < steps.count; ++i) {
      RETURN_IF_ERROR(tally->Step(1 + match.left.size() + match.right.size()));
      if (AnyAt(deciding, unites ? match.left : match.right, i) == wanted) continue;
      for (const size_t number : unites ? match.right : match.left)
        judged.vector[number].values[i] = Absent();
    }
  }
  VectorBuilder builder(steps, tally);
  for (VectorSeries& series : left.vector) RETURN_IF_ERROR(builder.Add(std::move(series)));
  if (unites) {
    for (VectorSeries& series : right.vector) RETURN_IF_ERROR(builder.Add(std::move(series)));
  }
  return builder.Take();
}

}  // namespace hg::query::promql
