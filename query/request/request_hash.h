#pragma once
// Hashes queries, so that a query can be searched in a list of queries with few comparisons.

#include <cstdint>

#include "query/request/request.h"

namespace hg::query {

/// Returns a hash of all members that the comparison of two queries considers. Equal queries have
/// equal hashes. The key of the hash function is drawn at random once per process, so clients
/// cannot choose different queries with equal hashes. Needs temporary memory for a copy of all
/// texts of the query. Thread-safe.
uint64_t HashOf(const Request& request);

}  // namespace hg::query
