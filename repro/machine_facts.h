// What is known of a machine, as named values: "driver.version" is "570.133.20". A name that is not there is not known,
// and nothing is concluded from it. Rules (corpus/versions/doctor_rules.tsv) are written over these names.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dsafuzz {

using FactValues = std::map<std::string, std::string, std::less<>>;

struct MachineFacts {
  FactValues values;             // facts of the machine
  std::vector<FactValues> gpus;  // facts of each GPU, "gpu.*", in the order of nvidia-smi

  friend bool operator==(const MachineFacts&, const MachineFacts&) = default;

  // The value; nullptr if it is not known. A name "gpu.*" is looked up in `gpu`, which may be nullptr.
  const std::string* find(std::string_view name, const FactValues* gpu = nullptr) const;
  // The same, empty if it is not known.
  std::string_view value(std::string_view name) const;
  // Sets a fact; an empty value sets nothing, since no fact but an environment variable may be empty.
  void set(std::string_view name, std::string_view value);
};

// Sets a fact of one GPU; an empty value sets nothing.
void set_fact(FactValues& values, std::string_view name, std::string_view value);
// The same unless the fact is known already.
void set_if_new(FactValues& values, std::string_view name, std::string_view value);

struct FactName {
  std::string_view name;
  std::string_view meaning;
};
// Every name there can be, except "env.VARIABLE": the environment variable of that name.
std::span<const FactName> fact_names();
bool is_fact_name(std::string_view name);

}  // namespace dsafuzz
