#include "report/json.h"

#include "support/printable.h"
#include "support/version.h"

namespace isoscope {

Json json_header(std::string_view command, std::string_view verdict, double seconds) {
  return {{"tool", "isoscope"}, {"version", kVersion}, {"command", command},
          {"verdict", verdict}, {"seconds", seconds},  {"stats", Json::object()}};
}

std::string dump(const Json& json) {
  return printable_json(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace isoscope
