// The oracle of reduce_peers: says which bug cases show, one after the other, so that every reducer asks the same
// question at the same price. Reads "LENGTH\n" and as many bytes of YAML from stdin, answers with one line: the
// signature's folder name ("device_assert-..."), the verdict's word, "malformed" where the text is not a case, or "empty"
// where a tensor has no element: with no classes at all every label is out of range, which is smaller and explains less,
// so dsafuzz never goes there and the others may not either.
// With an option it converts one case on stdin instead: --encode to compact bytes, --decode back to YAML, --write-out to
// YAML with the elements of integer tensors listed.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <map>
#include <string_view>

#include "fuzz/trials.h"
#include "fuzz/worker_pool.h"
#include "repro/case_bytes.h"
#include "repro/case_text.h"
#include "repro/fill.h"
#include "tests/bench/empty_tensor.h"

namespace {

using namespace dsafuzz;

int convert(std::string_view how) {
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  auto c = how == "--decode" ? decode_case({reinterpret_cast<const std::uint8_t*>(input.data()), input.size()})
                             : parse_case(input, "stdin");
  if (!c) return 2;
  if (how == "--encode") {
    const auto bytes = encode(*c);
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    return 0;
  }
  for (std::size_t i = 0; how == "--write-out" && i < c->tensors.size(); ++i) {
    if (!is_floating(c->tensors[i].dtype)) c->tensors[i] = with_literal_contents(*c, c->tensors[i]);
  }
  std::fputs(to_yaml(*c).c_str(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return convert(argv[1]);
  const RunSettings settings{.device = {Device::Kind::vcuda, 0}, .blocking = true};
  const auto device = start_workers(settings);
  if (!device) {
    std::fprintf(stderr, "%s\n", device.error().text().c_str());
    return 3;
  }
  const std::map<std::string, Scenario> scenarios;
  Trials trials(**device, nullptr, scenarios);
  for (std::size_t length = 0; std::cin >> length && std::cin.get() == '\n';) {
    std::string text(length, '\0');
    if (!std::cin.read(text.data(), static_cast<std::streamsize>(length))) return 2;
    const auto c = parse_case(text, "stdin");
    if (!c || !validate(*c)) {
      std::puts("malformed");
    } else if (has_empty_tensor(*c)) {
      std::puts("empty");
    } else {
      const auto judged = trials.judge(*c, false, false);
      if (!judged) return 3;
      const Signature& signature = judged->signature();
      std::puts(is_bug(signature.verdict) ? signature.folder_name().c_str()
                                          : std::string(to_text(signature.verdict)).c_str());
    }
    std::fflush(stdout);
  }
  return 0;
}
