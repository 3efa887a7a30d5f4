"use strict";
// Filters, opened findings, charts. Data from the block `data` goes into the page as text only, never as markup.
(() => {
  const by_id = (id) => document.getElementById(id);
  const findings = [...document.querySelectorAll(".finding")];
  const words_input = by_id("words");
  const selects = [...document.querySelectorAll("[data-filter]")];
  const kFirst = 50, kMore = 200;
  let data = null;
  let limit = kFirst;

  // An element with text; children may be elements or strings.
  const make = (name, classes, ...children) => {
    const element = document.createElement(name);
    if (classes) element.className = classes;
    element.append(...children);
    return element;
  };

  // --- a finding that is opened

  const copy = async (button, text, block) => {
    const say = (words) => {
      button.textContent = words;
      setTimeout(() => { button.textContent = "Copy"; }, 2500);
    };
    try {
      await navigator.clipboard.writeText(text);
      return say("Copied");
    } catch { /* some browsers keep the clipboard from files */ }
    const range = document.createRange();
    range.selectNodeContents(block);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    let done = false;
    try { done = document.execCommand("copy"); } catch { done = false; }
    say(done ? "Copied" : "Press Ctrl+C");
  };

  const code_block = (title, text, wrap) => {
    const block = make("pre", wrap ? "wrap" : "", text);
    block.tabIndex = 0;
    block.setAttribute("role", "region");
    block.setAttribute("aria-label", title);
    const button = make("button", "", "Copy");
    button.type = "button";
    button.setAttribute("aria-label", "Copy: " + title);
    button.addEventListener("click", () => copy(button, text, block));
    return make("div", "block", make("div", "bar", make("h3", "", title), button), block);
  };

  const folded_block = (title, text) => {
    const folded = make("details", "block", make("summary", "", title));
    folded.addEventListener("toggle", () => {
      if (folded.open && folded.childElementCount === 1) folded.append(code_block(title, text, false));
    });
    return folded;
  };

  const fill = (finding) => {
    if (!data || finding.dataset.filled) return;
    finding.dataset.filled = "yes";
    const facts = data.details[Number(finding.dataset.i)];
    if (!facts) return;
    if (facts.cause || facts.remedy) {
      const advice = make("div", "advice");
      if (facts.cause) advice.append(make("p", "", make("b", "", "Cause: "), facts.cause));
      if (facts.remedy) advice.append(make("p", "", make("b", "", "What to do: "), facts.remedy));
      finding.querySelector("summary").after(advice);
    }
    const pairs = finding.querySelector(".pairs");
    const pair = (name, value) => {
      if (value) pairs.append(make("div", "", make("dt", "", name), make("dd", "", value)));
    };
    pair("Missing check", facts.class);
    pair("Kernel", facts.kernel);
    pair("Source", facts.file);
    pair("Condition", facts.condition);
    pair("The CPU, on the same input", facts.cpu);
    pair("Devices", Object.entries(facts.devices).map(([name, count]) => name + ": " + count).join(", "));
    pair("Versions", Object.entries(facts.versions).map(([name, version]) => name + ": " + version).join(", "));
    if (facts.evidence.length) finding.append(code_block("Evidence", facts.evidence.join("\n"), true));
    if (facts.guard) finding.append(code_block("A guard for the call", facts.guard, true));
    if (facts.files["case.yaml"]) finding.append(code_block("Minimal case", facts.files["case.yaml"], false));
    if (facts.files["repro.py"]) finding.append(code_block("Reproducer in Python", facts.files["repro.py"], false));
    if (facts.files["repro.cpp"]) finding.append(folded_block("Reproducer in C++", facts.files["repro.cpp"]));
  };

  // --- the filter, which the address remembers: #findings?state=new&words=loss

  const texts = findings.map((finding) => (finding.textContent + " " + finding.dataset.name).toLowerCase());

  const filter = () => {
    const words = words_input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = selects.filter((select) => select.value).map((select) => [select.dataset.filter, select.value]);
    let matching = 0;
    findings.forEach((finding, i) => {
      const fits = wanted.every(([name, value]) => finding.dataset[name] === value) &&
                   words.every((word) => texts[i].includes(word));
      matching += fits;
      finding.hidden = !fits || matching > limit;
    });
    const shown = Math.min(matching, limit);
    by_id("shown").textContent = matching === 0 ? "No finding fits; clear the filter to see all."
      : `${matching.toLocaleString("en")} of ${findings.length.toLocaleString("en")} findings` +
        (shown < matching ? `, ${shown} shown` : "");
    by_id("more").hidden = shown === matching;
  };

  const address_of_filter = () => {
    const parts = new URLSearchParams();
    for (const select of selects) if (select.value) parts.set(select.dataset.filter, select.value);
    if (words_input.value.trim()) parts.set("words", words_input.value.trim());
    const text = parts.toString();
    return text ? "#findings?" + text : "#findings";
  };

  const changed = () => {
    limit = kFirst;
    filter();
    history.replaceState(null, "", address_of_filter());
  };

  // Follows the address: a filter, or a finding by its name.
  const follow = (scroll) => {
    if (!words_input) return;
    const hash = location.hash.slice(1);
    if (hash.startsWith("finding/")) {
      const name = decoded(hash.slice("finding/".length));
      const finding = findings.find((each) => each.dataset.name === name);
      if (!finding) return;
      limit = Infinity;
      clear();
      filter();
      finding.open = true;
      finding.scrollIntoView();
      return;
    }
    if (hash !== "findings" && !hash.startsWith("findings?")) return;
    const parts = new URLSearchParams(hash.slice("findings?".length));
    for (const select of selects) {
      const value = parts.get(select.dataset.filter) || "";
      select.value = [...select.options].some((option) => option.value === value) ? value : "";
    }
    words_input.value = parts.get("words") || "";
    limit = kFirst;
    filter();
    if (scroll) {
      by_id("findings").scrollIntoView();
      by_id("findings-title").focus({preventScroll: true});
    }
  };
  const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
  const clear = () => {
    for (const select of selects) select.value = "";
    words_input.value = "";
  };

  if (words_input) {
    const form = by_id("filters");
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", changed);
    form.addEventListener("reset", (event) => { event.preventDefault(); clear(); changed(); });
    by_id("more-some").addEventListener("click", () => { limit += kMore; filter(); });
    by_id("more-all").addEventListener("click", () => { limit = Infinity; filter(); });
    for (const finding of findings) finding.addEventListener("toggle", () => { if (finding.open) fill(finding); });
    addEventListener("hashchange", () => follow(true));
    addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
      event.preventDefault();
      words_input.focus();
    });
    filter();
    follow(true);
  }

  // --- charts

  const charts = [...document.querySelectorAll(".chart")];
  let printing = false;

  // The figure with our colours in the places of their names, and room made for a narrow screen.
  const themed = (figure, element) => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const coloured = (value) => {
      if (typeof value === "string") return /^--[a-z-]+$/.test(value) ? colour(value) : value;
      if (Array.isArray(value)) return value.map(coloured);
      if (value === null || typeof value !== "object") return value;
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coloured(item)]));
    };
    const layout = {
      margin: {l: 56, r: 56, t: 12, b: 40}, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: {family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("--soft")},
      legend: {orientation: "h", y: 1.14, x: 0}, hovermode: "x unified", bargap: 0.25,
      hoverlabel: {bgcolor: colour("--panel"), bordercolor: colour("--line"), font: {color: colour("--text")}},
      width: element.clientWidth || 640, height: element.clientHeight || 280, ...coloured(figure.layout),
    };
    for (const name of ["xaxis", "yaxis", "yaxis2", "yaxis3"]) {
      if (name !== "xaxis" && !layout[name]) continue;
      layout[name] = {gridcolor: colour("--line"), zerolinecolor: colour("--faint"), linecolor: colour("--line"),
                      automargin: true, nticks: 8, ...layout[name]};
    }
    return [coloured(figure.data), layout, {displayModeBar: false, responsive: false}];
  };

  const figure_of = (element) => "progress" in element.dataset ? data.progress[by_id("progress-run").value]
                                                               : data.figures[element.dataset.figure];

  const draw = (element) => {
    const figure = data && figure_of(element);
    if (!figure) return;
    element.dataset.drawn = "yes";
    Plotly.react(element, ...themed(figure, element));
  };
  const redraw = () => charts.filter((element) => element.dataset.drawn).forEach(draw);

  const progress_table = () => {
    const place = by_id("progress-table");
    if (!place || !place.open) return;
    const figure = data.progress[by_id("progress-run").value];
    const head = make("tr", "");
    for (const name of ["seconds", ...figure.data.map((trace) => trace.name)]) {
      const cell = make("th", "num", name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = make("tbody", "");
    figure.data[0].x.forEach((at, i) => {
      body.append(make("tr", "", ...[at, ...figure.data.map((trace) => trace.y[i])].map(
        (value) => make("td", "num", Number(value).toLocaleString("en")))));
    });
    const scroll = make("div", "scroll tall", make("table", "", make("thead", "", head), body));
    scroll.tabIndex = 0;
    place.querySelector(".scroll")?.remove();
    place.append(scroll);
  };

  const start_charts = () => {
    // Drawn when they come into view: the page opens at once.
    const watcher = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        watcher.unobserve(entry.target);
        draw(entry.target);
      }
    }, {rootMargin: "300px"});
    charts.forEach((element) => watcher.observe(element));
    let pause = 0;
    addEventListener("resize", () => { clearTimeout(pause); pause = setTimeout(() => { if (!printing) redraw(); }, 150); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    by_id("progress-run")?.addEventListener("change", () => { charts.filter((e) => "progress" in e.dataset).forEach(draw); progress_table(); });
    by_id("progress-table")?.addEventListener("toggle", progress_table);
  };

  // --- the matrix

  const kAgreement = {catalogue_differs: "▲ differs from the catalogue", acceptance_differs: "▲ one accepts what another refuses",
                      manner_differs: "◇ refused in different ways", agrees: "✓ all agree", not_run: "- not run"};
  let parity_limit = kMore;
  const show_parity = () => {
    const words = by_id("parity-words").value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = by_id("parity-agreement").value;
    const rows = data.parity.rows.filter((row) => {
      if (wanted === "!agrees" ? row[3] === "agrees" || row[3] === "not_run" : wanted && row[3] !== wanted) return false;
      const text = row.flat(2).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const body = by_id("parity-rows");
    body.replaceChildren(...rows.slice(0, parity_limit).map(([id, op, source, agreement, , cells]) => {
      const head = make("th", "nowrap", id);
      head.scope = "row";
      return make("tr", "", head, make("td", "", make("code", "", op)),
                  ...cells.map(([verdict, signature]) => make("td", "", make("span", "verdict", verdict || "-"),
                    ...(signature ? [make("br"), make("code", "where", signature)] : []))),
                  make("td", "", kAgreement[agreement] || agreement), make("td", "", make("code", "", source)));
    }));
    by_id("parity-shown").textContent = `${rows.length} of ${data.parity.rows.length} rows` +
      (rows.length > parity_limit ? `, ${parity_limit} shown` : "");
    by_id("parity-more").hidden = rows.length <= parity_limit;
  };
  const start_parity = () => {
    const form = by_id("parity-filters");
    if (!form) return;
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => { parity_limit = kMore; show_parity(); });
    by_id("parity-more").querySelector("button").addEventListener("click", () => { parity_limit += kMore; show_parity(); });
    show_parity();
  };

  // --- print: what is on the screen, opened, on paper's colours

  const kPaperWidth = 680;
  const opened = [];
  addEventListener("beforeprint", () => {
    printing = true;
    for (const details of document.querySelectorAll("details:not([open])")) {
      if (details.closest("[hidden]")) continue;
      fill(details);
      details.open = true;
      opened.push(details);
    }
    for (const element of charts) {
      element.style.width = kPaperWidth + "px";
      draw(element);
    }
  });
  addEventListener("afterprint", () => {
    printing = false;
    for (const details of opened.splice(0)) details.open = false;
    for (const element of charts) element.style.width = "";
    redraw();
  });

  // --- the data

  const unpack = async () => {
    const bytes = Uint8Array.from(atob(by_id("data").textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };
  unpack().then((unpacked) => {
    data = unpacked;
    for (const finding of findings) if (finding.open) fill(finding);
    findings.forEach((finding, i) => {
      const facts = data.details[i];
      texts[i] += " " + [facts.cause, facts.kernel, facts.file, facts.condition, facts.class].join(" ").toLowerCase();
    });
    if (words_input && words_input.value) filter();
    start_charts();
    start_parity();
    document.documentElement.dataset.ready = "yes";
  }).catch((error) => {
    document.documentElement.dataset.ready = "no";
    if (by_id("shown")) by_id("shown").textContent = "This browser cannot unpack the details (" + error + "); each finding's folder holds them.";
  });
})();
