#pragma once
// Points in frames of Graphite's pickle protocol, as carbon's relay sends them. The bytes are the
// same as those that Python's pickle (protocol 2) writes for [(path, (time, value)), …] with floats
// as times and values. To send a frame again, the client overwrites only the times, in place.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hg::bench {

/// Returns the start of a frame, in which the length of the frame is a placeholder. Append the
/// points to it with AppendPickledPoint, and then call FinishPickle.
std::string PickleHead();

/// Appends a point to the frame. `number` is the number of the point in the frame; the first point
/// has the number 0. Returns the position at which WritePickledTime must write the time.
size_t AppendPickledPoint(std::string_view path, double value, uint32_t number, std::string* out);
void WritePickledTime(char* to, uint32_t seconds);

/// Appends the end of the frame, and writes the length of the frame into its start.
void FinishPickle(std::string* frame);

}  // namespace hg::bench
