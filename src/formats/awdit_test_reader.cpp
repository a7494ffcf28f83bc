#include "formats/awdit_test.h"
#include "formats/line_scanner.h"

namespace isoscope {

namespace {

constexpr std::string_view kLineHint =
    "a line is 'r KEY VALUE', 'w KEY VALUE', dashes (end of a transaction) or equals signs (end "
    "of a session)";

bool consists_of(std::string_view text, char sign) {
  return !text.empty() && text.find_first_not_of(sign) == std::string_view::npos;
}

}  // namespace

Result<History> read_awdit_test(LineReader& in) {
  HistoryBuilder b(InitialValues::None);
  SessionId session = SessionId::none();
  TxnId t = TxnId::none();
  std::string_view line;
  while (in.next(line)) {
    const std::string_view content = trimmed(line);
    if (content.empty()) continue;
    if (consists_of(content, '-') || consists_of(content, '=')) {
      t = TxnId::none();
      if (content[0] == '=') session = SessionId::none();
      continue;
    }
    LineScanner scan(line, in.line_number());
    scan.skip_blanks();
    const Place place = scan.place();
    const char kind = scan.peek();
    if (kind != 'r' && kind != 'w') return scan.expected("'r' or 'w'", kLineHint);
    scan.take(kind);
    if (scan.peek() != ' ' && scan.peek() != '\t') return scan.expected("a blank", kLineHint);
    std::uint64_t key = 0;
    std::uint64_t value = 0;
    scan.skip_blanks();
    if (!scan.take_unsigned(key)) return scan.expected("an unsigned 64-bit key", kLineHint);
    if (scan.peek() != ' ' && scan.peek() != '\t')
      return scan.expected("a blank behind the key", kLineHint);
    scan.skip_blanks();
    if (!scan.take_unsigned(value)) return scan.expected("an unsigned 64-bit value", kLineHint);
    scan.skip_blanks();
    if (!scan.at_end()) return scan.expected("the end of the line", kLineHint);

    if (session.is_none()) session = b.unnamed_session();
    if (t.is_none()) t = b.begin(session, TxnStatus::Committed, place);
    const KeyId x = unsigned_key(b, key);
    const Value v = unsigned_value(b, value);
    if (kind == 'r') {
      b.read(t, x, v, place);
    } else {
      b.write(t, x, v, place);
    }
  }
  if (auto done = check_input(in); !done) return done.error();
  return std::move(b).build_open(&in.budget());
}

}  // namespace isoscope
