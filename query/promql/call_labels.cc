// The PromQL functions label_replace and label_join.

#include <optional>
#include <string>
#include <utility>

#include "query/promql/anchored_pattern.h"
#include "query/promql/call.h"

namespace hg::query::promql {
namespace {

Status CheckLabelName(std::string_view function, const std::string& name) {
  if (!name.empty()) return {};
  return Status::InvalidArgument(std::string(function) + ": a label needs a name");
}

/// Returns the vector with the labels that `change` has modified.
template <typename Change>
Result<Value> Relabelled(const CallSite& site, Change change) {
  ASSIGN_OR_RETURN(Value vector, site.Evaluate(0));
  VectorBuilder builder(site.steps, &site.evaluator.memory());
  for (VectorSeries& series : vector.vector) {
    RETURN_IF_ERROR(change(&series.labels));
    RETURN_IF_ERROR(builder.Add(std::move(series)));
  }
  return builder.Take();
}

Result<Value> LabelReplace(const CallSite& site) {
  const std::string &to = site.text(1), &form = site.text(2), &from = site.text(3);
  RETURN_IF_ERROR(CheckLabelName("label_replace", to));
  MemoryTally& tally = site.evaluator.memory();
  RequestContext* const watch = site.evaluator.watch();
  RequestContext& context = watch != nullptr ? *watch : RequestContext::Unlimited();
  Result<std::shared_ptr<const AnchoredPattern>> pattern =
      AnchoredPattern::Compile(site.text(4), context);
  if (!pattern.ok()) return Prepend(pattern.status(), "label_replace");
  return Relabelled(site, [&](Labels* labels) -> Status {
    RETURN_IF_ERROR(tally.Step(labels->steps()));
    const Result<std::optional<std::string>> value =
        (*pattern)->Expand(labels->Get(from), form, kLabelValueBytesMax, context);
    if (!value.ok()) return Prepend(value.status(), "label_replace: the value of " + Quoted(to));
    if (*value) labels->Set(to, **value);
    return {};
  });
}

Result<Value> LabelJoin(const CallSite& site) {
  const std::string &to = site.text(1), &between = site.text(2);
  RETURN_IF_ERROR(CheckLabelName("label_join", to));
  constexpr size_t kFirstSource = 3;
  constexpr uint64_t kStepsPerSource = 8;
  for (size_t i = kFirstSource; i < site.call.arguments.size(); ++i)
    RETURN_IF_ERROR(CheckLabelName("label_join", site.text(i)));
  return Relabelled(site, [&](Labels* labels) -> Status {
    RETURN_IF_ERROR(site.evaluator.memory().Step(labels->steps() +
                                                 kStepsPerSource * site.call.arguments.size()));
    std::string value;
    for (size_t i = kFirstSource; i < site.call.arguments.size(); ++i) {
      if (i > kFirstSource) value += between;
      value += labels->Get(site.text(i));
      if (value.size() > kLabelValueBytesMax) {
        return Status::InvalidArgument("label_join: the value of " + Quoted(to) + ": longer than " +
                                       std::to_string(kLabelValueBytesMax) + " bytes");
      }
    }
    labels->Set(to, value);
    return {};
  });
}

}  // namespace

CallFunction FindLabelFunction(std::string_view name) {
  if (name == "label_replace") return LabelReplace;
  if (name == "label_join") return LabelJoin;
  return nullptr;
}

}  // namespace hg::query::promql
