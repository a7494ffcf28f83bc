#include <fmt/format.h>

#include <thread>

#include "explore/recording_packing.h"
#include "explore/team_member.h"
#include "support/assert.h"

namespace isoscope::explore {

Result<void> agree(Transport& transport, const std::string& identity,
                   const std::optional<Error>& error) {
  const auto next = [&](Message kind) {
    for (;;) {
      if (auto incoming = transport.receive()) {
        Unpacker in(incoming->message);
        ISO_ASSERT(static_cast<Message>(in.number()) == kind);
        return *std::move(incoming);
      }
      std::this_thread::sleep_for(kLook);
    }
  };
  const auto pack_error = [](Packer& out, const std::optional<Error>& wrong) {
    out.number(wrong ? 1 : 0);
    pack(out, wrong.value_or(Error{}));
  };
  const auto unpack_optional_error = [](Unpacker& in) -> std::optional<Error> {
    const bool has_error = in.number() != 0;
    Error wrong = unpack_error(in);
    if (!has_error) return std::nullopt;
    return wrong;
  };
  std::optional<Error> found = error;
  if (transport.rank() == 0) {
    for (unsigned i = 1; i < transport.size(); ++i) {
      const Incoming incoming = next(Message::Ready);
      Unpacker in(incoming.message);
      (void)in.number();
      const bool is_same = in.text() == identity;
      std::optional<Error> wrong = unpack_optional_error(in);
      if (found) continue;
      if (wrong) wrong->what = fmt::format("process {}: {}", incoming.from, wrong->what);
      if (!wrong && !is_same)
        wrong = Error{.what = fmt::format("process {} has another program or other options than "
                                          "process 0",
                                          incoming.from),
                      .hint = "all machines need the same files"};
      found = std::move(wrong);
    }
    Packer out = message(Message::Agreed);
    pack_error(out, found);
    const std::string answer = out.take();
    for (unsigned i = 1; i < transport.size(); ++i) transport.send(i, answer);
  } else {
    Packer out = message(Message::Ready);
    out.text(identity);
    pack_error(out, error);
    transport.send(0, out.take());
    const Incoming incoming = next(Message::Agreed);
    Unpacker in(incoming.message);
    (void)in.number();
    found = unpack_optional_error(in);
  }
  if (found) return *std::move(found);
  return {};
}

}  // namespace isoscope::explore
