#pragma once
// A proxy in a thread of its own, before a server.
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "record/proxy.h"

namespace isoscope::record {

class RunningProxy {
 public:
  explicit RunningProxy(int server_port, Gatekeeper* gates = nullptr)
      : RunningProxy({.server = {"127.0.0.1", server_port}, .gates = gates}) {}
  explicit RunningProxy(ProxyOptions options) {
    auto made = Proxy::listen(std::move(options), [this](const Client& client, RecordedTxn txn) {
      const std::scoped_lock lock(mutex_);
      txns_.emplace_back(client, std::move(txn));
    });
    if (!made) throw std::runtime_error(made.error().what);
    proxy_ = std::move(*made);
    thread_ = std::thread([this] {
      while (!stop_) proxy_->step(10);
      proxy_->close_all();
    });
  }
  ~RunningProxy() { stop(); }
  RunningProxy(const RunningProxy&) = delete;
  RunningProxy& operator=(const RunningProxy&) = delete;

  int port() const { return proxy_->port(); }
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  const ProxyNumbers& numbers() const { return proxy_->numbers(); }
  std::vector<std::pair<Client, RecordedTxn>> txns() {
    const std::scoped_lock lock(mutex_);
    return txns_;
  }

 private:
  std::unique_ptr<Proxy> proxy_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::vector<std::pair<Client, RecordedTxn>> txns_;
  std::thread thread_;
};

}  // namespace isoscope::record
