#include "repro/python_literal.h"

#include <cmath>
#include <utility>

#include "repro/escape.h"

namespace dsafuzz::python {
namespace {

std::string nested(const std::vector<std::string>& parts, const std::vector<std::int64_t>& shape, std::size_t axis,
                   std::size_t from) {
  std::size_t stride = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) stride *= static_cast<std::size_t>(shape[i]);
  std::vector<std::string> items;
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape[axis]); ++i) {
    items.push_back(axis + 1 == shape.size() ? parts[from + i] : nested(parts, shape, axis + 1, from + i * stride));
  }
  return "[" + joined(items) + "]";
}

}  // namespace

std::string torch_dtype(Dtype dtype) { return "torch." + std::string(to_text(dtype)); }

std::string number(const Number& n, Dtype dtype) {
  if (const auto* integer = std::get_if<std::int64_t>(&n)) {
    if (dtype == Dtype::boolean) return *integer != 0 ? "True" : "False";
    return is_floating(dtype) ? std::to_string(*integer) + ".0" : std::to_string(*integer);
  }
  const double value = std::get<double>(n);
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  return decimal(value);
}

std::string sizes(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> parts;
  for (const std::int64_t size : shape) parts.push_back(std::to_string(size));
  return shape.size() == 1 ? parts[0] : "(" + joined(parts) + ")";
}

std::string index_text(std::int64_t flat, const std::vector<std::int64_t>& shape) {
  if (shape.empty()) return "()";
  std::vector<std::string> parts(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    parts[axis] = std::to_string(flat % shape[axis]);
    flat /= shape[axis];
  }
  return joined(parts);
}

std::string tuple(const std::vector<std::int64_t>& shape) {
  return shape.empty() ? "(())" : shape.size() == 1 ? "(" + sizes(shape) + ")" : sizes(shape);
}

// Lists wider than a line are wrapped, flat; the shape follows by reshape.
std::string literal_list(const TensorPlan& plan, int indent) {
  std::vector<std::string> parts;
  std::size_t width = 0;
  for (const Number& n : plan.literal) {
    parts.push_back(number(n, plan.dtype));
    width += parts.back().size() + 2;
  }
  if (plan.shape.empty()) return parts[0];
  if (width + 2 * plan.shape.size() <= 88) return nested(parts, plan.shape, 0, 0);
  const std::string margin(static_cast<std::size_t>(indent + 1) * 4, ' ');
  std::string out = "[", line;
  for (const std::string& part : parts) {
    if (line.empty() || line.size() + part.size() + 2 > 110) {
      out += line + "\n";
      line = margin + part + ",";
    } else {
      line += " " + part + ",";
    }
  }
  return out + line + "]";
}

std::string random_call(const Fill& fill, const std::vector<std::int64_t>& shape) {
  const std::string dims = shape.size() == 1 ? "(" + sizes(shape) + ",)" : sizes(shape);
  switch (fill.kind) {
    case Fill::Kind::uniform:
      return "torch.empty(" + dims + ").uniform_(" + decimal(fill.low) + ", " + decimal(fill.high);
    case Fill::Kind::randint: return "torch.randint(" + fill.from.text + ", " + fill.to.text + ", " + dims;
    case Fill::Kind::randn:
    case Fill::Kind::constant:
    case Fill::Kind::arange:
    case Fill::Kind::literal: return "torch.randn(" + dims;
  }
  std::unreachable();
}

}  // namespace dsafuzz::python
