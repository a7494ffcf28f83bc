# Writes a C++ source with a function that returns a text file.
#
#   iso_embed_text(OUTPUT_VARIABLE page_template page.html)   # std::string_view page_template()
#
# NAME.h of the same folder declares the function, or HEADER.h where the call names one. Run as a script (cmake -P) at build time, so that
# a changed file makes the program anew.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${INPUT}" text)
  file(WRITE "${OUTPUT}" "// Written by cmake/EmbedText.cmake.
#include \"${FOLDER}/${HEADER}.h\"

namespace isoscope {

std::string_view ${NAME}() {
  static constexpr std::string_view kText = R\"embedded(${text})embedded\";
  return kText;
}

}  // namespace isoscope
")
  return()
endif()

function(iso_embed_text output_variable name file)
  set(input "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  set(script "${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake")
  cmake_parse_arguments(ARG "" "HEADER" "" ${ARGN})
  if(NOT ARG_HEADER)
    set(ARG_HEADER "${name}")
  endif()
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  add_custom_command(OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} "-DINPUT=${input}" "-DNAME=${name}" "-DFOLDER=${folder}"
            "-DHEADER=${ARG_HEADER}"
            "-DOUTPUT=${output}" -P "${script}"
    DEPENDS "${input}" "${script}"
    COMMENT "Embedding ${file}"
    VERBATIM)
  set(${output_variable} "${output}" PARENT_SCOPE)
endfunction()
