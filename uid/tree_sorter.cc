#include "uid/tree_sorter.h"

#include <algorithm>

#include "storage/base/request_context.h"

namespace hg::uid {
namespace {

constexpr int64_t kRereadMs = 300'000;

constexpr uint64_t kStepsMax = 1 << 20;  // limit for one series in all trees
constexpr int64_t kBytesMax = 8 << 20;   // limit for one series in one tree

/// Limits for placing one series in one tree, in addition to those of the request. Used by one
/// thread at a time.
class SortLimits final : public RequestContext {
 public:
  SortLimits(uint64_t steps_max, RequestContext& request)
      : steps_max_(steps_max), request_(request) {}

  // A match of a regular expression reports the time that it took. If the machine is busy, most of
  // that time may be spent waiting for a processor, so one match never uses up the limit.
  Status Step(uint64_t steps) override {
    steps_ += std::min(steps, steps_max_ / 8);
    if (steps_ > steps_max_) return Status::LimitExceeded("sorting takes too long");
    return request_.Step(steps);
  }
  Status Charge(int64_t bytes) override {
    if (bytes_ + bytes > kBytesMax) return Status::LimitExceeded("sorting takes too much memory");
    bytes_ += bytes;
    return {};
  }

 private:
  const uint64_t steps_max_;
  RequestContext& request_;
  uint64_t steps_ = 0;
  int64_t bytes_ = 0;
};

// Returns whether the error comes from the rules of a tree and the series, not from the store.
bool RulesRefuse(StatusCode code) {
  return code == StatusCode::kLimitExceeded || code == StatusCode::kInvalidArgument ||
         code == StatusCode::kUnsupported;
}

// Returns whether the tree has rules about custom fields. Only these rules read more of an id than
// its name.
bool ReadsIdObjects(const Tree& tree) {
  for (const auto& [level, rules] : tree.rules) {
    for (const auto& [order, rule] : rules) {
      if (rule.type != TreeRuleType::kMetric && rule.type != TreeRuleType::kTagk) return true;
    }
  }
  return false;
}

}  // namespace

TreeSorter::TreeSorter(Store& store, Metadata& metadata, const Clock& clock, std::string tree_table)
    : metadata_(metadata), clock_(clock), store_(store, std::move(tree_table)) {}

Result<std::shared_ptr<const TreeSorter::EnabledTrees>> TreeSorter::Enabled() {
  const std::lock_guard lock(mutex_);
  const int64_t now = clock_.NowMs();
  if (trees_ != nullptr && now - read_ms_ <= kRereadMs) return trees_;
  auto enabled = std::make_shared<EnabledTrees>();
  ASSIGN_OR_RETURN(enabled->trees, store_.List(RequestContext::Unlimited()));
  std::erase_if(enabled->trees,
                [](const Tree& tree) { return !tree.enabled || tree.rules.empty(); });
  if (std::any_of(enabled->trees.begin(), enabled->trees.end(), ReadsIdObjects)) {
    enabled->detail = IdDetail::kObjects;
  }
  trees_ = std::move(enabled);
  read_ms_ = now;
  return trees_;
}

Status TreeSorter::Sort(const Bytes& tsuid, RequestContext& context) {
  ASSIGN_OR_RETURN(const auto enabled, Enabled());
  if (enabled->trees.empty()) return {};
  ASSIGN_OR_RETURN(const TsMeta meta, metadata_.FindSeries(tsuid, context, enabled->detail));
  for (const Tree& tree : enabled->trees) {
    RETURN_IF_ERROR(context.Check());
    SortLimits limits(kStepsMax / enabled->trees.size(), context);
    Status sorted = store_.Sort(tree, meta, false, limits);
    if (!sorted.ok() && !RulesRefuse(sorted.code())) return sorted;
  }
  return {};
}

}  // namespace hg::uid
