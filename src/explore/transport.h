#pragma once
// Messages between the processes of an exploration.
//
// Messages of one process to another arrive in the order in which they were sent. Sending does not
// wait for the receiver. One thread of each process uses it.
#include <optional>
#include <string>

namespace isoscope::explore {

struct Incoming {
  unsigned from = 0;
  std::string message = {};
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual unsigned rank() const = 0;  // which of the processes we are, from 0
  virtual unsigned size() const = 0;
  virtual void send(unsigned to, std::string message) = 0;
  // Nothing if no message has come.
  virtual std::optional<Incoming> receive() = 0;
};

}  // namespace isoscope::explore
