#pragma once
// Converts filterString, a text of HBase's filter language, to filterBytes. Pure function.

#include <string_view>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::thrift2 {

/// Returns the filterBytes of a text. InvalidArgument: HBase refuses the text, too. Unsupported:
/// HBase has the filter, but Hourglass does not; the message names it. LimitExceeded: the text is
/// too long or nested too deeply.
Result<Bytes> FilterBytesOf(std::string_view text);

}  // namespace hg::thrift2
