// Streams: numbers that exist or do not. Work on them is done at once, in the order of the launches.
#include "kernels/vcuda/context.h"
#include "kernels/vcuda/runtime_state.h"

namespace vcuda {

int device_of(Stream stream) { return stream % kMostDevices; }

Stream create_stream(int device) {
  if (!is_device(device)) return 0;
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  Device& owner = all.devices[static_cast<std::size_t>(device)];
  const Stream stream = ++owner.streams_made * kMostDevices + device;
  owner.streams.insert(stream);
  return stream;
}

void destroy_stream(Stream stream) {
  if (!stream_exists(stream) || stream == 0) return;
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  all.devices[static_cast<std::size_t>(device_of(stream))].streams.erase(stream);
}

bool stream_exists(Stream stream) {
  if (stream == 0) return true;
  if (!is_device(device_of(stream))) return false;
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  return all.devices[static_cast<std::size_t>(device_of(stream))].streams.contains(stream);
}

Stream current_stream(int device) {
  return is_device(device) ? host_thread().streams[static_cast<std::size_t>(device)] : 0;
}

void set_current_stream(int device, Stream stream) {
  if (is_device(device)) host_thread().streams[static_cast<std::size_t>(device)] = stream;
}

Event record_event(Stream stream) {
  Runtime& all = runtime();
  const int device = stream_device(stream);
  const std::lock_guard held(all.lock);
  return device < 0 ? 0 : all.order.record(global_stream(stream, device));
}

void wait_event(Stream stream, Event event) {
  Runtime& all = runtime();
  const int device = stream_device(stream);
  const std::lock_guard held(all.lock);
  if (device >= 0) all.order.wait(global_stream(stream, device), event);
}

int stream_device(Stream stream) {
  return stream == 0 ? current_device() : stream_exists(stream) ? device_of(stream) : -1;
}

}  // namespace vcuda
