// The project that builds the C++ reproducer: no find_package(Torch), which wants the CUDA toolkit.
#include "repro/emit.h"
#include "repro/emit_plan.h"

namespace dsafuzz {

std::string emit_cmake(const Finding& finding) {
  return "# " + headline(finding)[0] + R"cmake(
# cmake -S . -B build -DTORCH_DIR=.../site-packages/torch && cmake --build build && build/repro cuda
# TORCH_DIR is what `python3 -c "import torch; print(torch.__path__[0])"` prints, or an unpacked LibTorch.
cmake_minimum_required(VERSION 3.18)
project(repro LANGUAGES CXX)

set(TORCH_DIR "" CACHE PATH "Folder that holds LibTorch's include and lib")
if(NOT EXISTS "${TORCH_DIR}/include/ATen/ATen.h")
  message(FATAL_ERROR "TORCH_DIR='${TORCH_DIR}' holds no include/ATen/ATen.h: give -DTORCH_DIR=.../site-packages/torch")
endif()
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)

# Not by find_package(Torch): that wants the CUDA toolkit, which this program does not need.
function(add_repro name)
  add_executable(${name} ${name}.cpp)
  target_compile_options(${name} PRIVATE -Wall -Wextra)
  target_include_directories(${name} SYSTEM PRIVATE "${TORCH_DIR}/include"
                             "${TORCH_DIR}/include/torch/csrc/api/include")
  target_link_libraries(${name} PRIVATE "${TORCH_DIR}/lib/libtorch_cpu.so" "${TORCH_DIR}/lib/libc10.so"
                        ${CMAKE_DL_LIBS})
  set_target_properties(${name} PROPERTIES BUILD_RPATH "${TORCH_DIR}/lib")
  target_link_options(${name} PRIVATE -Wl,--disable-new-dtags)
endfunction()

add_repro(repro)
# The regression test; ctest runs it on the device that REPRO_DEVICE names.
find_package(GTest QUIET)
if(GTest_FOUND)
  enable_testing()
  add_repro(repro_test)
  target_link_libraries(repro_test PRIVATE GTest::gtest GTest::gtest_main)
  add_test(NAME repro_test COMMAND repro_test)
endif()
)cmake";
}

}  // namespace dsafuzz
