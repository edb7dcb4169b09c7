#include "uid/tree_sorter.h"

#include <algorithm>

namespace hg::uid {
namespace {

constexpr int64_t kRereadMs = 300'000;

}  // namespace

TreeSorter::TreeSorter(Store& store, Metadata& metadata, const Clock& clock, std::string tree_table)
    : metadata_(metadata), clock_(clock), store_(store, std::move(tree_table)) {}

Result<TreeSorter::Trees> TreeSorter::EnabledTrees() {
  const std::lock_guard lock(mutex_);
  const int64_t now = clock_.NowMs();
  if (trees_ != nullptr && now - read_ms_ <= kRereadMs) return trees_;
  ASSIGN_OR_RETURN(std::vector<Tree> trees, store_.List());
  std::erase_if(trees, [](const Tree& tree) { return !tree.enabled || tree.rules.empty(); });
  trees_ = std::make_shared<const std::vector<Tree>>(std::move(trees));
  read_ms_ = now;
  return trees_;
}

Status TreeSorter::Sort(const Bytes& tsuid) {
  ASSIGN_OR_RETURN(const Trees trees, EnabledTrees());
  if (trees->empty()) return {};
  ASSIGN_OR_RETURN(const TsMeta meta, metadata_.FindSeries(tsuid));
  for (const Tree& tree : *trees) RETURN_IF_ERROR(store_.Sort(tree, meta, false));
  return {};
}

}  // namespace hg::uid
