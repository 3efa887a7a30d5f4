# LibTorch out of the PyPI wheel. find_package(Torch) needs a CUDA toolkit even for the parts without CUDA, so the
# two libraries that every machine can load are named here: dsafuzz::torch is torch_cpu and c10.
file(GLOB _torch_dirs "${DSAFUZZ_VENV}/lib/python3*/site-packages/torch")
list(LENGTH _torch_dirs _found)
if(NOT _found EQUAL 1)
  message(FATAL_ERROR "No torch wheel in ${DSAFUZZ_VENV}: run scripts/setup, or set DSAFUZZ_VENV.")
endif()
set(DSAFUZZ_TORCH_DIR "${_torch_dirs}")
set(DSAFUZZ_TORCH_LIB "${DSAFUZZ_TORCH_DIR}/lib")

add_library(dsafuzz_torch INTERFACE)
add_library(dsafuzz::torch ALIAS dsafuzz_torch)
target_include_directories(dsafuzz_torch SYSTEM INTERFACE
  "${DSAFUZZ_TORCH_DIR}/include" "${DSAFUZZ_TORCH_DIR}/include/torch/csrc/api/include")
# NDEBUG as in the wheel's own build: without it LibTorch's headers add members and checks that its libraries lack.
target_compile_definitions(dsafuzz_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=1 NDEBUG)
target_link_libraries(dsafuzz_torch INTERFACE "${DSAFUZZ_TORCH_LIB}/libtorch_cpu.so" "${DSAFUZZ_TORCH_LIB}/libc10.so")
target_link_options(dsafuzz_torch INTERFACE -Wl,-rpath,${DSAFUZZ_TORCH_LIB} -Wl,--no-as-needed)
