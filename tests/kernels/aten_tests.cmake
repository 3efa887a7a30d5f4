# Tests of the LibTorch backend. They are compiled like the backend itself, to share its precompiled header.
if(TARGET dsafuzz_vcuda)
  add_library(dsafuzz_aten_test_objects OBJECT
    aten_assert_test.cpp aten_error_test.cpp aten_index_parity_test.cpp aten_parity_test.cpp)
  target_link_libraries(dsafuzz_aten_test_objects PRIVATE dsafuzz_options dsafuzz::torch GTest::gtest GTest::gmock)
  target_precompile_headers(dsafuzz_aten_test_objects REUSE_FROM dsafuzz_aten)
  target_compile_options(dsafuzz_aten_test_objects PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  dsafuzz_test(aten_test SOURCES $<TARGET_OBJECTS:dsafuzz_aten_test_objects> LIBRARIES dsafuzz::vcuda)
  set_target_properties(aten_test PROPERTIES LINKER_LANGUAGE CXX)

  # dsafuzz_aten_test(NAME SOURCES...): one more executable of such tests.
  function(dsafuzz_aten_test name)
    add_library(dsafuzz_${name}_objects OBJECT ${ARGN})
    target_link_libraries(dsafuzz_${name}_objects PRIVATE dsafuzz_options dsafuzz::torch GTest::gtest GTest::gmock)
    target_precompile_headers(dsafuzz_${name}_objects REUSE_FROM dsafuzz_aten)
    target_compile_options(dsafuzz_${name}_objects PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    dsafuzz_test(${name} SOURCES $<TARGET_OBJECTS:dsafuzz_${name}_objects> LIBRARIES dsafuzz::vcuda)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  endfunction()
  dsafuzz_aten_test(aten_indexing_test aten_indexing_test.cpp aten_indexing_parity_test.cpp)
  dsafuzz_aten_test(aten_pooling_parity_test aten_pooling_parity_test.cpp)
  dsafuzz_aten_test(aten_pooling_silent_test aten_pooling_silent_test.cpp)
  dsafuzz_aten_test(aten_pooling_test aten_pooling_test.cpp)
  dsafuzz_aten_test(aten_unchecked_test aten_unchecked_test.cpp)
  dsafuzz_aten_test(aten_sampling_test aten_sampling_test.cpp)
  dsafuzz_aten_test(aten_sampling_values_test aten_sampling_values_test.cpp)
  dsafuzz_aten_test(aten_sparse_test aten_sparse_test.cpp)
  dsafuzz_aten_test(guard_test guard_test.cpp)
  target_link_libraries(dsafuzz_guard_test_objects PRIVATE dsafuzz::guard)

  file(GLOB python "${DSAFUZZ_VENV}/bin/python")
  if(python)
    add_test(NAME python_smoke_test COMMAND "${python}" "${CMAKE_CURRENT_SOURCE_DIR}/python_smoke_test.py")
    if(TARGET dsafuzz_cuda)
      add_test(NAME cuda_operators_test COMMAND "${python}" "${CMAKE_CURRENT_SOURCE_DIR}/cuda_operators_test.py"
               "$<TARGET_FILE:dsafuzz_vcuda>" "$<TARGET_FILE:dsafuzz_cuda>")
    endif()
    if(TARGET dsafuzz_kernels_on_cuda)
      add_test(NAME own_kernels_test COMMAND "${python}" "${CMAKE_CURRENT_SOURCE_DIR}/own_kernels_test.py"
               "$<TARGET_FILE:dsafuzz_kernels_on_cuda>"
               "${PROJECT_SOURCE_DIR}/corpus/catalogue/device_asserts.tsv")
      set_tests_properties(own_kernels_test PROPERTIES
        ENVIRONMENT "DSAFUZZ_VCUDA_LIBRARY=$<TARGET_FILE:dsafuzz_vcuda>")
    endif()
    # An installed copy, configured, compiled and run as a user would.
    add_test(NAME guard_package_test COMMAND "${python}" "${CMAKE_CURRENT_SOURCE_DIR}/guard_package_test.py"
             "${CMAKE_COMMAND}" "${PROJECT_BINARY_DIR}" "${PROJECT_SOURCE_DIR}/kernels/guard/README.md"
             "${DSAFUZZ_TORCH_DIR}")
    set_tests_properties(guard_package_test PROPERTIES TIMEOUT 300 COST 20
      ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;OMP_NUM_THREADS=1")
    set_tests_properties(python_smoke_test PROPERTIES TIMEOUT 120
      ENVIRONMENT "DSAFUZZ_VCUDA_LIBRARY=$<TARGET_FILE:dsafuzz_vcuda>;OMP_NUM_THREADS=1")
  endif()
endif()
