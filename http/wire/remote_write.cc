#include "http/wire/remote_write.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <prometheus.pb.h>

#include <climits>
#include <string>

#include "http/wire/protobuf_message.h"

namespace hg::http {
namespace {

using google::protobuf::internal::WireFormatLite;

constexpr uint32_t kSeriesTag = WireFormatLite::MakeTag(
    prometheus::WriteRequest::kTimeseriesFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);

Status NoRequest() {
  return Status::InvalidArgument("The body is not a protobuf message prometheus.WriteRequest");
}

}  // namespace

Status ReadWriteRequest(std::string_view bytes,
                        const std::function<void(const prometheus::TimeSeries&)>& visit) {
  if (bytes.size() > INT_MAX) return Status::LimitExceeded("The request is larger than 2 GiB");
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  prometheus::TimeSeries series;  // one for all: it keeps its memory
  while (in.CurrentPosition() < static_cast<int>(bytes.size())) {
    const uint32_t tag = in.ReadTag();
    if (tag != kSeriesTag) {
      if (tag == 0 || !WireFormatLite::SkipField(&in, tag)) return NoRequest();
      continue;
    }
    int size = 0;
    if (!in.ReadVarintSizeAsInt(&size)) return NoRequest();
    const std::string_view rest = bytes.substr(static_cast<size_t>(in.CurrentPosition()));
    if (static_cast<size_t>(size) > rest.size()) return NoRequest();
    if (static_cast<size_t>(size) > kWriteSeriesBytesMax) {
      return Status::InvalidArgument("A series of " + std::to_string(size) +
                                     " bytes is longer than " +
                                     std::to_string(kWriteSeriesBytesMax));
    }
    if (!ParseMessage(rest.substr(0, static_cast<size_t>(size)), &series)) return NoRequest();
    in.Skip(size);
    visit(series);
  }
  return {};
}

}  // namespace hg::http
