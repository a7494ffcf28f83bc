// What the program says where it was built without libmariadb.
#include "force/server.h"

namespace isoscope::force {

Result<std::unique_ptr<Server>> open_mariadb(const std::string& /*dsn*/) {
  return Error{.what = "this program was built without libmariadb and cannot speak to MariaDB",
               .hint = "install libmariadb-dev and build it again"};
}

}  // namespace isoscope::force
