#pragma once
// Points in frames of Graphite's pickle protocol, as carbon's relay sends them. They are byte for
// byte what Python's pickle (protocol 2) writes for [(path, (time, value)), …] with floats as times
// and values. Only the times are rewritten, in place.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hg::bench {

/// The beginning of a frame, with a placeholder for its length. The points follow, then
/// FinishPickle.
std::string PickleHead();

/// Appends point `number` of its frame, counted from 0. Returns the position of the time for
/// WritePickledTime.
size_t AppendPickledPoint(std::string_view path, double value, uint32_t number, std::string* out);
void WritePickledTime(char* to, uint32_t seconds);

/// Appends the end of a frame and fills in its length.
void FinishPickle(std::string* frame);

}  // namespace hg::bench
