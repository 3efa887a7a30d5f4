// `dsafuzz import`: someone's own failing call becomes a case. A case file is checked and written in its canonical
// form; tensors in files are read by scripts/import_tensors, in a process of its own, which runs nothing of theirs.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "fuzz/atomic_file.h"
#include "fuzz/child_process.h"
#include "fuzz/commands.h"
#include "repro/api_name.h"
#include "repro/case_bytes.h"
#include "repro/case_text.h"
#include "repro/read_file.h"
#include "repro/step_argument.h"
#include "repro/sugar.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kTimeLimit{180'000};

bool is_case_file(const std::string& path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

bool is_tensor_file(const std::string& path) {
  return std::ranges::any_of(std::initializer_list<const char*>{".npz", ".npy", ".pt", ".pth"},
                             [&](const char* end) { return path.ends_with(end); });
}

// An operator as people name it, and what they call its parameters.
struct Call {
  std::string op;                       // "aten::embedding"
  std::vector<std::string> parameters;  // of the user's function, in its order: "indices", "weight"; empty: ATen's own
};

// "torch.nn.functional.cross_entropy", "cross_entropy" and "aten::cross_entropy_loss" are all the same operator.
Call call_of(std::string name) {
  if (name.starts_with("F.")) name.replace(0, 2, "torch.nn.functional.");
  if (name.find(':') != std::string::npos) return {name, {}};
  const std::string last = name.substr(name.rfind('.') + 1);
  const auto is_called_so = [&](const ApiName& row) { return row.python.substr(0, row.python.find('(')) == name; };
  const auto row = std::ranges::find_if(api_names(), is_called_so);
  const std::string loss = expand_operator(last);
  Call call{!loss.empty() ? loss : row != api_names().end() ? "aten::" + std::string(row->op) : "aten::" + last, {}};
  if (row == api_names().end()) return call;
  for (std::size_t at = 0; (at = row->python.find('{', at)) != std::string_view::npos; ++at) {
    call.parameters.emplace_back(row->python.substr(at + 1, row->python.find_first_of("}:|", at) - at - 1));
  }
  return call;
}

// The argument with ATen's name for it: `input` is a function's first parameter, whatever ATen calls it.
Argument renamed(const Call& call, Argument argument, std::size_t position) {
  if (call.parameters.empty()) return argument;
  if (argument.name.empty() && position < call.parameters.size()) argument.name = call.parameters[position];
  if (argument.name == "input") argument.name = call.parameters.front();
  return argument;
}

// One argument as it stands in a step.
Result<Argument> parse_argument(const std::string& text, const char* flag) {
  auto step = parse_step("aten::call(" + text + ")");
  if (!step || step->arguments.size() != 1) {
    return input_problem("'" + text + "' is not one argument", flag,
                         "NAME=VALUE, with a value as in a step: a tensor, 0.5, mean, [2, 2], \"text\"");
  }
  return std::move(step->arguments.front());
}

void add_names(const Value& value, std::vector<std::string>& out) {
  if (const auto* name = std::get_if<Name>(&value.v)) out.push_back(name->text);
  if (const auto* list = std::get_if<List>(&value.v)) {
    for (const Value& item : *list) add_names(item, out);
  }
}

std::string text_of(const Argument& argument) {
  return (argument.name.empty() ? "" : argument.name + "=") + to_text(argument.value);
}

// A scenario's name made of the operator's.
std::string case_name_of(const std::string& op) {
  std::string out;
  for (const char c : base_name(op)) {
    const auto byte = static_cast<unsigned char>(std::tolower(static_cast<unsigned char>(c)));
    out += std::isalnum(byte) ? static_cast<char>(byte) : '_';
  }
  while (!out.empty() && !std::isalpha(static_cast<unsigned char>(out.front()))) out.erase(0, 1);
  return out.empty() ? "imported" : out.substr(0, 60);
}

// A file for one answer, removed with this.
class TemporaryFile {
 public:
  TemporaryFile() : path_((fs::temp_directory_path() / "dsafuzz-import-XXXXXX").string()) {
    const int fd = mkstemp(path_.data());
    if (fd < 0) path_.clear();
    if (fd >= 0) close(fd);
  }
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }  // empty: there is no room for one

 private:
  std::string path_;
};

// The words of a script that has ended badly: "import_tensors: WORDS", else its last line.
std::string words_of(const std::string& output, std::string_view mark) {
  std::string last;
  for (std::size_t at = 0; at < output.size();) {
    const std::string line = output.substr(at, output.find('\n', at) - at);
    if (line.starts_with(mark)) return line.substr(mark.size());
    if (!line.empty()) last = line;
    at += line.size() + 1;
  }
  return last.substr(0, 500);
}

Result<std::vector<std::string>> script_arguments(const ImportFlags& flags, const std::string& out) {
  const Call call = call_of(flags.op);
  const char* python = std::getenv("DSAFUZZ_PYTHON");
  std::vector<std::string> command{python && *python ? python : "python3",
                                   shipped_folder("scripts/import_tensors"),
                                   "--op=" + call.op,
                                   "--out=" + out,
                                   "--case=" + (flags.name.empty() ? case_name_of(call.op) : flags.name),
                                   std::string("--phase=") + (flags.backward ? "backward" : "forward")};
  if (flags.summarise) command.emplace_back("--summarise");
  std::vector<std::string> tensors;
  for (std::size_t i = 0; i < flags.arguments.size(); ++i) {
    const Argument argument = renamed(call, DSAFUZZ_TRY(parse_argument(flags.arguments[i], "--arg")), i);
    add_names(argument.value, tensors);
    command.push_back("--argument=" + text_of(argument));
  }
  if (tensors.empty())
    return input_problem("no tensor is bound to an argument", "--arg",
                         "--arg target=labels, for each of the call's tensors");
  for (const std::string& text : flags.literals) {
    const Argument argument = DSAFUZZ_TRY(parse_argument(text, "--set"));
    if (argument.name.empty()) return input_problem("'" + text + "' has no name", "--set", "NAME=VALUE");
    command.push_back("--argument=" + text_of(argument));
  }
  for (const std::string& tensor : tensors) command.push_back("--tensor=" + tensor);
  command.emplace_back("--");
  for (const std::string& file : flags.files) command.push_back(file);
  return command;
}

Result<Case> import_tensors(const ImportFlags& flags) {
  if (flags.op.empty())
    return input_problem("an operator is needed for tensors", "--op",
                         "aten::cross_entropy_loss, or a name as torch.gather");
  for (const std::string& file : flags.files) {
    if (!is_tensor_file(file))
      return input_problem("is of no kind that can be imported", file, ".yaml, .npz, .npy, .pt or .pth");
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return input_problem("is not a file", file);
  }
  const TemporaryFile answer;
  if (answer.path().empty()) return environment_problem("no temporary file", fs::temp_directory_path().string());
  const ChildResult child = run_child(DSAFUZZ_TRY(script_arguments(flags, answer.path())), {}, kTimeLimit);
  const std::string words = words_of(child.output, "import_tensors: ");
  if (child.timed_out) return input_problem("takes too long to read", flags.files.front());
  if (child.exit_code == 2) return input_problem(words);
  if (child.exit_code != 0) return environment_problem("tensors cannot be read: " + words);
  Case c = DSAFUZZ_TRY(parse_case(DSAFUZZ_TRY(read_file(answer.path(), std::size_t{4} << 20)), flags.files.front()));
  if (const std::size_t size = encode(c).size(); size > kCaseBytesLimit) {
    return input_problem("the case would have " + std::to_string(size) + " bytes; at most " +
                             std::to_string(kCaseBytesLimit) + " can be run",
                         flags.files.front(), "fewer elements, or --summarise for floating tensors");
  }
  return c;
}

Result<Case> import_case(const ImportFlags& flags) {
  if (flags.files.size() > 1 || !is_case_file(flags.files.front())) {
    if (std::ranges::any_of(flags.files, is_case_file))
      return input_problem("a case file is imported alone", flags.files.front());
    return import_tensors(flags);
  }
  if (!flags.op.empty() || !flags.arguments.empty() || !flags.literals.empty() || flags.summarise || flags.backward ||
      !flags.name.empty()) {
    return input_problem("a case file has its own operator, arguments and name", flags.files.front(),
                         "--op, --arg, --set, --name, --backward and --summarise are for tensors");
  }
  return load_case(flags.files.front());
}

}  // namespace

int import_command(const ImportFlags& flags) {
  if (flags.reduce && flags.out.empty())
    return fail(input_problem("--reduce needs a folder for the finding", "--out").error());
  Result<Case> c = import_case(flags);
  if (c && flags.redact && !flags.reduce) c = redacted_case(*c, flags.run);
  if (!c) return fail(c.error());
  if (!flags.reduce && flags.out.empty()) {
    std::fputs(to_yaml(*c).c_str(), stdout);
    return 0;
  }
  const std::string file = flags.reduce ? flags.out + "/imported.yaml" : flags.out;
  ExamineFlags examine;
  examine.run = flags.run;
  if (examine.run.modules.empty()) examine.run.modules = folder_of(flags.files.front());
  examine.the_case = file;
  examine.out = flags.out;
  if (flags.reduce && flags.redact) {
    examine.redact = true;
    examine.given = std::move(*c);
    return reduce_command(examine);
  }
  if (flags.reduce) {
    if (const auto made = make_folder(flags.out); !made) return fail(made.error());
  }
  if (const auto written = write_whole(file, to_yaml(*c)); !written) return fail(written.error());
  std::fprintf(stderr, "dsafuzz: written to %s\n", file.c_str());
  if (!flags.reduce) return 0;
  return reduce_command(examine);
}

}  // namespace dsafuzz
