// A YAML text of any origin, checked before it is believed: bounded in size, depth and node count, UTF-8, without
// anchors, aliases and tags (so no alias bombs, no types by name), and with every problem placed at file:line:column.
// Private to repro's readers; the only place that includes yaml-cpp.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "repro/case.h"
#include "repro/read_file.h"
#include "repro/result.h"

namespace dsafuzz {

class YamlDocument {
 public:
  static constexpr std::size_t kSizeLimit = std::size_t{4} << 20;
  static constexpr int kDepthLimit = 24;
  static constexpr int kNodeLimit = 300'000;

  static Result<YamlDocument> parse(std::string_view text, std::string file);

  const YAML::Node& root() const { return root_; }
  std::unexpected<Problem> problem(const YAML::Node& at, std::string what, std::string remedy = {}) const;
  std::string where(const YAML::Node& at) const;  // "file:line:column"
  // The same result, with its problem placed at the node.
  template <typename T>
  Result<T> placed(const YAML::Node& at, Result<T> result) const {
    if (!result) result.error().where = where(at) + (result.error().where.empty() ? "" : " " + result.error().where);
    return result;
  }

  // Each reads one node; `what` names it in problems ("the seed").
  Result<std::string> text(const YAML::Node& node, const std::string& what) const;
  Result<std::int64_t> integer(const YAML::Node& node, const std::string& what, std::int64_t least,
                               std::int64_t most) const;
  Result<Number> number(const YAML::Node& node, const std::string& what) const;
  Result<bool> boolean(const YAML::Node& node, const std::string& what) const;
  Result<Extent> extent(const YAML::Node& node, const std::string& what) const;
  Result<std::vector<YAML::Node>> items(const YAML::Node& node, const std::string& what) const;

  struct Entry {
    std::string key;
    YAML::Node key_node, value;
  };
  // A mapping's entries in file order; a repeated key is a problem. With `allowed`, so is any other key.
  Result<std::vector<Entry>> entries(const YAML::Node& node, const std::string& what,
                                     const std::vector<std::string_view>& allowed = {}) const;

 private:
  YAML::Node root_;
  std::string file_;
};

// "12", "-3", "1.5", "1e-7", ".nan", ".inf", "-.inf"; integers exactly. Empty when it is none of these.
std::optional<Number> parse_number(std::string_view text);

}  // namespace dsafuzz
