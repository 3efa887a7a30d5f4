#include <charconv>
#include <ranges>
#include <utility>

#include "repro/run_settings.h"

namespace dsafuzz {

std::string Device::text() const {
  switch (kind) {
    case Kind::cpu: return "cpu";
    case Kind::vcuda: return index == 0 ? "vcuda" : "vcuda:" + std::to_string(index);
    case Kind::cuda: return "cuda:" + std::to_string(index) + (own_kernels ? ":own" : "");
  }
  std::unreachable();
}

Result<Device> parse_device(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  Device device;
  bool ok = true;
  if (kind == "cpu") {
    device.kind = Device::Kind::cpu;
    ok = colon == std::string_view::npos;
  } else if (kind == "vcuda") {
    device.kind = Device::Kind::vcuda;
  } else if (kind == "cuda") {
    device.kind = Device::Kind::cuda;
  } else {
    ok = false;
  }
  if (ok && colon != std::string_view::npos) {
    std::string_view number = text.substr(colon + 1);
    device.own_kernels = device.kind == Device::Kind::cuda && number.ends_with(":own");
    if (device.own_kernels) number.remove_suffix(std::string_view(":own").size());
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), device.index);
    ok = error == std::errc{} && end == number.data() + number.size() && device.index >= 0 && device.index < 16;
  }
  if (!ok)
    return input_problem("'" + std::string(text.substr(0, 40)) + "' is not a device", "--device",
                         "cpu, vcuda, vcuda:N, cuda, cuda:N or cuda:N:own");
  return device;
}

Result<std::vector<Device>> parse_devices(std::string_view list, const char* example) {
  std::vector<Device> devices;
  for (const auto part : std::views::split(list, ',')) {
    const auto device = parse_device(std::string_view(part.begin(), part.end()));
    if (!device) return input_problem(device.error().what, "--devices", example);
    devices.push_back(*device);
  }
  return devices;
}

}  // namespace dsafuzz
