#pragma once
// Which filters are one.

#include "query/filter.h"
#include "storage/base/bytes.h"

namespace hg::query {

/// Bytes that are equal for two filters if and only if they are one (SameFilter): for who compares
/// each of many with all.
Bytes FilterIdentity(const FilterSpec& spec);

}  // namespace hg::query
