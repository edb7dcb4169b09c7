#pragma once
// A gateway over the model store that misbehaves as a test says, and clients of it.

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

// Patience is short: what is waited for here never comes.
inline HbaseOptions Hasty(HbaseOptions options) {
  options.backoff_ms = 1;
  options.backoff_max_ms = 2;
  options.rest_ms = 1;
  options.rest_max_ms = 2;
  return options;
}

/// A gateway over the model, with table "g", and a client.
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

  /// Drops the connection of the nth call of the method, once.
  void Drop(const std::string& method, Stage stage, int nth = 1) {
    const std::lock_guard lock(mutex);
    hook = [=, left = nth](const std::string& called, Stage at) mutable {
      return called == method && at == stage && left > 0 && --left == 0 ? Fate::kDrop : Fate::kGoOn;
    };
  }

  /// Drops the connection of each call of the method.
  void DropAll(const std::string& method, Stage stage) {
    const std::lock_guard lock(mutex);
    hook = [=](const std::string& called, Stage at) {
      return called == method && at == stage ? Fate::kDrop : Fate::kGoOn;
    };
  }

  /// Every connection is dropped at its next call, new ones at their first, or no longer.
  void SetAway(bool away) {
    const std::lock_guard lock(mutex);
    hook = nullptr;
    if (away) hook = [](const std::string&, Stage) { return Fate::kDrop; };
  }
  /// The gateway is gone, with all that it knew but the tables …
  void StopGateway() {
    options.port = gateway->port();
    gateway->Stop();
  }
  /// … and another one is there, on the same port.
  void StartGateway() {
    gateway = std::make_unique<FakeGateway>([this]() -> Store& { return model; }, options);
  }

  /// Calls of the method are not carried out until Release. Returns at once.
  void Hold(const std::string& method) {
    const std::lock_guard lock(mutex);
    held = method;
  }
  /// Returns when so many are held.
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
  std::function<Fate(const std::string&, Stage)> hook;  // guarded by mutex
  std::map<std::string, int> calls;                     // guarded by mutex; each counts twice
  std::condition_variable changed;
  std::string held;  // guarded by mutex
  int holding = 0;   // guarded by mutex
  std::unique_ptr<FakeGateway> gateway;
};

}  // namespace hg::hbase
