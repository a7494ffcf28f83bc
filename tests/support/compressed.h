#pragma once
// Texts as gzip and zstd would write them.
#include <zlib.h>
#include <zstd.h>

#include <string>
#include <string_view>

#include "support/assert.h"

namespace isoscope {

inline std::string gzipped(std::string_view text) {
  z_stream stream = {};
  constexpr int kGzip = 16 + MAX_WBITS;
  ISO_ASSERT(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ISO_ASSERT(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string zstandard(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1);
  ISO_ASSERT(ZSTD_isError(size) == 0);
  out.resize(size);
  return out;
}

}  // namespace isoscope
