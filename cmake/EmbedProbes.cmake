# Writes a C++ source that holds probes/*.probe as raw strings, for force/embedded_probes.h. A changed
# or a new file makes CMake run again.
function(iso_embed_probes output_variable)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/probes/*.probe")
  list(SORT files)
  set(entries "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    string(APPEND entries "    R\"probe(${text})probe\",\n")
  endforeach()
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_probes.cpp")
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT "// Written by cmake/EmbedProbes.cmake.
#include \"force/embedded_probes.h\"

namespace isoscope::force {
namespace {

constexpr std::string_view kEmbeddedProbes[] = {
@entries@};

}  // namespace

std::span<const std::string_view> embedded_probes() { return kEmbeddedProbes; }

}  // namespace isoscope::force
")
  set(${output_variable} "${output}" PARENT_SCOPE)
endfunction()
