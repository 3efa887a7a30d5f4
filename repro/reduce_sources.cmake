# Reduction, emission, and the results of regression runs.
set(DSAFUZZ_REDUCE_SOURCES
  api_name.cpp
  api_names.cpp
  axis_class.cpp
  cpp_frame.cpp
  cpp_program.cpp
  emit_class.cpp
  emit_cmake.cpp
  emit_cpp.cpp
  emit_cuda.cpp
  emit_gtest.cpp
  emit_issue.cpp
  emit_json.cpp
  emit_plan.cpp
  emit_pytest.cpp
  emit_python.cpp
  emit_report.cpp
  emit_words.cpp
  escape.cpp
  missing_check.cpp
  python_literal.cpp
  python_program.cpp
  python_text.cpp
  reduce.cpp
  reduce_attributes.cpp
  reduce_passes.cpp
  reduce_search.cpp
  reduce_shapes.cpp
  reduce_steps.cpp
  reduce_values.cpp
  regress_compare.cpp
  regress_json.cpp
  regress_junit.cpp
  regress_run.cpp
  regress_sarif.cpp
  "${CMAKE_CURRENT_BINARY_DIR}/custom_kernel_sources.cpp")

# The custom kernels become texts in the program, for repro.cu: a change of one makes them anew.
set(_kernels block_sums count_values pair_sums scale_without_bounds_check staged_scale unordered_sum use_after_free)
set(DSAFUZZ_CUSTOM_KERNELS "")
foreach(_kernel ${_kernels})
  set(_texts "")
  foreach(_suffix h cu)
    set(_file "${PROJECT_SOURCE_DIR}/kernels/custom/${_kernel}.${_suffix}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_file}")
    file(READ "${_file}" _text)
    string(APPEND _texts ",\n     R\"kernel(${_text})kernel\"")
  endforeach()
  string(APPEND DSAFUZZ_CUSTOM_KERNELS "    {\"${_kernel}\"${_texts}},\n")
endforeach()
configure_file(custom_kernel_sources.cpp.in "${CMAKE_CURRENT_BINARY_DIR}/custom_kernel_sources.cpp" @ONLY)
