#pragma once
// A fake gateway of HBase (FakeGateway) that keeps its data in a ModelStore, and clients of this
// gateway. Tests choose at which calls the gateway fails.

#include <doctest/doctest.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "storage/hbase/hbase_store.h"
#include "tests/support/hbase/gateway.h"
#include "tests/support/model_store.h"

namespace hg::hbase {

inline const TableDescriptor kTable{"g", {{"a"}, {"b"}}, false};

// Returns the same options, but with short pauses between attempts, so that tests of failures are
// fast.
inline HbaseOptions Hasty(HbaseOptions options) {
  options.backoff_ms = 1;
  options.backoff_max_ms = 2;
  options.rest_ms = 1;
  options.rest_max_ms = 2;
  return options;
}

/// Returns a mutation that writes the column "q" of the row `key` in the table "g".
inline RowMutation PutRow(const Bytes& key, const Bytes& value, const Bytes& family = "a") {
  return {key, {PutCell(family, "q", value)}};
}

/// Returns the value that PutRow has written to the row `key`, or "" if the row has no value.
inline Bytes ValueOf(Store& store, const Bytes& key) {
  auto row = store.Get("g", key, "a", {"q"});
  REQUIRE(row.ok());
  return row->cells.empty() ? Bytes() : row->cells[0].value;
}

/// A FakeGateway that keeps its data in a ModelStore with the table "g", and the clients of this
/// gateway.
struct Bed {
  explicit Bed(GatewayOptions with = {}) : options(std::move(with)) {
    options.hook = [this](const std::string& method, Stage stage) {
      std::unique_lock lock(mutex);
      ++calls[method];
      if (method == held && stage == Stage::kBefore) {
        ++holding;
        changed.notify_all();
        changed.wait(lock, [&] { return method != held; });
        --holding;
      }
      return hook ? hook(method, stage) : Fate::kGoOn;
    };
    gateway = std::make_unique<FakeGateway>([this]() -> Store& { return model; }, options);
    REQUIRE(model.CreateTable(kTable).ok());
  }

  std::unique_ptr<HbaseStore> Connect(const HbaseOptions& options) {
    auto connected = HbaseStore::Connect(options);
    INFO(connected.status().ToString());
    REQUIRE(connected.ok());
    return std::move(*connected);
  }
  std::unique_ptr<HbaseStore> Connect() { return Connect(Hasty(gateway->ClientOptions())); }

  /// Makes the gateway close the connection once, at the nth call of the method from now on.
  /// `stage` is the moment of the call.
  void Drop(const std::string& method, Stage stage, int nth = 1) {
    const std::lock_guard lock(mutex);
    hook = [=, left = nth](const std::string& called, Stage at) mutable {
      return called == method && at == stage && left > 0 && --left == 0 ? Fate::kDrop : Fate::kGoOn;
    };
  }

  /// Makes the gateway close the connection at each call of the method. `stage` is the moment of
  /// the call.
  void DropAll(const std::string& method, Stage stage) {
    const std::lock_guard lock(mutex);
    hook = [=](const std::string& called, Stage at) {
      return called == method && at == stage ? Fate::kDrop : Fate::kGoOn;
    };
  }

  /// If `away` is true, the gateway closes each connection at the next call on it, so no call
  /// succeeds. If `away` is false, the gateway serves calls.
  void SetAway(bool away) {
    const std::lock_guard lock(mutex);
    hook = nullptr;
    if (away) hook = [](const std::string&, Stage) { return Fate::kDrop; };
  }
  /// Stops the gateway. Its open scanners are lost, but the tables stay.
  void StopGateway() {
    options.port = gateway->port();
    gateway->Stop();
  }
  /// Starts a new gateway on the port that the previous gateway had.
  void StartGateway() {
    gateway = std::make_unique<FakeGateway>([this]() -> Store& { return model; }, options);
  }

  /// Makes the gateway delay calls of the method from now on, until Release is called. Returns at
  /// once.
  void Hold(const std::string& method) {
    const std::lock_guard lock(mutex);
    held = method;
  }
  /// Waits until the gateway is delaying `count` calls.
  void WaitHeld(int count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return holding >= count; });
  }
  void Release() {
    const std::lock_guard lock(mutex);
    held.clear();
    changed.notify_all();
  }

  int Calls(const std::string& method) {
    const std::lock_guard lock(mutex);
    return calls[method] / 2;
  }

  GatewayOptions options;
  ModelStore model;
  std::mutex mutex;
  /// Decides what happens to each call; guarded by mutex.
  std::function<Fate(const std::string&, Stage)> hook;
  // The number of calls of each method. Each call is counted twice: before and after the gateway
  // carries it out. Guarded by mutex.
  std::map<std::string, int> calls;
  std::condition_variable changed;
  std::string held;  // the method whose calls are delayed; guarded by mutex
  int holding = 0;   // number of calls that are delayed now; guarded by mutex
  std::unique_ptr<FakeGateway> gateway;
};

}  // namespace hg::hbase
