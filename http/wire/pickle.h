#pragma once
// Graphite's pickled points: [(path, (time, value)), …] as Python's pickle writes it, protocols 0
// to 4 as far as lists, tuples, texts and numbers go. Whatever else a pickle may ask for (to look
// up a name, to make an object, to call) is refused: nothing is ever run.

#include <string_view>
#include <vector>

#include "http/wire/graphite_line.h"

namespace hg::http {

/// The points of one pickle, in order. `refused`: what is said of those that are no points; the
/// others are taken. InvalidArgument names what the pickle cannot have, and where: none is taken.
Result<std::vector<GraphitePoint>> ReadPickledPoints(std::string_view pickle, Timestamp now,
                                                     std::vector<Status>* refused);

}  // namespace hg::http
