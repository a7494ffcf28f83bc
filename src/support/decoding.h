#pragma once
// What lies between the bytes of a file and the text in it: compression and byte order marks.
//
// A file that begins like gzip or zstd is decoded on the way in, so that every reader takes a
// compressed file like any other. The content decides, never the name of the file.
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "support/result.h"

namespace isoscope {

// Turns the bytes of a compressed file into its text, piece by piece.
class Decoder {
 public:
  struct Step {
    std::size_t taken = 0;  // of the bytes given
    std::size_t made = 0;   // of the text
  };

  virtual ~Decoder() = default;
  // Decodes part of `bytes` into `room`. Steps that neither take nor make anything ask for more
  // bytes. Several compressed texts behind each other are one text.
  virtual Result<Step> decode(std::span<const char> bytes, std::span<char> room) = 0;
  // Is the text whole if the file ends here?
  virtual bool is_complete() const = 0;
  virtual std::string_view name() const = 0;
};

inline constexpr std::size_t kBytesThatTell = 16;  // as many as the functions below look at

// The decoder of a file with this beginning; none if it is not compressed. An error for what we
// know to be a text, and cannot read: other compressions, UTF-16.
Result<std::unique_ptr<Decoder>> decoder_for(std::string_view head);

// How many bytes of a byte order mark the text begins with.
std::size_t byte_order_mark(std::string_view head);

}  // namespace isoscope
