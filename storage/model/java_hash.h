#pragma once
// Java's string hash, and the order in which Java's hash maps iterate. The order of iteration
// determines the order in which names get their ids (opentsdb-schema.md §3.3) and in which some
// objects are printed (opentsdb-http-api.md §A).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hg {

/// Returns the result of java.lang.String.hashCode for a UTF-8 text. Each byte that is not valid
/// UTF-8 counts as the character U+FFFD.
uint32_t JavaHashUtf8(std::string_view text);

/// Returns the capacity of a Java HashMap that was created with the default capacity and then got n
/// keys: 16, 32 from 13 keys on, 64 from 25 keys on, and so on.
size_t Hash16Capacity(size_t n);
/// Returns the capacity of a Java map that was created for n keys: the smallest power of two ≥ n,
/// or twice this power if n is more than ¾ of it.
size_t HashNCapacity(size_t n);
/// Returns the capacity of the Java map that OpenTSDB uses for the tags of a query result with n
/// tags.
size_t HashQCapacity(size_t n);

/// Returns the positions 0…n−1 in the order in which a Java map with this capacity iterates over n
/// keys. `hashes` has the hashes of the keys in order of insertion.
std::vector<size_t> JavaMapOrder(std::span<const uint32_t> hashes, size_t capacity);

/// Returns the positions of the tags of a query result, in the order in which OpenTSDB's map of
/// these tags iterates.
std::vector<size_t> ResultTagOrder(std::span<const std::pair<std::string, std::string>> tags);

/// Returns whether a comes before b in Java's order of strings, which compares UTF-16 units. Both
/// strings are in UTF-8.
bool JavaLess(std::string_view a, std::string_view b);

}  // namespace hg
