#pragma once
// The base class of sinks that build an instant vector from samples.

#include <deque>
#include <memory>
#include <vector>

#include "query/promql/sample_reader.h"
#include "query/promql/value.h"

namespace hg::query::promql {

/// A sink with one column of values for each series. Derived classes compute the values. Not
/// thread-safe.
class VectorSink : public SampleSink {
 public:
  Status AddSeries(Labels labels) override;
  std::vector<SampleSink*> Cut(size_t parts) override;
  Status Join() override;
  /// Returns the vector. Series without a sample are left out. Call this function only once, at the
  /// end.
  Result<Value> Finish();

 protected:
  /// `tally` and `watch` must outlive the sink and the vector that Finish returns.
  VectorSink(size_t steps, RequestContext* watch, MemoryTally* tally)
      : steps_(steps), watch_(watch), tally_(*tally) {}

  /// Creates the state of the derived class for the series that was just added.
  virtual void BeginSeries() = 0;
  /// Creates an empty sink of the same derived class, for one part of the samples (see Cut). Its
  /// memory is charged to `tally`.
  virtual std::unique_ptr<VectorSink> MakePart(MemoryTally* tally) const = 0;

  [[nodiscard]] RequestContext* watch() const { return watch_; }
  [[nodiscard]] MemoryTally& tally() { return tally_; }
  [[nodiscard]] Column& column(size_t series) { return value_.vector[series].values; }

 private:
  struct Part {
    explicit Part(RequestContext* watch) : memory(watch) {}
    MemoryTally memory;
    std::unique_ptr<VectorSink> sink;
  };
  Status EndAll();

  const size_t steps_;
  RequestContext* const watch_;
  MemoryTally& tally_;
  Value value_;
  std::deque<Part> parts_;  // the sinks that Cut returned; empty after Join
};

}  // namespace hg::query::promql
