#pragma once
// Points in frames of Graphite's pickle protocol, byte for byte as Python's pickle (protocol 2)
// writes [(path, (time, value)), …] with times and values that are floats: what carbon's relay
// sends. Only times are rewritten, in place.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hg::bench {

/// What a frame begins with, its length left open. The points follow, then FinishPickle.
std::string PickleHead();

/// The point number `number` of its frame, from 0. Returns where the time begins, to be written by
/// WritePickledTime.
size_t AppendPickledPoint(std::string_view path, double value, uint32_t number, std::string* out);
void WritePickledTime(char* to, uint32_t seconds);

/// The end of a frame, and its length.
void FinishPickle(std::string* frame);

}  // namespace hg::bench
