// What the operating system says: kernel, modules, device files, environment variables, processes, limits, kernel log.
#pragma once

#include <string_view>

#include "repro/machine_facts.h"

namespace dsafuzz {

void read_environment(std::string_view text, MachineFacts& facts);    // lines NAME=VALUE
void read_driver_module(std::string_view text, MachineFacts& facts);  // /proc/driver/nvidia/version
void read_kernel(std::string_view text, MachineFacts& facts);         // /proc/version, and the command line after it
void read_modules(std::string_view text, MachineFacts& facts);        // /proc/modules
void read_devices(std::string_view text, MachineFacts& facts);        // lines "/dev/nvidiactl ok", or the error's name
void read_pci(std::string_view text, MachineFacts& facts);            // a line for each NVIDIA GPU on the bus
void read_processes(std::string_view text, MachineFacts& facts);      // lines "PID NAME" of daemons and GPU programs
void read_limits(std::string_view text, MachineFacts& facts);         // lines "NAME VALUE", as the facts are called
void read_kernel_log(std::string_view text, MachineFacts& facts);     // what the drivers wrote to it
void read_device_code(std::string_view text, MachineFacts& facts);    // "LIBRARY asserts|no asserts|compressed|no device code"

}  // namespace dsafuzz
