#include "bench/reply_reader.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "bench/measuring.h"
#include "storage/model/letter_case.h"

namespace hg::bench {
namespace {

constexpr size_t kTextMax = 2000;

}  // namespace

void ReplyReader::TakeHead() {
  static constexpr std::string_view kLength = "\r\ncontent-length:";
  const std::string head = LowerCase(line_);
  text_ = line_;
  // The line begins like "http/1.1 204 ...".
  status_ = head.size() > 12 ? std::atoi(head.c_str() + 9) : 0;
  closes_ = head.find("\r\nconnection: close\r\n") != std::string::npos;
  line_.clear();
  if (status_ == 204) {
    at_ = At::kDone;
  } else if (head.find("\r\ntransfer-encoding: chunked\r\n") != std::string::npos) {
    at_ = At::kChunkSize;
  } else if (const size_t length = head.find(kLength); length != std::string::npos) {
    wanted_ = std::strtoull(head.c_str() + length + kLength.size(), nullptr, 10);
    at_ = wanted_ > 0 ? At::kBody : At::kDone;
  } else {
    Die("an answer of unknown length: " + text_);
  }
}

void ReplyReader::TakeLine() {
  if (at_ == At::kTrailer) {
    if (line_ == "\r\n") at_ = At::kDone;
  } else {
    size_t size = 0;
    std::from_chars(line_.data(), line_.data() + line_.size(), size, 16);
    body_bytes_ += size;
    wanted_ = size + 2;  // includes the line end after the chunk
    at_ = size > 0 ? At::kChunk : At::kTrailer;
  }
  line_.clear();
}

void ReplyReader::TakeBytes(std::string_view* piece) {
  const size_t count = std::min(wanted_, piece->size());
  if (text_.size() < kTextMax) text_.append(piece->substr(0, std::min(count, kTextMax)));
  if (at_ == At::kBody) body_bytes_ += count;
  piece->remove_prefix(count);
  wanted_ -= count;
  if (wanted_ == 0) at_ = at_ == At::kBody ? At::kDone : At::kChunkSize;
}

bool ReplyReader::Feed(std::string_view piece) {
  while (!piece.empty() && at_ != At::kDone) {
    if (at_ == At::kBody || at_ == At::kChunk) {
      TakeBytes(&piece);
      continue;
    }
    const bool head = at_ == At::kHead;
    const std::string_view end = head ? "\r\n\r\n" : "\r\n";
    // The end of the line may be split between two pieces.
    const size_t before = line_.size();
    line_.append(piece);
    const size_t found = line_.find(end, before > end.size() ? before - end.size() : 0);
    if (found == std::string::npos) return false;
    piece.remove_prefix(found + end.size() - before);
    line_.resize(found + end.size());
    head ? TakeHead() : TakeLine();
  }
  return at_ == At::kDone;
}

}  // namespace hg::bench
