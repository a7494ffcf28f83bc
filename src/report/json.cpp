#include "report/json.h"

#include "support/printable.h"

namespace isoscope {

std::string dump(const Json& json) {
  return printable_json(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace isoscope
