#include "http/wire/remote_write.h"

#include <doctest/doctest.h>
#include <prometheus.pb.h>

#include <bit>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "http/wire/request_memory.h"

namespace hg::http {
namespace {

/// The names of the first labels of the visited series.
struct Visited {
  Status status;
  std::vector<std::string> names;
};

Visited Read(std::string_view bytes, RequestMemory::Share* memory = nullptr) {
  Visited visited;
  visited.status = ReadWriteRequest(
      bytes,
      [&](const WrittenSeries& series) {
        visited.names.emplace_back(series.labels.empty() ? "" : series.labels[0].name);
        return Status();
      },
      [](const MetricDescription&) {}, memory);
  return visited;
}

/// Returns all series as text.
std::string Shown(std::string_view bytes) {
  std::string text;
  const Status read = ReadWriteRequest(
      bytes,
      [&](const WrittenSeries& series) {
        for (const Label& label : series.labels)
          text.append(label.name).append("=").append(label.value).append(",");
        for (const WrittenSeries::Sample& sample : series.samples)
          text += std::to_string(std::bit_cast<uint64_t>(sample.value)) + "@" +
                  std::to_string(sample.time_ms) + ",";
        text += std::to_string(series.histograms) + series.fault + "\n";
        return Status();
      },
      [](const MetricDescription&) {}, nullptr);
  return read.ok() ? text : "none";
}

/// Returns the same text, but parses the message with protobuf alone.
std::string ShownByProtobuf(const std::string& bytes) {
  std::string text;
  prometheus::WriteRequest message;
  if (!message.ParseFromString(bytes)) return "none";
  for (const prometheus::TimeSeries& series : message.timeseries()) {
    for (const prometheus::Label& label : series.labels())
      text += label.name() + "=" + label.value() + ",";
    for (const prometheus::Sample& sample : series.samples())
      text += std::to_string(std::bit_cast<uint64_t>(sample.value())) + "@" +
              std::to_string(sample.timestamp()) + ",";
    text += std::to_string(series.histograms_size()) + "\n";
  }
  return text;
}

std::string WriteBytes(const std::vector<std::string>& names) {
  prometheus::WriteRequest message;
  for (const std::string& name : names) message.add_timeseries()->add_labels()->set_name(name);
  return message.SerializeAsString();
}

/// Returns all series of a request of 2.0 as text, or the error.
std::string Shown2(std::string_view bytes, uint64_t labels_bytes_max = 1 << 20) {
  std::string text;
  const auto show = [&](const WrittenSeries& series) {
    for (const Label& label : series.labels)
      text.append(label.name).append("=").append(label.value).append(",");
    for (const WrittenSeries::Sample& sample : series.samples)
      text += std::to_string(std::bit_cast<uint64_t>(sample.value)) + "@" +
              std::to_string(sample.time_ms) + ",";
    text += std::to_string(series.histograms) + series.fault + "\n";
    return Status();
  };
  const auto ignore = [](const MetricDescription&) {};
  const Status read = ReadWriteRequest2(bytes, labels_bytes_max, show, ignore, nullptr);
  return read.ok() ? text : std::string(read.message());
}

/// Returns the same text, but parses the message with protobuf alone. "none": the request is not
/// valid.
std::string Shown2ByProtobuf(const std::string& bytes) {
  prometheus::WriteRequest2 message;
  if (!message.ParseFromString(bytes)) return "none";
  if (message.symbols_size() > 0 && !message.symbols(0).empty()) return "none";
  std::string text;
  for (const prometheus::TimeSeries2& series : message.timeseries()) {
    std::string labels, fault;
    for (int i = 0; i < series.labels_refs_size() && fault.empty(); ++i) {
      const uint32_t ref = series.labels_refs(i);
      if (ref >= static_cast<uint32_t>(message.symbols_size())) {
        fault = "refers to the symbol " + std::to_string(ref) + " of a table of " +
                std::to_string(message.symbols_size());
      } else {
        labels += message.symbols(static_cast<int>(ref)) + (i % 2 == 0 ? "=" : ",");
      }
    }
    if (fault.empty() && series.labels_refs_size() % 2 != 0) fault = "has a label without a value";
    if (fault.empty()) text += labels;
    for (const prometheus::Sample& sample : series.samples())
      text += std::to_string(std::bit_cast<uint64_t>(sample.value())) + "@" +
              std::to_string(sample.timestamp()) + ",";
    text += std::to_string(series.histograms_size()) + fault + "\n";
  }
  return text;
}

/// A request of 2.0 with these symbols after "", and one series with these references.
prometheus::WriteRequest2 Request2(const std::vector<std::string>& symbols,
                                   const std::vector<uint32_t>& refs) {
  prometheus::WriteRequest2 message;
  message.add_symbols("");
  for (const std::string& symbol : symbols) message.add_symbols(symbol);
  prometheus::TimeSeries2* const series = message.add_timeseries();
  for (const uint32_t ref : refs) series->add_labels_refs(ref);
  return message;
}

/// Returns the descriptions in a request as "metric type help unit;".
std::string Described(std::string_view bytes, bool second) {
  std::string text;
  const auto describe = [&](const MetricDescription& of) {
    text.append(of.metric).append(" ").append(of.type).append(" ");
    text.append(of.help).append(" ").append(of.unit).append(";");
  };
  const auto ignore = [](const WrittenSeries&) { return Status(); };
  const Status read = second ? ReadWriteRequest2(bytes, 1 << 20, ignore, describe, nullptr)
                             : ReadWriteRequest(bytes, ignore, describe, nullptr);
  return read.ok() ? text : std::string(read.message());
}

}  // namespace

TEST_CASE("series are visited in order, without remains of the previous series") {
  prometheus::WriteRequest message;
  message.add_timeseries()->add_labels()->set_name("a");
  message.add_timeseries();
  message.add_timeseries()->add_labels()->set_name("b");
  const Visited visited = Read(message.SerializeAsString());
  CHECK(visited.status.ok());
  CHECK(visited.names == std::vector<std::string>{"a", "", "b"});
  CHECK(Read("").status.ok());
}

TEST_CASE("unknown fields are skipped") {
  // Field 3 is metadata, a message; field 15 is a number. Both are ignored.
  const std::string metadata("\x1a\x03\x08\x01\x12", 5), number("\x78\x05", 2);
  const Visited visited =
      Read(metadata + WriteBytes({"a"}) + number + WriteBytes({"b"}) + metadata);
  CHECK(visited.status.ok());
  CHECK(visited.names == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a truncated request is refused, wherever it is cut") {
  const std::string first = WriteBytes({"a"}), whole = WriteBytes({"a", "bcd"});
  for (size_t size = 1; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(Read(whole.substr(0, size)).status.ok() == (size == first.size()));
  }
}

TEST_CASE("invalid requests are refused") {
  CHECK_FALSE(Read("not a message").status.ok());
  CHECK_FALSE(Read(std::string("\x0a\x80\x80\x80\x80\x08", 6)).status.ok());  // 2 GiB long
  CHECK_FALSE(Read(std::string("\0", 1)).status.ok());
  CHECK_FALSE(
      Read(std::string("\xc2\xf6\xff\xff\xff\xfe\x18\0", 8)).status.ok());  // seven bytes of tag
  const Status large = Read(WriteBytes({std::string(kWriteSeriesBytesMax, 'x')})).status;
  CHECK(large.message().find("is longer than 4194304") != std::string::npos);
}

TEST_CASE("of a long help text only 4096 bytes are read, because each series may refer to it") {
  prometheus::WriteRequest2 message = Request2(
      {"__name__", "up", std::string(4095, 'x') + "é" + std::string(1'000'000, 'x')}, {1, 2});
  message.mutable_timeseries(0)->mutable_metadata()->set_help_ref(3);
  CHECK(Described(message.SerializeAsString(), true) == "up  " + std::string(4095, 'x') + " ;");
}

TEST_CASE("truncated or damaged series give the same result as protobuf, for every byte") {
  prometheus::WriteRequest message;
  prometheus::TimeSeries* const series = message.add_timeseries();
  for (const auto& [name, value] : {std::pair("__name__", "up"), {"job", "é"}, {"empty", ""}}) {
    prometheus::Label* const label = series->add_labels();
    label->set_name(name);
    label->set_value(value);
  }
  for (const int64_t time : {int64_t{1700000000123}, int64_t{0}, int64_t{-5}}) {
    prometheus::Sample* const sample = series->add_samples();
    sample->set_value(static_cast<double>(time) / 3);
    sample->set_timestamp(time);
  }
  series->add_histograms("x");
  *message.add_timeseries() = *series;
  std::string body = message.SerializeAsString();
  // A label with a repeated name, an unknown number and an unknown group.
  body += std::string("\x0a\x0f\x0a\x0d\x0a\x01x\x0a\x01y\x18\x05\x12\x01z\x23\x24", 17);
  CHECK(Shown(body) == ShownByProtobuf(body));
  CHECK(Shown(body).ends_with("y=z,0\n"));
  for (size_t at = 0; at < body.size(); ++at) {
    const auto check = [at](const std::string& changed) {
      if (Shown(changed) != ShownByProtobuf(changed)) FAIL_CHECK(at);
    };
    check(body.substr(0, at));
    check(body.substr(0, at) + body.substr(at + 1));
    for (const int change : {1, 2, 8, 0x80, 0xFF}) {
      std::string damaged = body;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      check(damaged);
    }
  }
}

TEST_CASE("a series with only empty labels is charged before it is parsed") {
  std::string series;
  for (int i = 0; i < 1'000'000; ++i) series += std::string("\x0a\x00", 2);
  std::string request = "\x0a";
  for (size_t size = series.size(); size > 0; size >>= 7)
    request += static_cast<char>(size > 127 ? size % 128 + 128 : size);
  request += series;
  RequestMemory memory(uint64_t{32} << 20);
  RequestMemory::Share share(memory, 0);
  CHECK(Read(request, &share).status.code() == StatusCode::kLimitExceeded);
  CHECK(share.held() == 0);
}

TEST_CASE(
    "a series with more labels than a row key can have tags has a fault, and others are read") {
  prometheus::WriteRequest message;
  prometheus::WriteRequest2 second = Request2({"a"}, {});
  for (const size_t labels : {kWriteLabelsMax + 1, kWriteLabelsMax}) {
    prometheus::TimeSeries* const series = message.add_timeseries();
    prometheus::TimeSeries2* const refs = second.add_timeseries();
    for (size_t i = 0; i < labels; ++i) {
      series->add_labels()->set_name("a");
      refs->add_labels_refs(1);
      refs->add_labels_refs(0);
    }
  }
  second.mutable_timeseries()->DeleteSubrange(0, 1);
  std::string expected = "0has more than 16383 labels\n";
  for (size_t i = 0; i < kWriteLabelsMax; ++i) expected += "a=,";
  expected += "0\n";
  CHECK(Shown(message.SerializeAsString()) == expected);
  CHECK(Shown2(second.SerializeAsString()) == expected);
}

TEST_CASE("series of 2.0 are read through the table of symbols, wherever it is in the request") {
  prometheus::WriteRequest2 message = Request2({"__name__", "up", "job", "node"}, {1, 2, 3, 4});
  message.mutable_timeseries(0)->add_samples()->set_timestamp(5);
  const std::string expected = "__name__=up,job=node,0@5,0\n";
  CHECK(Shown2(message.SerializeAsString()) == expected);
  prometheus::WriteRequest2 symbols = message;
  symbols.clear_timeseries();
  message.clear_symbols();
  CHECK(Shown2(message.SerializeAsString() + symbols.SerializeAsString()) == expected);
  CHECK(Shown2("").empty());
}

TEST_CASE("a series of 2.0 with invalid references has a fault, and other series are read") {
  for (const auto& [refs, fault] : std::vector<std::pair<std::vector<uint32_t>, std::string>>{
           {{1, 3}, "refers to the symbol 3 of a table of 3"},
           {{1, 4294967295U}, "refers to the symbol 4294967295 of a table of 3"},
           {{1, 2, 1}, "has a label without a value"}}) {
    prometheus::WriteRequest2 message = Request2({"a", "b"}, refs);
    prometheus::TimeSeries2* const good = message.add_timeseries();
    good->add_labels_refs(1);
    good->add_labels_refs(2);
    CHECK(Shown2(message.SerializeAsString()) == "0" + fault + "\na=b,0\n");
  }
}

TEST_CASE("a table of symbols of 2.0 that does not begin with an empty text is refused") {
  prometheus::WriteRequest2 message;
  message.add_symbols("a");
  CHECK(Shown2(message.SerializeAsString()) == "The first symbol of the request is not empty");
  message.set_symbols(0, "");
  CHECK(Shown2(message.SerializeAsString()).empty());
}

TEST_CASE("labels of 2.0 are bounded although many references may share a long symbol") {
  const std::string half(kWriteSeriesBytesMax / 2, 'x');
  prometheus::WriteRequest2 message = Request2({half}, {1, 1, 1, 1});
  CHECK(Shown2(message.SerializeAsString(), 64 << 20) ==
        "0has labels of 8388608 bytes, more than 4194304\n");
  message = Request2({half}, {1, 1});
  for (int i = 0; i < 4; ++i) *message.add_timeseries() = message.timeseries(0);
  CHECK(Shown2(message.SerializeAsString(), 20 << 20).size() == 5 * (2 * half.size() + 4));
  CHECK(Shown2(message.SerializeAsString(), (20 << 20) - 1) ==
        "The labels of the series have more than 20971519 bytes");
}

TEST_CASE("truncated or damaged series of 2.0 give the same result as protobuf, for every byte") {
  prometheus::WriteRequest2 message = Request2({"__name__", "up", "job", "é"}, {1, 2, 3, 4});
  prometheus::TimeSeries2* const series = message.mutable_timeseries(0);
  for (const int64_t time : {int64_t{1700000000123}, int64_t{-5}}) {
    prometheus::Sample* const sample = series->add_samples();
    sample->set_value(static_cast<double>(time) / 3);
    sample->set_timestamp(time);
  }
  series->add_histograms("x");
  series->mutable_metadata()->set_type(1);
  series->mutable_metadata()->set_help_ref(2);
  *message.add_timeseries() = *series;
  std::string body = message.SerializeAsString();
  // References that are not packed, an exemplar, an unknown field above 15 and an unknown group.
  body += std::string("\x2a\x0c\x08\x01\x08\x02\x22\x01x\x80\x01\x05\x33\x34", 14);
  CHECK(Shown2(body) == Shown2ByProtobuf(body));
  size_t refused = 0, faults = 0;
  for (size_t at = 0; at < body.size(); ++at) {
    const auto check = [&](const std::string& changed) {
      const std::string exact = Shown2ByProtobuf(changed), shown = Shown2(changed);
      refused += exact == "none";
      faults += exact.find("refers to") != std::string::npos;
      if (exact == "none" ? !shown.starts_with("The ") : shown != exact) FAIL_CHECK(at);
    };
    check(body.substr(0, at));
    check(body.substr(0, at) + body.substr(at + 1));
    for (const int change : {1, 2, 8, 0x80, 0xFF}) {
      std::string damaged = body;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      check(damaged);
    }
  }
  CHECK(refused > 100);
  CHECK(faults > 10);
}

TEST_CASE("the series after the one at which a request ends are not read") {
  prometheus::WriteRequest2 second = Request2({}, {});
  for (int i = 0; i < 9; ++i) second.add_timeseries();
  for (const bool version_2 : {false, true}) {
    int visited = 0;
    const auto end_at_third = [&](const WrittenSeries&) {
      return ++visited == 3 ? Status::DeadlineExceeded("ended") : Status();
    };
    const auto ignore = [](const MetricDescription&) {};
    const Status read = version_2 ? ReadWriteRequest2(second.SerializeAsString(), 1 << 20,
                                                      end_at_third, ignore, nullptr)
                                  : ReadWriteRequest(WriteBytes({"a", "b", "c", "d", "e"}),
                                                     end_at_third, ignore, nullptr);
    CHECK(read.code() == StatusCode::kDeadlineExceeded);
    CHECK(visited == 3);
  }
}

TEST_CASE("symbols and references of 2.0 are charged before they are kept") {
  const auto charged = [](const std::string& request) {
    RequestMemory memory(uint64_t{32} << 20);
    RequestMemory::Share share(memory, 0);
    const Status read = ReadWriteRequest2(
        request, 1 << 20, [](const WrittenSeries&) { return Status(); },
        [](const MetricDescription&) {}, &share);
    CHECK(share.held() == 0);
    return read.code() == StatusCode::kLimitExceeded;
  };
  std::string symbols;
  for (int i = 0; i < 2'000'000; ++i) symbols += std::string("\x22\x00", 2);
  CHECK(charged(symbols));
  prometheus::WriteRequest2 references = Request2({}, {});
  references.mutable_timeseries(0)->mutable_labels_refs()->Resize(2'000'000, 0);
  CHECK(charged(references.SerializeAsString()));
  references.mutable_timeseries(0)->mutable_labels_refs()->Resize(2'000, 0);
  CHECK_FALSE(charged(references.SerializeAsString()));
}

TEST_CASE("metadata of both versions is reported, of 2.0 under the name of the family") {
  // type 1, family "up", help "h", unit "s"; then one that is truncated, and a series.
  const std::string one("\x1a\x0c\x08\x01\x12\x02up\x22\x01h\x2a\x01s", 14);
  CHECK(Described(one + std::string("\x1a\x03\x08\x01\x12", 5) + WriteBytes({"a"}), false) ==
        "up counter h s;");
  for (const auto& [name, type, family] : std::vector<std::tuple<std::string, int, std::string>>{
           {"up", 2, "up gauge"},
           {"wait_bucket", 3, "wait histogram"},
           {"wait_sum", 5, "wait summary"},
           {"wait_count", 1, "wait_count counter"},
           {"_sum", 5, "_sum summary"},
           {"up", 99, "up "}}) {
    prometheus::WriteRequest2 message = Request2({"__name__", name, "h", "s"}, {1, 2});
    prometheus::Metadata2* const metadata = message.mutable_timeseries(0)->mutable_metadata();
    metadata->set_type(type);
    metadata->set_help_ref(3);
    metadata->set_unit_ref(99);  // of no symbol
    *message.add_timeseries() = message.timeseries(0);
    CHECK(Described(message.SerializeAsString(), true) == family + " h ;");
  }
}

}  // namespace hg::http
