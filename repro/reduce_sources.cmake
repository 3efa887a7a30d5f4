# Reduction and emission.
set(DSAFUZZ_REDUCE_SOURCES
  axis_class.cpp reduce.cpp reduce_attributes.cpp reduce_passes.cpp reduce_search.cpp reduce_shapes.cpp reduce_steps.cpp
  reduce_values.cpp
  api_name.cpp api_names.cpp cpp_frame.cpp cpp_program.cpp emit_cmake.cpp emit_cpp.cpp emit_gtest.cpp emit_json.cpp emit_plan.cpp
  emit_pytest.cpp emit_python.cpp emit_report.cpp escape.cpp python_literal.cpp python_program.cpp python_text.cpp)
