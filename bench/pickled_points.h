#pragma once
// Points in frames of Graphite's pickle protocol, as carbon's relay sends them. The bytes equal
// those that Python's pickle (protocol 2) writes for [(path, (time, value)), …] with floats as
// times and values. To send a frame again, only the times are overwritten, in place.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hg::bench {

/// Returns the beginning of a frame, with a placeholder for the frame's length. Append the points,
/// and then call FinishPickle.
std::string PickleHead();

/// Appends point `number` of the frame, counted from 0. Returns the position at which
/// WritePickledTime must write the time.
size_t AppendPickledPoint(std::string_view path, double value, uint32_t number, std::string* out);
void WritePickledTime(char* to, uint32_t seconds);

/// Appends the end of a frame and sets the frame's length.
void FinishPickle(std::string* frame);

}  // namespace hg::bench
