#pragma once
// The messages of PostgreSQL's wire protocol, version 3: how bytes fall into messages, and how a
// message falls into fields.
//
//     message       type (one byte)  length (four bytes, itself included)  payload
//     start packet                   length (four bytes, itself included)  payload
//
// A Framer splits a stream. Messages that its user wants to look at come whole; of the others the
// bytes come as they arrive, so that a row of a gigabyte needs no memory. Whatever it says, the
// pieces put together are the stream, byte by byte.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace isoscope::record {

// Codes in the place of a protocol version, in start packets.
inline constexpr std::uint32_t kProtocol3 = 3U << 16U;  // with any minor version
inline constexpr std::uint32_t kCancelRequest = 80877102;
inline constexpr std::uint32_t kTlsRequest = 80877103;
inline constexpr std::uint32_t kGssRequest = 80877104;

// The server's own limits.
inline constexpr std::size_t kLargestStartPacket = 10'000;
inline constexpr std::size_t kLargestMessage = std::size_t{1} << 30U;
// A message that is longer than this is not gathered, unless its user says so.
inline constexpr std::size_t kLargestGathered = std::size_t{16} << 20U;

struct Piece {
  enum class Kind : std::uint8_t {
    Incomplete,  // more bytes are needed
    Message,     // a whole message, with its header
    Part,        // the next bytes of a message that is not gathered
    Broken,      // this is not the protocol
  };
  Kind kind = Kind::Incomplete;
  char type = 0;                // of the message; 0 of a start packet
  std::string_view bytes = {};  // begins where `unread` begins
  bool is_first = false;        // of a Part: does it begin the message?

  // What follows the header. Requires: a Message.
  std::string_view payload() const { return bytes.substr(type == 0 ? 4 : 5); }
};

class Framer {
 public:
  // `gathered`: the types of the messages that come whole, up to a size.
  explicit Framer(std::string_view gathered, std::size_t largest = kLargestGathered)
      : gathered_(gathered), largest_(largest) {}

  // The piece at the beginning of what was not taken yet. The caller takes its bytes away.
  Piece next(std::string_view unread);
  // The same for a start packet, which has no type.
  static Piece next_start_packet(std::string_view unread);

 private:
  std::string gathered_;
  std::size_t largest_;
  std::size_t rest_ = 0;  // bytes to come of a message in parts
  char type_ = 0;
};

// Reads the fields of a payload. After a field that is not there, has_failed() is true and every
// further field is empty.
class Fields {
 public:
  explicit Fields(std::string_view payload) : rest_(payload) {}

  std::uint8_t byte();
  std::uint16_t int16();
  std::uint32_t int32();
  std::string_view string();  // up to a zero byte, which is taken too
  std::string_view bytes(std::size_t count);
  bool has_failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::uint64_t number(std::size_t size);

  std::string_view rest_;
  bool failed_ = false;
};

void append_int16(std::string& out, std::uint16_t number);
void append_int32(std::string& out, std::uint32_t number);
// A whole message of that type.
std::string message_of(char type, std::string_view payload);

// A field of an ErrorResponse or NoticeResponse, such as 'C' (the SQLSTATE); empty if it has none.
std::string_view error_field(std::string_view payload, char field);

}  // namespace isoscope::record
