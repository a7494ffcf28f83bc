#include "cli/mpi_transport.h"

#ifdef ISOSCOPE_MPI

#include <mpi.h>

#include <list>

namespace isoscope {
namespace {

class MpiTransport final : public explore::Transport {
 public:
  MpiTransport() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;
  ~MpiTransport() override {
    for (Sent& sent : sent_) MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
    MPI_Finalize();
  }

  unsigned rank() const override { return static_cast<unsigned>(rank_); }
  unsigned size() const override { return static_cast<unsigned>(size_); }

  void send(unsigned to, std::string message) override {
    forget_arrived();
    Sent& sent = sent_.emplace_back();
    sent.message = std::move(message);
    MPI_Isend(sent.message.data(), static_cast<int>(sent.message.size()), MPI_BYTE,
              static_cast<int>(to), 0, MPI_COMM_WORLD, &sent.request);
  }

  std::optional<explore::Incoming> receive() override {
    forget_arrived();
    int is_there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &is_there, &status);
    if (is_there == 0) return std::nullopt;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    explore::Incoming incoming{.from = static_cast<unsigned>(status.MPI_SOURCE)};
    incoming.message.resize(static_cast<std::size_t>(size));
    MPI_Recv(incoming.message.data(), size, MPI_BYTE, status.MPI_SOURCE, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return incoming;
  }

 private:
  // MPI reads a message until it has arrived.
  struct Sent {
    std::string message;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void forget_arrived() {
    std::erase_if(sent_, [](Sent& sent) {
      int is_over = 0;
      MPI_Test(&sent.request, &is_over, MPI_STATUS_IGNORE);
      return is_over != 0;
    });
  }

  int rank_ = 0;
  int size_ = 1;
  std::list<Sent> sent_;
};

}  // namespace

Result<std::unique_ptr<explore::Transport>> start_mpi() {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    return Error{.what = "MPI does not start"};
  return std::unique_ptr<explore::Transport>(std::make_unique<MpiTransport>());
}

}  // namespace isoscope

#else

namespace isoscope {

Result<std::unique_ptr<explore::Transport>> start_mpi() {
  return Error{.what = "this isoscope was built without MPI",
               .hint =
                   "install MPI (libopenmpi-dev and openmpi-bin on Debian) and build again, or "
                   "use --threads"};
}

}  // namespace isoscope

#endif
