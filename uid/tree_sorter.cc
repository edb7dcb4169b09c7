#include "uid/tree_sorter.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "storage/base/memory_limit.h"
#include "storage/base/request_context.h"

namespace hg::uid {
namespace {

constexpr int64_t kRereadMs = 300'000;
// A request that waits for the first list checks its limits this often.
constexpr std::chrono::milliseconds kPoll(100);

constexpr uint64_t kStepsMax = 1 << 20;  // limit for one series in all trees; see SortLimits::Step
/// Limit for one series in all trees, in which each match counts with nearly all its steps. It is
/// about 70 milliseconds.
constexpr uint64_t kAllStepsMax = 64 << 20;
constexpr int64_t kBytesMax = 8 << 20;  // limit for one series in one tree

/// Limits for placing one series in one tree, in addition to those of the request. Used by one
/// thread at a time.
class SortLimits final : public RequestContext {
 public:
  /// `*all_steps` is the number of steps for this series in the trees so far, and must outlive the
  /// object.
  SortLimits(uint64_t steps_max, uint64_t* all_steps, RequestContext& request)
      : steps_max_(steps_max), all_steps_(*all_steps), request_(request) {}

  // A match of a regular expression reports the time that it took. If the machine is busy, most of
  // that time may be spent waiting for a processor, so one match never uses up a limit.
  Status Step(uint64_t steps) override {
    steps_ += std::min(steps, steps_max_ / 8);
    all_steps_ += std::min(steps, kAllStepsMax / 8);
    if (steps_ > steps_max_ || all_steps_ > kAllStepsMax)
      return Status::LimitExceeded("sorting takes too long");
    return request_.Step(steps);
  }
  Status Charge(int64_t bytes) override {
    if (bytes_ + bytes > kBytesMax) return Status::LimitExceeded("sorting takes too much memory");
    bytes_ += bytes;
    return {};
  }

 private:
  const uint64_t steps_max_;
  uint64_t& all_steps_;
  RequestContext& request_;
  uint64_t steps_ = 0;
  int64_t bytes_ = 0;
};

// Frees the texts of the tree that sorting does not use, and returns the memory of the rest.
int64_t Strip(Tree* tree) {
  constexpr size_t kNodeBytes = 64;
  size_t bytes = sizeof(Tree);
  for (std::string* text : {&tree->name, &tree->description, &tree->notes})
    std::string().swap(*text);
  for (auto& [level, rules] : tree->rules) {
    bytes += kNodeBytes + sizeof(rules);
    for (auto& [order, rule] : rules) {
      std::string().swap(rule.description);
      std::string().swap(rule.notes);
      bytes += kNodeBytes + sizeof(rule);
      for (const std::string* text :
           {&rule.field, &rule.regex, &rule.separator, &rule.custom_field, &rule.display_format})
        bytes += text->capacity();
    }
  }
  return static_cast<int64_t>(bytes);
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

TreeSorter::TreeSorter(Store& store, Metadata& metadata, const Clock& clock, std::string tree_table,
                       TreeSorterOptions options)
    : metadata_(metadata),
      clock_(clock),
      store_(store, std::move(tree_table)),
      options_(std::move(options)) {}

Result<std::shared_ptr<const TreeSorter::EnabledTrees>> TreeSorter::Enabled(
    RequestContext& context) {
  const auto outdated = [this] {
    return trees_ == nullptr || clock_.NowMs() - read_ms_ > kRereadMs;
  };
  std::unique_lock lock(mutex_);
  while (outdated() && reading_) {
    if (trees_ != nullptr) return trees_;  // another request is reading the next list
    changed_.wait_for(lock, kPoll);
    lock.unlock();
    RETURN_IF_ERROR(context.Check());
    lock.lock();
  }
  if (!outdated()) return trees_;
  reading_ = true;
  lock.unlock();
  const int64_t now = clock_.NowMs();
  const auto end = [&] {
    lock.lock();
    reading_ = false;
    changed_.notify_all();
  };
  Result<std::shared_ptr<const EnabledTrees>> read = std::shared_ptr<const EnabledTrees>();
  try {
    read = Read(context);
  } catch (...) {
    end();
    throw;
  }
  end();
  if (read.ok()) {
    trees_ = std::move(*read);
  } else if (trees_ == nullptr || !context.Check().ok()) {
    return read.status();
  }
  read_ms_ = now;  // if the trees cannot be read, the previous list is used for longer
  return trees_;
}

// Reads the trees one by one, so that only trees that are kept take memory at the same time.
Result<std::shared_ptr<const TreeSorter::EnabledTrees>> TreeSorter::Read(RequestContext& context) {
  auto enabled = std::make_shared<EnabledTrees>();
  LeftOutTrees left_out;
  MemoryTally kept(&context);
  RETURN_IF_ERROR(store_.VisitIds(context, [&](int32_t id) -> Status {
    MemoryLimit limits(2 * options_.bytes_max, "the tree is too large", context);
    Result<std::optional<Tree>> tree = store_.FindEnabled(id, limits);
    bool fits = !limits.exceeded();
    if (fits) {
      RETURN_IF_ERROR(tree.status());
      if (!*tree || (*tree)->rules.empty()) return {};
      const int64_t bytes = Strip(&**tree);
      fits = kept.held() + bytes <= options_.bytes_max;
      if (fits) {
        RETURN_IF_ERROR(kept.Add(bytes));
        enabled->trees.push_back(std::move(**tree));
      }
    }
    if (!fits && left_out.count++ == 0) left_out.first_id = id;
    return {};
  }));
  if (left_out.count > 0 && options_.warn) options_.warn(left_out);
  if (std::any_of(enabled->trees.begin(), enabled->trees.end(), ReadsIdObjects)) {
    enabled->detail = IdDetail::kObjects;
  }
  return std::shared_ptr<const EnabledTrees>(std::move(enabled));
}

Status TreeSorter::Sort(const Bytes& tsuid, RequestContext& context) {
  ASSIGN_OR_RETURN(const auto enabled, Enabled(context));
  if (enabled->trees.empty()) return {};
  ASSIGN_OR_RETURN(const TsMeta meta, metadata_.FindSeries(tsuid, context, enabled->detail));
  uint64_t all_steps = 0;
  for (const Tree& tree : enabled->trees) {
    if (all_steps > kAllStepsMax) break;
    RETURN_IF_ERROR(context.Check());
    SortLimits limits(kStepsMax / enabled->trees.size(), &all_steps, context);
    Status sorted = store_.Sort(tree, meta, false, limits);
    if (!sorted.ok() && !RulesRefuse(sorted)) return sorted;
  }
  return {};
}

}  // namespace hg::uid
