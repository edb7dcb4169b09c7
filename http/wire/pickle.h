#pragma once
// Graphite's pickled points: [(path, (time, value)), …] as Python's pickle writes it, protocols 0
// to 4 as far as lists, tuples, texts and numbers go. Whatever else a pickle may ask for (to look
// up a name, to make an object, to call) is refused: nothing is ever run.

#include <functional>
#include <string_view>

#include "http/wire/graphite_line.h"

namespace hg::http {

/// Hands each element of one pickle over, in order: a point, of whose path only the length was
/// looked at and which lives as long as the call, or what is said of one that is none.
/// InvalidArgument names what the pickle cannot have, and where: nothing is handed over then.
Status ReadPickledPoints(std::string_view pickle, Timestamp now,
                         const std::function<void(const Result<GraphitePoint>&)>& take);

}  // namespace hg::http
