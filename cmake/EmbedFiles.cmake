# Writes a C++ source that holds the files of a folder as raw strings, behind a function that returns
# a span of EmbeddedFile (support/embedded_file.h).
#
#   iso_embed_files(OUTPUT_VARIABLE levels/*.level spec/embedded_levels.h embedded_level_files true rc)
#
# puts levels/true.level and levels/rc.level first, and then the other files, by name. The header
# declares the function. Run as a script (cmake -P) at build time, so that a changed file makes the
# program anew.
if(CMAKE_SCRIPT_MODE_FILE)
  set(entries "")
  foreach(file IN LISTS FILES)
    file(READ "${ROOT}/${file}" text)
    string(APPEND entries "    {\"${file}\", R\"embedded(${text})embedded\"},\n")
  endforeach()
  file(WRITE "${OUTPUT}" "// Written by cmake/EmbedFiles.cmake.
#include \"${HEADER}\"

namespace isoscope {

std::span<const EmbeddedFile> ${FUNCTION}() {
  static constexpr EmbeddedFile kFiles[] = {
${entries}  };
  return kFiles;
}

}  // namespace isoscope
")
  return()
endif()

function(iso_embed_files output_variable pattern header function)
  get_filename_component(folder "${pattern}" DIRECTORY)
  get_filename_component(extension "${pattern}" EXT)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp")
  set(script "${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake")
  list(TRANSFORM ARGN PREPEND "${folder}/" OUTPUT_VARIABLE names)
  list(TRANSFORM names APPEND "${extension}")
  file(GLOB others CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
       "${PROJECT_SOURCE_DIR}/${pattern}")
  list(APPEND names ${others})
  list(REMOVE_DUPLICATES names)
  list(TRANSFORM names PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE depends)
  string(REPLACE ";" "$<SEMICOLON>" files "${names}")
  add_custom_command(OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} "-DROOT=${PROJECT_SOURCE_DIR}" "-DFILES=${files}"
            "-DHEADER=${header}" "-DFUNCTION=${function}" "-DOUTPUT=${output}" -P "${script}"
    DEPENDS ${depends} "${script}"
    COMMENT "Embedding ${pattern}"
    VERBATIM)
  set(${output_variable} "${output}" PARENT_SCOPE)
endfunction()
