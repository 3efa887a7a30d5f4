// Takes out of a printed text what differs between two runs of one bug: numbers, shapes, addresses, path prefixes,
// template arguments. What is left goes into a Signature.
#pragma once

#include <string>
#include <string_view>

namespace dsafuzz {

// The first line that is not empty, with numbers, shapes, device indices and hexadecimals as `#`; names that merely
// hold digits (float32, conv2d) stay. At most 300 bytes.
//   "Target 7 is out of bounds."             -> "Target # is out of bounds."
//   "shape '[2, 3]' is invalid for cuda:0"   -> "shape '[#]' is invalid for cuda:#"
std::string normalised_message(std::string_view message);

// The function's own name: no return type, namespace, template arguments, parameters or [with ..]. `operator()` stays;
// "unknown" and "(null)" become empty.
std::string short_kernel_name(std::string_view printed);

// From aten/, c10/ or kernels/ on; else the last part. Empty for "unknown".
std::string signature_file(std::string_view path);

}  // namespace dsafuzz
