// Every file that is emitted for the cases of the corpus, under every verdict, is as its formatter leaves it and as its
// linter wants it. Nothing is run here: tests/scenarios/emitted_files_test.py does.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <vector>

#include "repro/case_text.h"
#include "repro/emit.h"
#include "tests/repro/emit_example.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> corpus_cases() {
  std::vector<std::string> out;
  const fs::path corpus = fs::path(DSAFUZZ_SOURCE_DIR) / "corpus";
  for (const char* part : {"regressions", "catalogue/cases", "seeds"}) {
    for (const auto& entry : fs::recursive_directory_iterator(corpus / part)) {
      const fs::path& path = entry.path();
      if (path.extension() == ".yaml" && path.filename() != "expect.yaml") out.push_back(path);
    }
  }
  std::ranges::sort(out);
  return out;
}

// Without the lines of nothing but numbers between `clang-format off` and `on`. The formatter judges nothing there, and
// only reads them, which takes it most of a minute for the tensors of the corpus.
std::string without_numbers(const std::string& program) {
  std::istringstream lines(program);
  std::string out;
  bool judged = true;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with("// clang-format off")) judged = false;
    if (line.ends_with("// clang-format on")) judged = true;
    if (judged || line.find_first_not_of("-0123456789.e, ") != std::string::npos) out += line + "\n";
  }
  return out;
}

// Of every case the files for one verdict; the verdicts take turns, so each meets many cases.
std::string write_all(const std::string& language) {
  std::size_t number = 0;
  std::set<std::string> met;  // cases that differ in numbers alone give the formatter one program
  const auto add_cpp = [&](const std::string& path, const std::string& program) {
    const std::string judged = without_numbers(program);
    if (met.insert(judged).second) write(path, judged);
  };
  const auto add = [&](const Finding& f) {
    const std::string at = language + "/" + std::to_string(number++) + "/";
    if (language == "python") {
      write(at + "repro.py", emit_python(f));
      write(at + "test_repro.py", emit_pytest(f));
    } else {
      add_cpp(at + "repro.cpp", emit_cpp(f));
      add_cpp(at + "repro_test.cpp", emit_gtest(f));
      if (const auto cuda = emit_cuda(f)) add_cpp(at + "repro.cu", *cuda);
    }
  };
  for (const std::string& path : corpus_cases()) {
    Result<Case> c = load_case(path);
    if (!c) continue;  // another test's business
    Finding f = classic();
    f.minimal = f.original = *c;
    f.signature.op = c->steps.back().op;
    f.signature.verdict = kVerdicts[number % kVerdicts.size()];
    f.cpu_opinion = "raises IndexError: Target 1 is out of bounds.";
    if (number % 4 == 0) f.settings.tool = Tool::racecheck;
    add(f);
  }
  for (const std::string& text : kHostile) {
    Finding f = classic();
    f.advice.cause = f.signature.condition = f.signature.kernel = f.outcome.error = text;
    f.cpu_opinion = "raises RuntimeError: " + text;
    f.signature.verdict = kVerdicts[number % kVerdicts.size()];
    add(f);
  }
  for (const Verdict verdict : kVerdicts) {
    Finding f = with_case(kTensors, verdict);
    f.outcome.error = std::string(300, 'w');
    add(f);
  }
  return folder() + "/" + language;
}

TEST(EmittedFiles, PythonIsAsRuffLeavesIt) {
  const std::string ruff = std::string(DSAFUZZ_VENV_BIN) + "/ruff";
  if (!fs::exists(ruff)) GTEST_SKIP() << "no ruff at " << ruff;
  const std::string at = write_all("python");
  Ran ran = run(ruff + " format --isolated --no-cache --line-length 120 --diff " + at);
  EXPECT_EQ(ran.code, 0) << ran.output.substr(0, 5000);
  ran = run(ruff + " check --isolated --no-cache " + at);
  EXPECT_EQ(ran.code, 0) << ran.output.substr(0, 5000);
}

TEST(EmittedFiles, CppIsAsClangFormatLeavesIt) {
  const std::string formatter = std::string(DSAFUZZ_VENV_BIN) + "/clang-format";
  if (!fs::exists(formatter)) GTEST_SKIP() << "no clang-format at " << formatter;
  const std::string at = write_all("cpp");
  const Ran ran = run("find " + at + " -name '*.c*' -print0 | xargs -0 " + formatter +
                      " --style='{BasedOnStyle: Google, ColumnLimit: 120}' --dry-run -Werror");
  EXPECT_EQ(ran.code, 0) << ran.output.substr(0, 5000);
}

}  // namespace
}  // namespace dsafuzz
