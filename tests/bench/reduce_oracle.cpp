// The oracle of reduce_peers: says which bug cases show, one after the other, so that every reducer asks the same
// question at the same price. Reads "LENGTH\n" and as many bytes of YAML from stdin, answers with one line: the
// signature's folder name ("device_assert-..."), the verdict's word, or "malformed" where the text is not a case.
// `reduce_oracle --encode` and `--decode` turn one case on stdin into compact bytes and back.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <map>
#include <string_view>

#include "fuzz/trials.h"
#include "fuzz/worker_pool.h"
#include "repro/case_bytes.h"
#include "repro/case_text.h"

namespace {

using namespace dsafuzz;

int convert(bool encode_it) {
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  if (encode_it) {
    const auto c = parse_case(input, "stdin");
    if (!c) return 2;
    const auto bytes = encode(*c);
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  } else {
    const auto c = decode_case({reinterpret_cast<const std::uint8_t*>(input.data()), input.size()});
    if (!c) return 2;
    std::fputs(to_yaml(*c).c_str(), stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return convert(std::string_view(argv[1]) == "--encode");
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
