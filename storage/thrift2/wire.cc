#include "storage/thrift2/wire.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/transport/TBufferTransports.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <string>
#include <type_traits>
#include <utility>

namespace hg::thrift2 {

namespace thrift = apache::thrift;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using thrift::protocol::TProtocol;
using thrift::transport::TTransport;
using thrift::transport::TTransportException;

namespace {

constexpr size_t kBufferBytes = 64 << 10;
constexpr int64_t kChargePiece = 64 << 10;
// Memory that is charged for a received byte: once in the decoded request, and once in the changes
// that are made from it.
constexpr int64_t kBytesPerByte = 2;
// Memory of a decoded element of a list or map, apart from its bytes.
constexpr int64_t kBytesPerElement = 256;
constexpr int32_t kElementsMax = 1 << 20;
constexpr int32_t kMethodNameBytesMax = 256;

// Limits the memory of a request while Thrift decodes it. Charges the memory of list and map
// elements before Thrift allocates them, because a client can state a large number of elements
// without sending them. Lets a string grow with the bytes that arrive, whereas Thrift's protocols
// allocate a string as long as the client states. The compact protocol of Thrift also keeps the
// longest string until the connection ends.
//
// Thrift's own functions for strings still read the name of the method. They get the limit
// kMethodNameBytesMax.
template <typename Protocol>
class Bounded : public Protocol {
 public:
  template <typename... Args>
  Bounded(Wire* wire, const std::shared_ptr<TTransport>& transport, int32_t bytes_max,
          Args&&... args)
      : Protocol(transport, kMethodNameBytesMax, kElementsMax, std::forward<Args>(args)...),
        wire_(*wire),
        bytes_max_(bytes_max) {}

  uint32_t readListBegin_virt(thrift::protocol::TType& type, uint32_t& size) override {
    const uint32_t read = Protocol::readListBegin_virt(type, size);
    wire_.ChargeElements(size);
    return read;
  }
  uint32_t readMapBegin_virt(thrift::protocol::TType& key, thrift::protocol::TType& value,
                             uint32_t& size) override {
    const uint32_t read = Protocol::readMapBegin_virt(key, value, size);
    wire_.ChargeElements(size);
    return read;
  }
  uint32_t readString_virt(std::string& text) override { return readBinary_virt(text); }
  uint32_t readBinary_virt(std::string& bytes) override {
    int32_t size = 0;
    const uint32_t read = ReadSize(&size);
    if (size < 0 || size > bytes_max_) {
      throw thrift::protocol::TProtocolException(thrift::protocol::TProtocolException::SIZE_LIMIT);
    }
    bytes.clear();
    for (auto left = static_cast<size_t>(size); left > 0;) {
      const size_t some = std::min(left, kBufferBytes);
      const size_t at = bytes.size();
      bytes.resize(at + some);
      this->getTransport()->readAll(reinterpret_cast<uint8_t*>(bytes.data() + at),
                                    static_cast<uint32_t>(some));
      left -= some;
    }
    return read + static_cast<uint32_t>(size);
  }
  // Skips an unknown field with the functions of this class.
  uint32_t skip_virt(thrift::protocol::TType type) override {
    return thrift::protocol::skip<TProtocol>(*this, type);
  }

 private:
  uint32_t ReadSize(int32_t* size) {
    if constexpr (std::is_base_of_v<thrift::protocol::TCompactProtocol, Protocol>) {
      return this->readVarint32(*size);
    } else {
      return this->readI32(*size);
    }
  }

  Wire& wire_;
  const int32_t bytes_max_;
};

// Frames whose response is kept in pieces and charged until the whole response can be sent. A frame
// begins with its length, so it cannot be sent earlier. Thrift's buffer would be copied whenever it
// grows.
class Framed : public thrift::transport::TFramedTransport {
 public:
  // The buffer of a large request is freed with the request, because an idle connection is not
  // charged for it.
  Framed(const std::shared_ptr<Wire>& wire, int32_t bytes_max)
      : TFramedTransport(wire, static_cast<uint32_t>(kBufferBytes),
                         static_cast<uint32_t>(kBufferBytes),
                         std::make_shared<thrift::TConfiguration>(bytes_max, bytes_max)),
        wire_(*wire) {}

  // Called if the bytes do not fit into the buffer of TFramedTransport.
  void writeSlow(const uint8_t* bytes, uint32_t size) override {
    Keep(wBuf_.get(), static_cast<size_t>(wBase_ - wBuf_.get()));
    wBase_ = wBuf_.get();
    for (; size > kBufferBytes; size -= kBufferBytes, bytes += kBufferBytes) {
      Keep(bytes, kBufferBytes);
    }
    write(bytes, size);
  }
  void flush() override {
    if (pieces_.empty()) return TFramedTransport::flush();
    resetConsumedMessageSize();  // as TFramedTransport::flush does, before the next message
    Keep(wBuf_.get(), static_cast<size_t>(wBase_ - wBuf_.get()));
    size_t size = 0;
    for (const std::string& piece : pieces_) size += piece.size();
    // The first bytes of a frame are reserved for its length.
    const uint32_t length = htonl(static_cast<uint32_t>(size - sizeof(uint32_t)));
    std::memcpy(pieces_.front().data(), &length, sizeof(length));
    for (; !pieces_.empty(); pieces_.pop_front()) {
      const std::string& piece = pieces_.front();
      wire_.write(reinterpret_cast<const uint8_t*>(piece.data()),
                  static_cast<uint32_t>(piece.size()));
    }
    wBase_ = wBuf_.get() + sizeof(length);
    wire_.flush();
  }

 private:
  void Keep(const uint8_t* bytes, size_t size) {
    wire_.ChargeResponse(size);
    pieces_.emplace_back(reinterpret_cast<const char*>(bytes), size);
  }

  Wire& wire_;
  std::deque<std::string> pieces_;  // the beginning of the frame, before the bytes in wBuf_
};

}  // namespace

Wire::Wire(int socket, int32_t message_bytes_max, milliseconds idle, MemoryShare& memory)
    : TVirtualTransport(std::make_shared<thrift::TConfiguration>(message_bytes_max)),
      socket_(socket),
      message_bytes_max_(message_bytes_max),
      idle_(idle),
      memory_(memory),
      in_(kBufferBytes) {
  out_.reserve(kBufferBytes);
}

Wire::~Wire() { EndMessage(); }

bool Wire::Fill(Time until) {
  silent_since_ = last_message_;
  const bool filled = FillBy(until);
  silent_since_ = Time::max();
  return filled;
}

bool Wire::WaitFor(short events, Time until) const {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    pollfd peer{socket_, events, 0};
    const int ready = ::poll(&peer, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0;
  }
}

bool Wire::FillBy(Time until) {
  for (;;) {
    if (!WaitFor(POLLIN, until)) return false;
    const ssize_t got = ::recv(socket_, in_.data(), in_.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    in_at_ = 0;
    in_end_ = static_cast<size_t>(std::max<ssize_t>(got, 0));
    return in_end_ > 0;
  }
}

milliseconds Wire::Silence() const {
  const Time since = silent_since_;
  if (since == Time::max()) return milliseconds(0);
  return std::chrono::floor<milliseconds>(steady_clock::now() - since);
}

bool Wire::WaitForMessage() {
  if (in_at_ == in_end_ && !Fill(steady_clock::now() + idle_)) return false;
  message_deadline_ = steady_clock::now() + idle_;
  return true;
}

void Wire::EndMessage() {
  memory_.Give(charged_bytes_);
  message_bytes_ = wanted_bytes_ = charged_bytes_ = 0;
  last_message_ = steady_clock::now();
  sent_bytes_ = 0;
  out_.clear();
}

void Wire::Charge(int64_t bytes) {
  wanted_bytes_ += bytes;
  if (wanted_bytes_ <= charged_bytes_) return;
  const int64_t more = std::max(wanted_bytes_ - charged_bytes_, kChargePiece);
  if (!memory_.Take(more)) {
    throw TTransportException(TTransportException::CORRUPTED_DATA, "no memory for this request");
  }
  charged_bytes_ += more;
}

void Wire::ChargeElements(uint64_t count) {
  Charge(static_cast<int64_t>(count) * kBytesPerElement);
}

void Wire::ChargeResponse(size_t bytes) { Charge(static_cast<int64_t>(bytes)); }

std::vector<uint8_t> Wire::PeekBytes(size_t n) {
  const Time until = steady_clock::now() + idle_;
  std::vector<uint8_t> first;
  while (first.size() < n && Fill(until)) {
    first.insert(first.end(), in_.data(), in_.data() + in_end_);
  }
  // Puts the peeked bytes back as unread bytes. Enlarges the buffer if they do not fit.
  in_at_ = 0;
  in_end_ = first.size();
  if (in_.size() < first.size()) in_.resize(first.size());
  std::copy(first.begin(), first.end(), in_.begin());
  first.resize(std::min(first.size(), n));
  return first;
}

uint32_t Wire::read(uint8_t* buffer, uint32_t length) {
  if (in_at_ == in_end_ && !Fill(message_deadline_)) {
    throw TTransportException(TTransportException::END_OF_FILE, "no more data");
  }
  const auto n = static_cast<uint32_t>(std::min<size_t>(length, in_end_ - in_at_));
  message_bytes_ += n;
  if (message_bytes_ > message_bytes_max_) {
    throw TTransportException(TTransportException::CORRUPTED_DATA, "the request is too long");
  }
  Charge(int64_t{n} * kBytesPerByte);
  std::memcpy(buffer, in_.data() + in_at_, n);
  in_at_ += n;
  return n;
}

void Wire::Send(const uint8_t* data, size_t size) {
  if (sent_bytes_ == 0) response_begun_ = steady_clock::now();
  while (size > 0) {
    const ssize_t sent = ::send(socket_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      // A response may be larger than a request, so its time limit grows with the bytes sent.
      const auto time = idle_ + idle_ * sent_bytes_ / message_bytes_max_;
      if (WaitFor(POLLOUT, response_begun_ + time)) continue;
    }
    if (sent <= 0) throw TTransportException(TTransportException::NOT_OPEN, "the client is gone");
    data += sent;
    size -= static_cast<size_t>(sent);
    sent_bytes_ += sent;
  }
}

void Wire::write(const uint8_t* buffer, uint32_t length) {
  if (out_.size() + length > kBufferBytes) flush();
  if (length >= kBufferBytes) {
    Send(buffer, length);
  } else {
    out_.insert(out_.end(), buffer, buffer + length);
  }
}

void Wire::flush() {
  Send(out_.data(), out_.size());
  out_.clear();
}

std::shared_ptr<TProtocol> DetectProtocol(const std::shared_ptr<Wire>& wire,
                                          int32_t message_bytes_max) {
  constexpr uint8_t kBinary = 0x80, kCompact = 0x82;
  const std::vector<uint8_t> first = wire->PeekBytes(5);
  if (first.size() < 5) return nullptr;
  std::shared_ptr<TTransport> transport = wire;
  uint8_t kind = first[0];
  if (kind != kBinary && kind != kCompact) {
    // A frame begins with its length.
    kind = first[4];
    transport = std::make_shared<Framed>(wire, message_bytes_max);
  }
  if (kind == kBinary) {
    return std::make_shared<Bounded<thrift::protocol::TBinaryProtocol>>(
        wire.get(), transport, message_bytes_max, true, true);
  }
  if (kind == kCompact) {
    return std::make_shared<Bounded<thrift::protocol::TCompactProtocol>>(wire.get(), transport,
                                                                         message_bytes_max);
  }
  return nullptr;
}

}  // namespace hg::thrift2
