#include "storage/hbase/put_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "storage/base/sized_bytes.h"
#include "storage/hbase/client.h"
#include "storage/hbase/failure.h"

namespace hg::hbase {
namespace {

using Service = wire::THBaseServiceClient;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Returns a unique name of the column of a cell. The parts of the name cannot be confused.
Bytes NameOf(const wire::TPut& put, const wire::TColumnValue& cell) {
  Bytes name;
  AppendSized(&name, put.row);
  AppendSized(&name, cell.family);
  name += cell.qualifier;
  return name;
}

}  // namespace

std::vector<Status> PutQueue::Send(const std::string& table, std::vector<Put> puts) {
  const Status late = Status::Unavailable("HBase has not answered older writes to table " + table);
  const auto caller = std::make_shared<Caller>();
  caller->statuses.assign(puts.size(), late);
  caller->unknown = puts.size();
  std::list<Waiting> own;
  size_t bytes = 0;
  for (size_t i = 0; i < puts.size(); ++i) {
    bytes += puts[i].bytes;
    own.push_back({std::move(puts[i]), {caller, i}});
  }
  const bool spooled = client_->Spooled(table);
  const auto give_up = steady_clock::now() + milliseconds(client_->PutDeadlineMs(table));
  std::unique_lock lock(mutex_);
  Lane& lane = lanes_[table];
  // From here on nothing throws, because other callers hold references to this caller's puts and
  // vice versa.
  lane.waiting.splice(lane.waiting.end(), own);
  lane.waiting_bytes += bytes;
  while (caller->unknown > 0) {
    if (MaySend(lane)) {
      SendFirst(table, &lane, lock);
    } else if (!spooled) {
      lane.changed.wait(lock);
    } else if (lane.changed.wait_until(lock, give_up) == std::cv_status::timeout &&
               caller->unknown > 0 && !MaySend(lane)) {
      caller->stopped = late;
      FailWaiting(&lane, {});
      return caller->statuses;  // a copy, because the threads that send the other puts still write
                                // their statuses
    }
  }
  return std::move(caller->statuses);
}

void PutQueue::SendFirst(const std::string& table, Lane* lane,
                         std::unique_lock<std::mutex>& lock) noexcept {
  Batch batch;
  try {
    batch = TakeBatch(lane);
  } catch (...) {
    FailWaiting(lane, no_memory_);
    lane->changed.notify_all();
    return;
  }
  ++lane->calls;
  ++batches_;
  rows_ += batch.puts.size();
  lock.unlock();
  SendBatch(table, &batch);
  lock.lock();
  --lane->calls;
  for (const wire::TPut& put : batch.puts) lane->rows_on_the_way.erase(put.row);
  for (size_t i = 0; i < batch.places.size(); ++i) Tell(batch.places[i], batch.statuses[i]);
  const auto away =
      std::find_if(batch.statuses.begin(), batch.statuses.end(),
                   [](const Status& status) { return status.code() == StatusCode::kUnavailable; });
  FailWaiting(lane, away == batch.statuses.end() ? Status() : *away);
  lane->changed.notify_all();
}

void PutQueue::AddStats(HbaseStats* stats) {
  const std::lock_guard lock(mutex_);
  for (const auto& [table, lane] : lanes_) stats->puts_waiting += lane.waiting.size();
  stats->put_batches = batches_;
  stats->put_rows = rows_;
}

bool PutQueue::MaySend(const Lane& lane) const {
  // Concurrent calls end in any order, so rows that are being sent must not be sent again.
  if (lane.waiting.empty() || lane.rows_on_the_way.contains(lane.waiting.front().put.put.row)) {
    return false;
  }
  const bool full = lane.waiting.size() >= client_->options.batch_rows ||
                    lane.waiting_bytes >= client_->options.batch_bytes;
  return lane.calls == 0 || (full && lane.calls < kCallsMax);
}

PutQueue::Batch PutQueue::TakeBatch(Lane* lane) const {
  std::unordered_set<Bytes> rows;
  std::unordered_set<Bytes> columns;
  const auto repeats = [&](const wire::TPut& put) {
    return std::any_of(put.columnValues.begin(), put.columnValues.end(),
                       [&](const auto& cell) { return columns.contains(NameOf(put, cell)); });
  };
  size_t count = 0;
  size_t bytes = 0;
  for (const Waiting& next : lane->waiting) {
    const wire::TPut& put = next.put.put;
    if (count == client_->options.batch_rows) break;
    if (count > 0 && bytes + next.put.bytes > client_->options.batch_bytes) break;
    if (lane->rows_on_the_way.contains(put.row) || (rows.contains(put.row) && repeats(put))) break;
    for (const wire::TColumnValue& cell : put.columnValues) columns.insert(NameOf(put, cell));
    rows.insert(put.row);
    bytes += next.put.bytes;
    ++count;
  }
  Batch batch;
  batch.puts.reserve(count);
  batch.places.reserve(count);
  batch.statuses.resize(count);
  lane->rows_on_the_way.reserve(lane->rows_on_the_way.size() + rows.size());
  // All memory is allocated; from here on nothing throws.
  lane->rows_on_the_way.merge(rows);
  for (; count > 0; --count) {
    Waiting& first = lane->waiting.front();
    batch.puts.push_back(std::move(first.put.put));
    batch.places.push_back(std::move(first.place));
    lane->waiting.pop_front();
  }
  lane->waiting_bytes -= bytes;
  return batch;
}

void PutQueue::Tell(const Place& place, const Status& status) {
  Caller& caller = *place.caller;
  if (IsTemporary(status) && caller.stopped.ok()) caller.stopped = status;
  caller.statuses[place.at] = status;
  --caller.unknown;
}

// Fails puts that wait. Otherwise each of them would wait as long as the call that failed, or
// overwrite newer writes later.
void PutQueue::FailWaiting(Lane* lane, const Status& away) {
  for (auto one = lane->waiting.begin(); one != lane->waiting.end();) {
    const Status why = away.ok() ? one->place.caller->stopped : away;
    if (why.ok()) {
      ++one;
      continue;
    }
    lane->waiting_bytes -= one->put.bytes;
    Tell(one->place, why);
    one = lane->waiting.erase(one);
  }
}

void PutQueue::SendBatch(const std::string& table, Batch* batch) noexcept {
  std::vector<Status>& statuses = batch->statuses;
  try {
    const int deadline_ms = client_->PutDeadlineMs(table);
    const auto send_one = [&](const wire::TPut& put) {
      const CallOptions call{"put", table, Repeat::kAlways, deadline_ms};
      return client_->Send(call, [&](Service& service) { service.put(table, put); });
    };
    if (batch->puts.size() == 1) {
      statuses[0] = send_one(batch->puts[0]);
      return;
    }
    const Status sent =
        client_->Send({"putMultiple", table, Repeat::kAlways, deadline_ms},
                      [&](Service& service) { service.putMultiple(table, batch->puts); });
    std::fill(statuses.begin(), statuses.end(), sent);
    // The failure does not say which rows it concerns, and the other rows were written, so each row
    // is sent alone. If HBase is unreachable or busy, no row was written. Sending each row would
    // then only repeat the wait.
    if (sent.ok() || IsTemporary(sent)) return;
    for (size_t i = 0; i < statuses.size(); ++i) {
      const bool away = i > 0 && statuses[i - 1].code() == StatusCode::kUnavailable;
      statuses[i] = away ? statuses[i - 1] : send_one(batch->puts[i]);
    }
  } catch (...) {
    // Other callers wait for the statuses of their puts, so each put must get one.
    std::fill(statuses.begin(), statuses.end(), no_memory_);
  }
}

}  // namespace hg::hbase
