"""The page's charts as Plotly figures. A colour that starts with -- is a variable of the page's style sheet, which the
page's script fills in, so that charts follow light, dark and print."""

STATE_LOOKS = {"new": ("--new", ""), "known": ("--known", "/"), "gone": ("--good", ".")}
REGRESSION_LOOKS = {"as_expected": ("as expected", "--good", ""), "differs": ("differs", "--new", "x"),
                    "flaky": ("flaky", "--warn", "/"), "unreadable": ("unreadable", "--violet", "\\"),
                    "not_run": ("not run", "--accent", "-"), "skipped": ("skipped", "--known", "."),
                    "no_expectation": ("no expectation", "--faint", "")}


def bar(name, x, y, colour, pattern, ids):
    return {"type": "bar", "name": name, "x": x, "y": y, "customdata": ids,
            "marker": {"color": colour, "pattern": {"shape": pattern, "fgcolor": "--panel", "size": 6, "solidity": 0.25}},
            "hovertemplate": "run %{customdata}: %{y:,} " + name + "<extra></extra>"}


def line(name, x, y, colour, dash="solid", **more):
    return {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "line": {"color": colour, "dash": dash,
            "width": 2}, "hovertemplate": "%{y:,} " + name + "<extra></extra>", **more}


def label(run):
    return f"{run.number}"


def trend(runs):
    """New, known and gone findings of each run: gone ones hang below the axis."""
    x = [label(run) for run in runs]
    data = [bar(state, x, [run.count(state) * (-1 if state == "gone" else 1) for run in runs], *looks, x)
            for state, looks in (("known", STATE_LOOKS["known"]), ("new", STATE_LOOKS["new"]), ("gone", STATE_LOOKS["gone"]))]
    data[2]["text"] = [str(run.count("gone") or "") for run in runs]
    data[2]["textposition"] = "none"
    data[2]["hovertemplate"] = "run %{customdata}: %{text} gone<extra></extra>"
    return {"data": data, "layout": {"barmode": "relative", "xaxis": {"title": {"text": "run"}, "type": "category"},
                                     "yaxis": {"title": {"text": "findings"}}}}


def work(runs):
    """Executions of each run, and the features that it knew at its end."""
    x = [label(run) for run in runs]
    features = line("features", x, [run.features for run in runs], "--warn", yaxis="y2")
    features["mode"] = "lines+markers"
    return {"data": [bar("executions", x, [run.executions for run in runs], "--accent", "", x), features],
            "layout": {"xaxis": {"title": {"text": "run"}, "type": "category"},
                       "yaxis": {"title": {"text": "executions"}},
                       "yaxis2": {"title": {"text": "features"}, "overlaying": "y", "side": "right", "rangemode": "tozero",
                                  "showgrid": False}}}


def regressions(runs):
    """How the regression corpus did in each run that replayed it."""
    runs = [run for run in runs if run.regressions]
    x = [label(run) for run in runs]
    data = []
    for status, (name, colour, pattern) in REGRESSION_LOOKS.items():
        counts = [run.regressions_with(status) for run in runs]
        if any(counts):
            data.append(bar(name, x, counts, colour, pattern, x))
    return {"data": data, "layout": {"barmode": "stack", "xaxis": {"title": {"text": "run"}, "type": "category"},
                                     "yaxis": {"title": {"text": "cases"}}}}


def progress(samples):
    """Executions, features and findings in the course of a run."""
    x = [round(row["at"], 1) for row in samples]
    at = {"hovertemplate": "%{y:,} executions after %{x:.0f} s<extra></extra>"}
    return {"data": [
        line("executions", x, [row["executions"] for row in samples], "--accent", **{}) | at,
        line("features", x, [row["features"] for row in samples], "--warn", "dash", yaxis="y2"),
        line("findings", x, [row["findings"] for row in samples], "--new", "dot", yaxis="y3") | {
            "line": {"color": "--new", "width": 2, "shape": "hv", "dash": "dot"}}],
        "layout": {"xaxis": {"title": {"text": "seconds since the start"}},
                   "yaxis": {"title": {"text": "executions"}, "rangemode": "tozero"},
                   "yaxis2": {"title": {"text": "features"}, "overlaying": "y", "side": "right", "rangemode": "tozero",
                              "showgrid": False},
                   "yaxis3": {"overlaying": "y", "side": "right", "rangemode": "tozero", "showgrid": False,
                              "showticklabels": False}}}
