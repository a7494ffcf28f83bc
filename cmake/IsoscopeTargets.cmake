# One helper per kind of target, so that each folder's CMakeLists.txt is a list of its files.
include(GNUInstallDirs)
include(GoogleTest OPTIONAL)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Inlining is what makes this code fast; with it -O1 is within some 3 % of -O2 nearly everywhere, and
# takes a quarter less time to compile. iso_optimise_more() names the exceptions. (-O3 is no faster
# than -O2 anywhere, and takes a tenth longer.)
set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")
set(ISOSCOPE_INLINING -finline-functions -finline-small-functions -fpartial-inlining -fstrict-aliasing)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
  set(ISOSCOPE_INLINING)
endif()

add_library(iso_options INTERFACE)
target_include_directories(iso_options INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_compile_options(iso_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports false overlaps in std::string's operator+ (GCC bug 105329).
  target_compile_options(iso_options INTERFACE -Wno-restrict)
  # Its garbage collector starts at 128 MB; a unit needs up to 1 GB, and collecting takes a tenth of
  # its time.
  target_compile_options(iso_options INTERFACE --param=ggc-min-heapsize=2097152)
  # -O1 follows fewer values than -O2 and takes members of moved std::optionals for uninitialised.
  # clang-tidy looks for the real ones.
  target_compile_options(iso_options INTERFACE -Wno-maybe-uninitialized)
endif()
# Hardening: what Debian builds its own packages with, and addresses that differ in each run.
# Every library here is linked into a program, so that what is right for a program (-fPIE) is right
# for them too, and lets the compiler inline between their functions, which -fPIC does not.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)
target_compile_options(iso_options INTERFACE -fPIE)
target_compile_options(iso_options INTERFACE -fstack-protector-strong)
target_compile_options(iso_options INTERFACE "$<$<CONFIG:Release>:${ISOSCOPE_INLINING}>")
target_link_options(iso_options INTERFACE -Wl,-z,relro -Wl,-z,now)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # Needs optimisation, and hides from sanitizers what it wraps.
  target_compile_definitions(iso_options INTERFACE _FORTIFY_SOURCE=2)
endif()
if(ISOSCOPE_SANITIZE)
  target_compile_options(iso_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(iso_options INTERFACE -fsanitize=address,undefined)
endif()
if(ISOSCOPE_FUZZ)
  target_compile_options(iso_options INTERFACE -fsanitize=fuzzer-no-link,address,undefined
    -fno-sanitize-recover=all)
  target_link_options(iso_options INTERFACE -fsanitize=address,undefined)
endif()

# A clean build is three times as fast when several sources are one unit: their headers are read
# once. A rebuild after one change is faster without: -DISOSCOPE_UNITY=OFF. (Precompiled headers
# were tried on top: they save 8 % of a unit, and make g++ 12 report false overflows in them.)
set(CMAKE_UNITY_BUILD ${ISOSCOPE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 60)

# iso_optimise_more(target): for the inner loops of readers and walks, where -O2 was measured to be
# faster.
function(iso_optimise_more target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
endfunction()

# iso_library(history SOURCES a.cpp b.cpp DEPENDS support graph LINK fmt::fmt)
function(iso_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(iso_${name} STATIC ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPENDS PREPEND iso_)
  target_link_libraries(iso_${name} PUBLIC iso_options ${ARG_DEPENDS} ${ARG_LINK})
endfunction()

# iso_bench(parse DEPENDS formats): the benchmark bench/parse_bench.cpp.
function(iso_bench name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_executable(bench_${name} ${PROJECT_SOURCE_DIR}/bench/${name}_bench.cpp)
  list(TRANSFORM ARG_DEPENDS PREPEND iso_)
  target_link_libraries(bench_${name} PRIVATE ${ARG_DEPENDS} ${ARG_LINK} iso_options
    benchmark::benchmark benchmark::benchmark_main)
endfunction()

# iso_test(history SOURCES a_test.cpp DEPENDS formats LABEL unit): a test program of the folder
# `history`; every TEST in it is a ctest of its own. With LABEL live it talks to other programs: it
# is built only with ISOSCOPE_LIVE, run only by `make test-live`, and must not skip. TIMEOUT is in
# seconds, of each of its tests; 600 if it is not stated.
add_custom_target(live_tests)
function(iso_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;DEPENDS;LINK" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  if(ARG_LABEL STREQUAL live AND NOT ISOSCOPE_LIVE)
    return()
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPENDS PREPEND iso_)
  target_link_libraries(test_${name} PRIVATE ${ARG_DEPENDS} ${ARG_LINK} test_support_paths iso_options
    GTest::gmock GTest::gtest_main)
  gtest_discover_tests(test_${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  if(ARG_LABEL STREQUAL live)
    add_dependencies(live_tests test_${name})
  endif()
endfunction()

# iso_tests_follow(corpus FOLDER/*.hist): links test_corpus anew when such a file comes or changes, so
# that the tests it makes of them are those of the files that are there.
function(iso_tests_follow name)
  file(GLOB files LIST_DIRECTORIES false CONFIGURE_DEPENDS ${ARGN})
  set_property(TARGET test_${name} APPEND PROPERTY LINK_DEPENDS ${files})
endfunction()
