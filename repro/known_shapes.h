// What is known of a program's values without running it: shapes that follow from simple rules, and which tensor of
// the case holds a result's elements. Whatever does not follow is unknown; nothing is guessed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "repro/case.h"

namespace dsafuzz {

using Dimensions = std::vector<std::int64_t>;

// Follows the steps one after the other.
class ProgramState {
 public:
  // Before the first step. Requires: the case is valid and outlives this.
  explicit ProgramState(const Case& c);

  // Past the next step.
  void pass(const Step& step);

  // nullptr: unknown.
  const Dimensions* shape(std::string_view name) const;
  // The tensor of the case whose elements, in the same row-major order or merely rearranged, the name stands for:
  // itself, or what a result was copied or viewed from. nullptr: none, or a step has written into it.
  const TensorSpec* source(std::string_view name) const;
  // A sparse tensor, whose operators follow rules of their own.
  bool is_sparse(std::string_view name) const;

 private:
  struct Known {
    bool shaped = false, sparse = false;
    Dimensions shape;
    const TensorSpec* source = nullptr;
  };
  const Known* find(std::string_view name) const;
  Known result_of(const Step& step) const;

  const Case& case_;
  std::map<std::string, Known, std::less<>> known_;
};

// Where the program stands just before a step of the case.
ProgramState state_before(const Case& c, const Step& step);

// Shapes at the end of the program.
std::map<std::string, Dimensions> known_shapes(const Case& c);

}  // namespace dsafuzz
