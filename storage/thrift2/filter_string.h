#pragma once
// Converts filterString, a text of HBase's filter language, to filterBytes. The function is pure.

#include <string_view>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::thrift2 {

/// Returns the filterBytes of a text. Returns InvalidArgument if HBase rejects the text, too.
/// Returns Unsupported if HBase has the filter, but Hourglass does not; the message names the
/// filter. Returns LimitExceeded if the text is too long or nested too deeply.
Result<Bytes> FilterBytesOf(std::string_view text);

}  // namespace hg::thrift2
