#pragma once
// EDN, the notation of Clojure's data, as far as histories need it, and JSON as if it were EDN.
//
//     {:type :ok, :process 0, :value [[:append 4 2] [:r 5 [1 2]]]}     ; a comment
//     {"type":"ok","process":0,"value":[["append",4,2],["r",5,[1,2]]]}
//
// Commas are blanks. Lists, vectors and JSON arrays are sequences; keywords and strings stay
// apart, as do sets. A tag (#jepsen.history.Op{…}) is dropped and its form kept; #_ drops a form.
// Numbers that are no 64-bit integers, characters and symbols are kept as text that only errors
// show. Depth is bounded, so that no text can exhaust the stack.
//
// Forms lie in one array in the order of the text: the children of a form follow it, and `end`
// is the position behind the last of them.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json_text.h"
#include "support/budget.h"
#include "support/result.h"

namespace isoscope {

inline constexpr int kMaxFormDepth = 64;

struct Form {
  enum class Kind : std::uint8_t { Nil, Int, String, Keyword, Symbol, Sequence, Set, Map };

  Kind kind = Kind::Nil;
  std::uint32_t end = 0;       // position behind its children
  std::int64_t number = 0;     // of an Int
  std::string_view text = {};  // of a String, Keyword (without colon) or Symbol
  Place place = {};

  // A word, whatever the notation: :ok or "ok".
  bool is_word() const { return kind == Kind::Keyword || kind == Kind::String; }
  bool is_word(std::string_view word) const { return is_word() && text == word; }
};

class Forms {
 public:
  // Reads the EDN forms of a text that begins on this line. Views into it stay valid as long as
  // the text does and until the next call.
  Result<void> read_edn(std::string_view text, std::uint32_t line, const Budget& budget = {});
  // Reads one JSON value.
  Result<void> read_json(JsonText& json, JsonText::Item& item);

  void clear();
  bool empty() const { return forms_.empty(); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(forms_.size()); }
  const Form& operator[](std::uint32_t i) const { return forms_[i]; }
  std::uint32_t first_child(std::uint32_t i) const { return i + 1; }
  std::uint32_t next(std::uint32_t i) const { return forms_[i].end; }
  std::size_t count_children(std::uint32_t i) const;
  // How the form reads; texts are cut after `limit` bytes, as error messages want it.
  std::string show(std::uint32_t i, std::size_t limit = 40) const;

 private:
  friend class EdnParser;

  Result<void> add_json(JsonText& json, JsonText::Item& item, int depth);
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::vector<Form> forms_;
  std::deque<std::string> texts_;  // of strings with escapes
};

}  // namespace isoscope
