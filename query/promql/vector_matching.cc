#include "query/promql/vector_matching.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "query/promql/math_functions.h"

namespace hg::query::promql {
namespace {

using Side = Matching::Side;

/// What decides whether two series match.
Labels Signature(Labels labels, const Matching& matching) {
  if (matching.on) {
    labels.Keep(matching.labels);
  } else {
    labels.Drop(matching.labels);
    labels.Remove(kNameLabel);
  }
  return labels;
}

/// Series of both sides with one signature, by their numbers.
struct Match {
  Labels signature;
  std::vector<size_t> left, right;
};

std::vector<Match> MatchSeries(const Value& left, const Value& right, const Matching& matching) {
  std::vector<Match> matches;
  std::unordered_map<std::string, size_t> numbers;
  const auto match_of = [&](const VectorSeries& series) -> Match& {
    Labels signature = Signature(series.labels, matching);
    const auto [it, fresh] = numbers.try_emplace(signature.Key(), matches.size());
    if (fresh) matches.push_back({std::move(signature), {}, {}});
    return matches[it->second];
  };
  for (size_t i = 0; i < left.vector.size(); ++i) match_of(left.vector[i]).left.push_back(i);
  for (size_t i = 0; i < right.vector.size(); ++i) match_of(right.vector[i]).right.push_back(i);
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
        swapped_(matching_.many == Side::kRight),
        many_value_(swapped_ ? right : left),
        one_value_(swapped_ ? left : right),
        steps_(steps),
        tally_(tally),
        builder_(steps, tally) {}

  Result<Value> Run() {
    for (const Match& match : MatchSeries(many_value_, one_value_, matching_)) {
      RETURN_IF_ERROR(RefuseDuplicates(match));
      RETURN_IF_ERROR(Combine(match));
    }
    return builder_.Take();
  }

 private:
  [[nodiscard]] bool ManyAt(size_t step) const {
    return std::any_of(many_value_.vector.begin(), many_value_.vector.end(),
                       [&](const VectorSeries& s) { return !IsAbsent(s.values[step]); });
  }

  /// At most one series at a time on the side of one, wherever the other side has any at all.
  Status RefuseDuplicates(const Match& match) const {
    if (match.right.size() < 2) return {};
    for (size_t i = 0; i < steps_.count; ++i) {
      RETURN_IF_ERROR(tally_->Step(match.right.size()));
      const VectorSeries* first = nullptr;
      for (const size_t number : match.right) {
        const VectorSeries& series = one_value_.vector[number];
        if (IsAbsent(series.values[i])) continue;
        if (first == nullptr) {
          first = &series;
          continue;
        }
        if (!ManyAt(i)) break;
        return Status::InvalidArgument(
            "found duplicate series for the match group " + match.signature.Text() + " on the " +
            (swapped_ ? "left" : "right") + " hand-side of the operation: " + first->labels.Text() +
            ", " + series.labels.Text() +
            "; many-to-many matching is not allowed: matching labels must be unique on one side");
      }
    }
    return {};
  }

  Labels ResultLabels(const Labels& many, const Labels& one) const {
    Labels labels = many;
    if (DropsName(binary_.op) || binary_.returns_bool) labels.Remove(kNameLabel);
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

  Status CombineTwo(const Match& match, const VectorSeries& many, const VectorSeries& one) {
    RETURN_IF_ERROR(tally_->Step(1 + steps_.count));
    Column* to = nullptr;
    for (size_t i = 0; i < steps_.count; ++i) {
      if (IsAbsent(many.values[i]) || IsAbsent(one.values[i])) continue;
      const double value = ValueOf(many.values[i], one.values[i]);
      if (IsAbsent(value)) continue;
      if (to == nullptr) {
        ASSIGN_OR_RETURN(const size_t series,
                         builder_.SeriesOf(ResultLabels(many.labels, one.labels)));
        to = &builder_.column(series);
      }
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
  const bool swapped_;  // the left side is the one of which one series matches several
  const Value& many_value_;
  const Value& one_value_;
  const Steps steps_;
  MemoryTally* const tally_;
  VectorBuilder builder_;
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
  for (const Match& match : MatchSeries(left, right, binary.matching)) {
    RETURN_IF_ERROR(tally->Step(1 + steps.count * (match.left.size() + match.right.size())));
    // One side stays as it is and decides at which steps the other one does.
    const Value& deciding = unites ? left : right;
    Value& judged = unites ? right : left;
    for (size_t i = 0; i < steps.count; ++i) {
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
