// The LibTorch headers that emitted reproducers include (repro/cpp_frame.cpp), compiled ahead so that running one
// does not cost a minute. Not included by anything of ours.
#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/VirtualGuardImpl.h>
