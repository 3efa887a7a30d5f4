#include "repro/scenario.h"

#include <algorithm>

#include "repro/case_text.h"
#include "repro/sugar.h"
#include "repro/tensor_text.h"

namespace dsafuzz {
namespace {

// Reads one scenario file; each key has a function, called in an order that lets later keys refer to earlier ones.
class ScenarioReader {
 public:
  ScenarioReader(const YamlDocument& document, const std::string& file) : document_(document) { out_.file = file; }

  Result<Scenario> read() {
    static const std::vector<std::string_view> kKeys{"scenario", "claim",    "seed",      "shapes", "tensors",
                                                     "model",    "steps",    "precision", "phase",  "vary",
                                                     "explore",  "findings", "expect",    "tool"};
    entries_ = DSAFUZZ_TRY(document_.entries(document_.root(), "a scenario", kKeys));
    DSAFUZZ_CHECK(required("scenario", &ScenarioReader::read_name));
    DSAFUZZ_CHECK(required("claim", &ScenarioReader::read_claim));
    DSAFUZZ_CHECK(optional("seed", &ScenarioReader::read_seed_key));
    DSAFUZZ_CHECK(optional("shapes", &ScenarioReader::read_shapes));
    DSAFUZZ_CHECK(optional("tensors", &ScenarioReader::read_tensors));
    DSAFUZZ_CHECK(optional("model", &ScenarioReader::read_model));
    DSAFUZZ_CHECK(required("steps", &ScenarioReader::read_steps_key));
    DSAFUZZ_CHECK(optional("precision", &ScenarioReader::read_precision));
    DSAFUZZ_CHECK(optional("phase", &ScenarioReader::read_phase));
    DSAFUZZ_CHECK(optional("vary", &ScenarioReader::read_vary));
    DSAFUZZ_CHECK(optional("tool", &ScenarioReader::read_tool));
    DSAFUZZ_CHECK(optional("explore", &ScenarioReader::read_explore));
    DSAFUZZ_CHECK(optional("findings", &ScenarioReader::read_findings));
    DSAFUZZ_CHECK(optional("expect", &ScenarioReader::read_expect));
    if (auto ok = validate(out_.base); !ok)
      return document_.problem(document_.root(), ok.error().what, ok.error().remedy);
    if (out_.only_legal && out_.expect.verdict != Verdict::ok) {
      return document_.problem(
          document_.root(),
          "a scenario that explores legal values only expects '" + std::string(to_text(out_.expect.verdict)) + "'",
          "expect: {verdict: ok}");
    }
    return std::move(out_);
  }

 private:
  using Read = Result<void> (ScenarioReader::*)(const YAML::Node&);

  Result<void> optional(std::string_view key, Read read) {
    const auto found = std::ranges::find(entries_, key, &YamlDocument::Entry::key);
    return found == entries_.end() ? Result<void>{} : (this->*read)(found->value);
  }
  Result<void> required(std::string_view key, Read read) {
    if (std::ranges::find(entries_, key, &YamlDocument::Entry::key) == entries_.end()) {
      return document_.problem(document_.root(), "the scenario has no '" + std::string(key) + "'");
    }
    return optional(key, read);
  }

  Result<void> read_name(const YAML::Node& node) {
    out_.name = out_.base.scenario = DSAFUZZ_TRY(document_.text(node, "the scenario's name"));
    return {};
  }
  Result<void> read_claim(const YAML::Node& node) {
    out_.claim = DSAFUZZ_TRY(document_.text(node, "the claim"));
    return {};
  }
  Result<void> read_seed_key(const YAML::Node& node) {
    out_.base.seed = DSAFUZZ_TRY(read_seed(document_, node));
    return {};
  }

  Result<void> read_shapes(const YAML::Node& node) {
    for (const auto& [name, key, value] : DSAFUZZ_TRY(document_.entries(node, "shapes"))) {
      if (!value.IsMap()) {
        out_.base.shapes[name] = DSAFUZZ_TRY(document_.integer(value, "'" + name + "'", 0, kElementLimit));
        continue;
      }
      std::optional<std::int64_t> initial;
      for (const auto& [word, word_node, inner] :
           DSAFUZZ_TRY(document_.entries(value, "'" + name + "'", {"default", "range"}))) {
        if (word == "default") {
          initial = DSAFUZZ_TRY(document_.integer(inner, "the default", 0, kElementLimit));
        } else {
          const auto bounds = DSAFUZZ_TRY(document_.items(inner, "the range"));
          if (bounds.size() != 2)
            return document_.problem(inner, "a range has two ends", "[least, most], both allowed");
          ShapeRange range;
          range.least = DSAFUZZ_TRY(document_.integer(bounds[0], "the least size", 0, kElementLimit));
          range.most = DSAFUZZ_TRY(document_.integer(bounds[1], "the greatest size", range.least, kElementLimit));
          out_.ranges[name] = range;
        }
      }
      if (!initial) return document_.problem(value, "'" + name + "' has no default", "{default: 32, range: [0, 4096]}");
      const auto range = out_.ranges.find(name);
      if (range != out_.ranges.end() && (*initial < range->second.least || *initial > range->second.most)) {
        return document_.problem(value, "the default of '" + name + "' is outside its range");
      }
      out_.base.shapes[name] = *initial;
    }
    return {};
  }

  Result<void> read_tensors(const YAML::Node& node) {
    std::vector<std::string_view> allowed = kTensorKeys;
    allowed.insert(allowed.end(), {"legal", "dtypes"});
    for (const auto& [name, key, value] : DSAFUZZ_TRY(document_.entries(node, "tensors"))) {
      TensorSpec tensor = DSAFUZZ_TRY(read_tensor(document_, name, value, allowed));
      if (value["legal"]) out_.legal[name] = DSAFUZZ_TRY(read_legal(value["legal"]));
      if (value["dtypes"]) {
        for (const YAML::Node& item : DSAFUZZ_TRY(document_.items(value["dtypes"], "dtypes"))) {
          const auto dtype = parse_dtype(DSAFUZZ_TRY(document_.text(item, "a dtype")));
          if (!dtype)
            return document_.problem(item, "'" + item.Scalar() + "' is not a dtype",
                                     "float32, float16, int64, uint8, ...");
          out_.dtypes[name].push_back(*dtype);
        }
      }
      out_.base.tensors.push_back(std::move(tensor));
    }
    return {};
  }

  Result<LegalValues> read_legal(const YAML::Node& node) {
    static const std::string kRemedy =
        "{from: 0, below: classes, also: [-100]} for integers, {least: 0, most: 1} for reals";
    LegalValues legal;
    bool from = false, below = false, least = false, most = false;
    for (const auto& [key, key_node, value] :
         DSAFUZZ_TRY(document_.entries(node, "legal", {"from", "below", "also", "least", "most"}))) {
      if (key == "from") {
        from = true;
        legal.from = DSAFUZZ_TRY(document_.extent(value, "the least legal value"));
      } else if (key == "below") {
        below = true;
        legal.to = DSAFUZZ_TRY(document_.extent(value, "the bound"));
      } else if (key == "least") {
        least = true;
        legal.real_from = as_double(DSAFUZZ_TRY(document_.number(value, "the least legal value")));
      } else if (key == "most") {
        most = true;
        legal.real_to = as_double(DSAFUZZ_TRY(document_.number(value, "the greatest legal value")));
      } else {
        for (const YAML::Node& item : DSAFUZZ_TRY(document_.items(value, "also"))) {
          legal.also.push_back(DSAFUZZ_TRY(document_.integer(item, "a legal value", INT64_MIN, INT64_MAX)));
        }
      }
    }
    legal.real = least && most;
    if (legal.real == (from && below) || from != below || least != most)
      return document_.problem(node, "legal values need both ends", kRemedy);
    for (const Extent* bound : {&legal.from, &legal.to}) {
      if (!legal.real) DSAFUZZ_TRY(document_.placed(node, evaluate(*bound, out_.base.shapes)));
    }
    return legal;
  }

  Result<void> read_model(const YAML::Node& node) {
    for (const YAML::Node& item : DSAFUZZ_TRY(document_.items(node, "model"))) {
      Layer layer = DSAFUZZ_TRY(read_layer(document_, item, static_cast<int>(model_.size())));
      for (TensorSpec& parameter : layer.parameters) out_.base.tensors.push_back(std::move(parameter));
      layer.parameters.clear();
      model_.push_back(std::move(layer));
    }
    return {};
  }

  Result<void> read_steps_key(const YAML::Node& node) {
    const std::vector<Step> steps = DSAFUZZ_TRY(read_steps(document_, node));
    if (steps.empty()) return document_.problem(node, "the scenario has no steps");
    bool model_used = false;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      if (step.op == "model") {
        if (model_.empty()) return document_.problem(node[i], "there is no model", "write model: with its layers");
        if (model_used)
          return document_.problem(node[i], "the model is called twice", "write the second call as steps");
        if (step.arguments.size() != 1 || step.results.size() != 1)
          return document_.problem(node[i], "a model takes one tensor and gives one", "logits = model(input)");
        model_used = true;
        expand_model(step);
        continue;
      }
      Step expanded = step;
      expanded.op = expand_operator(step.op);
      if (expanded.op.empty())
        return document_.problem(node[i], "'" + step.op + "' is not an operator", known_operators());
      out_.base.steps.push_back(std::move(expanded));
    }
    if (!model_.empty() && !model_used)
      return document_.problem(node, "the model is never called", "logits = model(input)");
    return {};
  }

  void expand_model(const Step& call) {
    Argument input = call.arguments[0];
    for (std::size_t i = 0; i < model_.size(); ++i) {
      Step step = model_[i].step;
      // An embedding's input is its second argument by position, so it is named.
      if (step.op == "aten::embedding") input.name = "indices";
      step.arguments.insert(step.arguments.begin(), input);
      step.results = {i + 1 == model_.size() ? call.results[0] : "model_" + std::to_string(i)};
      input = {"", Value{Name{step.results[0]}}};
      out_.base.steps.push_back(std::move(step));
    }
  }

  // A word or a list of words out of a closed set; the first is the default.
  template <typename T>
  Result<std::vector<T>> read_choices(const YAML::Node& node, const std::string& what,
                                      std::optional<T> (*parse)(std::string_view)) {
    std::vector<YAML::Node> words{node};
    if (node.IsSequence()) words = DSAFUZZ_TRY(document_.items(node, what));
    std::vector<T> out;
    for (const YAML::Node& word : words) {
      const auto member = parse(DSAFUZZ_TRY(document_.text(word, what)));
      if (!member) return document_.problem(word, "'" + word.Scalar() + "' is not " + what);
      out.push_back(*member);
    }
    if (out.empty()) return document_.problem(node, "the list is empty");
    return out;
  }

  Result<void> read_precision(const YAML::Node& node) {
    out_.precisions = DSAFUZZ_TRY(read_choices<Precision>(
        node, "a precision (none, autocast_float16, autocast_bfloat16, half, bfloat16)", parse_precision));
    out_.base.precision = out_.precisions[0];
    return {};
  }
  Result<void> read_phase(const YAML::Node& node) {
    out_.phases = DSAFUZZ_TRY(read_choices<Phase>(node, "a phase (forward, backward)", parse_phase));
    out_.base.phase = out_.phases[0];
    return {};
  }
  Result<void> read_findings(const YAML::Node& node) {
    out_.findings = DSAFUZZ_TRY(read_choices<Verdict>(node, "a verdict", parse_verdict));
    return {};
  }

  Result<void> read_vary(const YAML::Node& node) {
    for (const YAML::Node& item : DSAFUZZ_TRY(document_.items(node, "vary"))) {
      const std::string word = DSAFUZZ_TRY(document_.text(item, "what may vary"));
      const std::size_t dot = word.rfind('.');
      const std::string head = word.substr(0, dot), tail = dot == std::string::npos ? "" : word.substr(dot + 1);
      if (word == "precision") {
        out_.vary.precision = true;
      } else if (word == "phase") {
        out_.vary.phase = true;
      } else if (out_.base.shapes.contains(word)) {
        if (!out_.ranges.contains(word))
          return document_.problem(item, "'" + word + "' has no range",
                                   "shapes: " + word + ": {default: 32, range: [0, 4096]}");
        out_.vary.shapes.push_back(word);
      } else if (out_.base.find_tensor(word)) {
        out_.vary.values.push_back(word);
      } else if (tail == "dtype" && out_.base.find_tensor(head)) {
        if (!out_.dtypes.contains(head))
          return document_.problem(item, "'" + head + "' has no dtypes to vary",
                                   "dtypes: [int64, uint8] at the tensor");
        out_.vary.dtypes.push_back(head);
      } else if (tail == "layout" && out_.base.find_tensor(head)) {
        out_.vary.layouts.push_back(head);
      } else if (!tail.empty() && std::ranges::any_of(out_.base.steps, [&](const Step& s) {
                   return std::ranges::count(s.results, head) > 0 &&
                          std::ranges::count(s.arguments, tail, &Argument::name) > 0;
                 })) {
        out_.vary.attributes.emplace_back(head, tail);
      } else {
        return document_.problem(
            item, "'" + word + "' is nothing that may vary",
            "a shape, a tensor, TENSOR.dtype, TENSOR.layout, precision, phase, or RESULT.ARGUMENT of an "
            "argument that the step writes by name");
      }
    }
    return {};
  }

  Result<void> read_tool(const YAML::Node& node) {
    const std::string word = DSAFUZZ_TRY(document_.text(node, "tool"));
    out_.tool = parse_tool(word);
    if (!out_.tool) return document_.problem(node, "'" + word + "' is not a tool", kToolWords);
    return {};
  }

  Result<void> read_explore(const YAML::Node& node) {
    const std::string word = DSAFUZZ_TRY(document_.text(node, "explore"));
    if (word != "legal" && word != "all") return document_.problem(node, "explore is '" + word + "'", "legal or all");
    out_.only_legal = word == "legal";
    return {};
  }

  Result<void> read_expect(const YAML::Node& node) {
    for (const auto& [key, key_node, value] :
         DSAFUZZ_TRY(document_.entries(node, "expect", {"verdict", "signature", "minimal"}))) {
      if (key == "verdict") {
        out_.expect.verdict = DSAFUZZ_TRY(read_choices<Verdict>(value, "a verdict", parse_verdict))[0];
      } else if (key == "signature") {
        out_.expect.signature = DSAFUZZ_TRY(document_.text(value, "the signature"));
      } else {
        for (const auto& [name, name_node, wanted] : DSAFUZZ_TRY(document_.entries(value, "minimal"))) {
          if (out_.base.shapes.contains(name)) {
            out_.expect.minimal_shapes[name] =
                DSAFUZZ_TRY(document_.integer(wanted, "'" + name + "'", 0, kElementLimit));
          } else if (out_.base.find_tensor(name)) {
            auto& values = out_.expect.minimal_values[name];
            for (const YAML::Node& item : DSAFUZZ_TRY(document_.items(wanted, "the values of '" + name + "'"))) {
              values.push_back(DSAFUZZ_TRY(document_.number(item, "a value")));
            }
          } else {
            return document_.problem(name_node, "'" + name + "' is neither a shape nor a tensor");
          }
        }
      }
    }
    return {};
  }

  const YamlDocument& document_;
  std::vector<YamlDocument::Entry> entries_;
  std::vector<Layer> model_;
  Scenario out_;
};

}  // namespace

bool Scenario::is_finding(Verdict v) const { return is_bug(v) || std::ranges::find(findings, v) != findings.end(); }

Result<Scenario> parse_scenario(std::string_view text, const std::string& file) {
  const YamlDocument document = DSAFUZZ_TRY(YamlDocument::parse(text, file));
  return ScenarioReader(document, file).read();
}

Result<Scenario> load_scenario(const std::string& path) {
  const std::string text = DSAFUZZ_TRY(read_file(path, YamlDocument::kSizeLimit));
  return parse_scenario(text, path);
}

Result<std::vector<Scenario>> load_scenarios(const std::vector<std::string>& paths) {
  std::vector<Scenario> scenarios;
  for (const std::string& path : paths) {
    Scenario scenario = DSAFUZZ_TRY(load_scenario(path));
    if (std::ranges::find(scenarios, scenario.name, &Scenario::name) != scenarios.end()) {
      return input_problem("scenario '" + scenario.name + "' is given twice", path);
    }
    scenarios.push_back(std::move(scenario));
  }
  return scenarios;
}

}  // namespace dsafuzz
