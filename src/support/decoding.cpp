#include "support/decoding.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

namespace isoscope {

namespace {

using std::string_view_literals::operator""sv;

constexpr auto kGzip = "\x1f\x8b\x08"sv;
constexpr auto kZstd = "\x28\xb5\x2f\xfd"sv;
constexpr auto kXz =
    "\xfd"sv
    "7zXZ\0"sv;
constexpr auto kBzip2 = "1AY&SY"sv;  // behind "BZh" and a digit

Error damaged(const Decoder& decoder, std::string_view why) {
  return Error{.what = fmt::format("the {} data is damaged: {}", decoder.name(), why),
               .hint = fmt::format("{} -t FILE tests it", decoder.name())};
}

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    is_ready_ = inflateInit2(&stream_, kGzipOnly) == Z_OK;
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  Result<Step> decode(std::span<const char> bytes, std::span<char> room) override {
    if (!is_ready_) return damaged(*this, "no memory to decode it");
    if (bytes.empty()) return Step{};
    if (is_complete_) {
      // Zeros fill the last block of a tape; gzip itself ignores them.
      if (bytes.front() == '\0') return Step{.taken = 1, .made = 0};
      if (inflateReset(&stream_) != Z_OK) return damaged(*this, "no memory to decode it");
      is_complete_ = false;
    }
    const std::size_t given = std::min<std::size_t>(bytes.size(), kMost);
    const std::size_t free = std::min<std::size_t>(room.size(), kMost);
    // zlib does not change what it reads; its interface is older than const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(given);
    stream_.next_out = reinterpret_cast<Bytef*>(room.data());
    stream_.avail_out = static_cast<uInt>(free);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      return damaged(*this, stream_.msg != nullptr ? stream_.msg : "it cannot be decoded");
    is_complete_ = status == Z_STREAM_END;
    return Step{given - stream_.avail_in, free - stream_.avail_out};
  }
  bool is_complete() const override { return is_complete_; }
  std::string_view name() const override { return "gzip"; }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 30U;  // zlib counts in 32 bits

  z_stream stream_ = {};
  bool is_ready_ = false;
  bool is_complete_ = false;
};

class ZstdDecoder final : public Decoder {
 public:
  Result<Step> decode(std::span<const char> bytes, std::span<char> room) override {
    if (stream_ == nullptr) return damaged(*this, "no memory to decode it");
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer out{room.data(), room.size(), 0};
    const std::size_t left = ZSTD_decompressStream(stream_.get(), &out, &in);
    if (ZSTD_isError(left) != 0) return damaged(*this, ZSTD_getErrorName(left));
    if (in.pos > 0 || out.pos > 0) is_complete_ = left == 0;
    return Step{in.pos, out.pos};
  }
  bool is_complete() const override { return is_complete_; }
  std::string_view name() const override { return "zstd"; }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  std::unique_ptr<ZSTD_DStream, Free> stream_{ZSTD_createDStream()};
  bool is_complete_ = false;
};

Error unread(std::string_view compression, std::string_view command) {
  return Error{
      .what = fmt::format("this is compressed by {}, which isoscope does not read", compression),
      .hint = fmt::format("{} -dc FILE | isoscope … -", command)};
}

bool is_text(char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

Result<std::unique_ptr<Decoder>> decoder_for(std::string_view head) {
  if (head.starts_with(kGzip)) return std::unique_ptr<Decoder>(std::make_unique<GzipDecoder>());
  if (head.starts_with(kZstd)) return std::unique_ptr<Decoder>(std::make_unique<ZstdDecoder>());
  if (head.starts_with(kXz)) return unread("xz", "xz");
  if (head.starts_with("BZh") &&
      head.substr(std::min<std::size_t>(4, head.size())).starts_with(kBzip2))
    return unread("bzip2", "bzip2");
  // A binary history may begin with the same two bytes; ASCII behind them makes it a text.
  const bool little =
      head.size() >= 4 && head.starts_with("\xff\xfe") && is_text(head[2]) && head[3] == '\0';
  const bool big =
      head.size() >= 4 && head.starts_with("\xfe\xff") && head[2] == '\0' && is_text(head[3]);
  if (little || big)
    return Error{.what = "this text is UTF-16; isoscope reads UTF-8",
                 .hint = "iconv -f UTF-16 -t UTF-8 FILE | isoscope … -"};
  return std::unique_ptr<Decoder>();
}

std::size_t byte_order_mark(std::string_view head) {
  constexpr auto kMark = "\xef\xbb\xbf"sv;
  if (!head.starts_with(kMark)) return 0;
  // Binary numbers that begin so go on with zeros; no text does.
  return head.size() > kMark.size() && head[kMark.size()] == '\0' ? 0 : kMark.size();
}

}  // namespace isoscope
