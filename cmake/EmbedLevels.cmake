# Writes a C++ source that holds text files as raw strings, for spec/embedded_levels.h.
#
#   iso_embed_levels(OUTPUT_VARIABLE true rc ra)     # levels/true.level, levels/rc.level, …
#
# and then the other files of levels/, by name.
# Run as a script (cmake -P) at build time, so that a changed file makes the program anew.
if(CMAKE_SCRIPT_MODE_FILE)
  set(entries "")
  foreach(name IN LISTS LEVELS)
    file(READ "${FOLDER}/${name}.level" text)
    string(APPEND entries "    {\"levels/${name}.level\", R\"level(${text})level\"},\n")
  endforeach()
  file(WRITE "${OUTPUT}" "// Written by cmake/EmbedLevels.cmake.
#include \"spec/embedded_levels.h\"

namespace isoscope {

std::span<const EmbeddedFile> embedded_level_files() {
  static constexpr EmbeddedFile kFiles[] = {
${entries}  };
  return kFiles;
}

}  // namespace isoscope
")
  return()
endif()

function(iso_embed_levels output_variable)
  set(folder "${PROJECT_SOURCE_DIR}/levels")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_levels.cpp")
  set(script "${PROJECT_SOURCE_DIR}/cmake/EmbedLevels.cmake")
  set(names ${ARGN})
  file(GLOB others CONFIGURE_DEPENDS RELATIVE "${folder}" "${folder}/*.level")
  list(TRANSFORM others REPLACE "[.]level$" "")
  list(APPEND names ${others})
  list(REMOVE_DUPLICATES names)
  list(TRANSFORM names PREPEND "${folder}/" OUTPUT_VARIABLE files)
  list(TRANSFORM files APPEND ".level")
  string(REPLACE ";" "$<SEMICOLON>" levels "${names}")
  add_custom_command(OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} "-DFOLDER=${folder}" "-DLEVELS=${levels}" "-DOUTPUT=${output}"
            -P "${script}"
    DEPENDS ${files} "${script}"
    COMMENT "Embedding the built-in levels"
    VERBATIM)
  set(${output_variable} "${output}" PARENT_SCOPE)
endfunction()
