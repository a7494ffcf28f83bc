#include <fmt/format.h>

#include <optional>

#include "formats/dbcop.h"
#include "formats/json_text.h"
#include "formats/line_scanner.h"

namespace isoscope {

namespace {

using simdjson::SUCCESS;

class DbcopReader {
 public:
  explicit DbcopReader(const Budget& budget) : budget_(budget) {}

  Result<History> read(std::string_view text) {
    if (auto done = json_.open(text, 1); !done) return done.error();
    if (auto done = root(); !done) return done.error();
    if (auto done = json_.close(); !done) return done.error();
    return std::move(b_).build_open(&budget_);
  }

 private:
  using Item = JsonText::Item;

  Error expected(Place place, std::string_view what) const {
    return Error{
        .where = place,
        .what = fmt::format("expected {}", what),
        .hint =
            R"(a history is [[{"events":[{"Write":{"variable":0,"version":1}}],"committed":true}]])"};
  }

  Result<void> root() {
    const Place place = json_.here();
    simdjson::ondemand::json_type type{};
    if (auto error = json_.document().type().get(type); error != SUCCESS)
      return json_.syntax(error);
    if (type == simdjson::ondemand::json_type::array) {
      JsonText::Array array;
      if (auto error = json_.document().get_array().get(array); error != SUCCESS)
        return json_.syntax(error);
      return sessions(array);
    }
    JsonText::Object object;
    const auto opened = json_.document().get_object().get(object);
    if (opened == simdjson::INCORRECT_TYPE)
      return expected(place, "an array of sessions or an object with the member 'data'");
    if (opened != SUCCESS) return json_.syntax(opened);
    bool found = false;
    for (auto member : object) {
      simdjson::ondemand::field field;
      if (auto error = std::move(member).get(field); error != SUCCESS) return json_.syntax(error);
      const bool is_data = field.key() == "data";
      if (is_data && found)
        return Error{.where = json_.here(), .what = "the member 'data' comes twice"};
      if (!is_data) continue;  // params, info, start and end are remarks
      found = true;
      JsonText::Array array;
      const Place data_place = json_.here();
      if (field.value().get_array().get(array) != SUCCESS)
        return expected(data_place, "'data' to be an array of sessions");
      if (auto done = sessions(array); !done) return done;
    }
    if (found) return {};
    return expected(place, "an object with the member 'data'");
  }

  Result<void> sessions(JsonText::Array& array) {
    std::int64_t number = 0;
    for (auto element : array) {
      JsonText::Array txns;
      const Place place = json_.here();
      if (element.get_array().get(txns) != SUCCESS)
        return expected(place, "a session, an array of transactions");
      ++number;
      for (auto txn : txns) {
        JsonText::Object object;
        const Place txn_place = json_.here();
        if (txn.get_object().get(object) != SUCCESS)
          return expected(txn_place, "a transaction, an object");
        if (auto done = transaction(object, b_.session(number), txn_place); !done) return done;
      }
    }
    return {};
  }

  Result<void> transaction(JsonText::Object& object, SessionId s, Place place) {
    const TxnId t = b_.begin(s, TxnStatus::Committed, place);
    bool events_seen = false;
    bool outcome_seen = false;
    for (auto member : object) {
      simdjson::ondemand::field field;
      if (auto error = std::move(member).get(field); error != SUCCESS) return json_.syntax(error);
      const Place member_place = json_.here();
      if (field.key() == "events" && !events_seen) {
        events_seen = true;
        JsonText::Array events;
        if (field.value().get_array().get(events) != SUCCESS)
          return expected(member_place, "'events' to be an array");
        for (auto element : events) {
          Item item;
          if (auto error = std::move(element).get(item); error != SUCCESS)
            return json_.syntax(error);
          if (auto done = event(item, t); !done) return done;
        }
      } else if (field.key() == "committed" && !outcome_seen) {
        outcome_seen = true;
        bool committed = true;
        if (field.value().get_bool().get(committed) != SUCCESS)
          return expected(member_place, "'committed' to be true or false");
        if (!committed) b_.set_status(t, TxnStatus::Aborted);
      } else {
        return expected(member_place, "only the members 'events' and 'committed', once each");
      }
    }
    if (!events_seen || !outcome_seen)
      return expected(place, "a transaction with the members 'events' and 'committed'");
    return {};
  }

  // What an event says, in either spelling.
  struct Parts {
    std::optional<bool> is_write;
    std::optional<KeyId> x;
    bool version_seen = false;
    std::optional<Value> version;  // none if null
  };

  Result<void> event(Item& item, TxnId t) {
    if (budget_.expired()) return limit_error("reading the input");
    const Place place = json_.here();
    Parts parts;
    if (json_.first_sign(item) == '[') {
      if (auto done = compact_event(item, parts); !done) return done;
    } else {
      if (auto done = tagged_event(item, parts, place); !done) return done;
    }
    if (!parts.is_write || !parts.x || !parts.version_seen)
      return expected(place, "an event with a variable and a version");
    if (*parts.is_write) {
      if (!parts.version) return expected(place, "a write to have a version");
      b_.write(t, *parts.x, *parts.version, place);
    } else if (parts.version) {
      b_.read(t, *parts.x, *parts.version, place);
    } else {
      b_.read_from(t, *parts.x, "T0", place);
    }
    return {};
  }

  Result<void> tagged_event(Item& item, Parts& parts, Place place) {
    JsonText::Object object;
    if (item.get_object().get(object) != SUCCESS) return expected(place, "an event, an object");
    for (auto member : object) {
      simdjson::ondemand::field field;
      if (auto error = std::move(member).get(field); error != SUCCESS) return json_.syntax(error);
      const bool is_write = field.key() == "Write";
      if (parts.is_write || (!is_write && !(field.key() == "Read")))
        return expected(place, "an event to be one \"Read\" or one \"Write\"");
      parts.is_write = is_write;
      JsonText::Object body;
      if (field.value().get_object().get(body) != SUCCESS)
        return expected(place, "variable and version in an object");
      for (auto body_member : body) {
        simdjson::ondemand::field part;
        if (auto error = std::move(body_member).get(part); error != SUCCESS)
          return json_.syntax(error);
        if (part.key() == "variable" && !parts.x) {
          if (auto done = variable(part.value(), parts); !done) return done;
        } else if (part.key() == "version" && !parts.version_seen) {
          if (auto done = version(part.value(), parts); !done) return done;
        } else {
          return expected(place, "only the members 'variable' and 'version', once each");
        }
      }
    }
    return {};
  }

  Result<void> compact_event(Item& item, Parts& parts) {
    JsonText::Array array;
    if (auto error = item.get_array().get(array); error != SUCCESS) return json_.syntax(error);
    for (auto element : array) {
      Item part;
      if (auto error = std::move(element).get(part); error != SUCCESS) return json_.syntax(error);
      const Place place = json_.here();
      if (!parts.is_write) {
        auto kind = json_.string(part, "the kind of an event");
        if (!kind) return kind.error();
        if (*kind != "r" && *kind != "w") return expected(place, "\"r\" or \"w\"");
        parts.is_write = *kind == "w";
      } else if (!parts.x) {
        if (auto done = variable(part, parts); !done) return done;
      } else if (!parts.version_seen) {
        if (auto done = version(part, parts); !done) return done;
      } else {
        return expected(place, "only three parts of an event");
      }
    }
    return {};
  }

  Result<void> variable(Item& item, Parts& parts) {
    auto number = json_.unsigned_integer(item, "a variable,");
    if (!number) return number.error();
    parts.x = unsigned_key(b_, *number);
    return {};
  }

  Result<void> version(Item& item, Parts& parts) {
    parts.version_seen = true;
    if (json_.first_sign(item) == 'n') {
      const Place place = json_.here();
      bool is_null = false;
      if (item.is_null().get(is_null) == SUCCESS && is_null) return {};
      return expected(place, "a version");
    }
    auto number = json_.unsigned_integer(item, "a version: null, or");
    if (!number) return number.error();
    parts.version = unsigned_value(b_, *number);
    return {};
  }

  Budget budget_;
  JsonText json_;
  HistoryBuilder b_{InitialValues::Zero};
};

}  // namespace

Result<History> read_dbcop(std::string_view text, const Budget& budget) {
  return DbcopReader(budget).read(text);
}

}  // namespace isoscope
