#pragma once
// Represents a filter by a byte string, so that filters can be compared as bytes.

#include "query/plan/filter.h"
#include "storage/base/bytes.h"

namespace hg::query {

/// Returns bytes that are equal for two filters if and only if SameFilter is true. Use them to
/// compare many filters with each other.
Bytes FilterIdentity(const FilterSpec& spec);

}  // namespace hg::query
