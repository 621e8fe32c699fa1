"""Tables of the pages, made from committed files: no number is typed by hand."""

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

import chsic

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
LICENCES = Path(__file__).parents[1] / "licences.json"
FILES = sorted(path for path in RESULTS.rglob("*") if path.suffix in (".json", ".csv", ".md"))
FILES.append(LICENCES)
SIZES = (100, 200, 400, 1_000)  # at which our test meets KCI and RCIT
NAMES = {"chsic": "chsic_test"}  # what methods are called on pages, where it differs


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], others: str = "---:") -> str:
    """Return a table in Markdown, the first column to the left and the others to the right."""
    lines = [head, ["---", *[others] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _number(value: float) -> str:
    """Return three digits, or more before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _json(name: str) -> dict:
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def _csv(name: str) -> list[dict[str, str]]:
    with open(RESULTS / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _section(name: str, title: str) -> str:
    """Return what stands under a heading, of which the beginning is enough, or before all."""
    first, *sections = (RESULTS / name).read_text(encoding="utf-8").split("\n## ")
    if not title:
        return first.split("\n", 1)[1]
    [found] = (section for section in sections if section.startswith(title))
    return found.split("\n", 1)[1]


def _where(machine: dict) -> str:
    """Say on what something was measured."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return (
        f"{machine['cores']} cores, {machine['processor']}, Python {machine['python']}"
        + (f", {versions}" if versions else "")
        + ".\n"
    )


# --- Level and power ------------------------------------------------------------------------------


def _rates(independent: bool) -> list[dict]:
    rows = _json("calibration/table.json")["rows"]
    return [row for row in rows if row["independent"] == independent and row["tests"]]


def _of_methods(
    independent: bool, lines: dict[str, Callable[[list[float]], str]], sizes: Sequence[int]
) -> str:
    """Return a table of summaries over all scenarios that every method was run on, for each n."""
    rows = _rates(independent)
    peers = ("chsic", "KCI", "RCIT", "RCoT")
    methods = [m for m in peers if any(row["method"] == m for row in rows)]
    of = {(row["method"], row["scenario"], row["d"], row["n"]): row["rate_05"] for row in rows}
    made = []
    for n in sizes:
        cells = {key[1:] for key in of if key[3] == n}
        shared = sorted(cell for cell in cells if all((m, *cell) in of for m in methods))
        for label, summary in lines.items():
            rates = [summary([of[(m, *cell)] for cell in shared]) for m in methods]
            made.append([f"n = {n:,}: {label} ({len(shared)} cells)", *rates])
    return _table(["", *(NAMES.get(m, m) for m in methods)], made)


def level_summary() -> str:
    """Tell how often true nulls are rejected at 0.05, beside the peers."""
    lines = {
        "mean": lambda rates: f"{np.mean(rates):.3f}",
        "largest": lambda rates: f"{max(rates):.3f}",
        "above 0.10": lambda rates: f"{sum(rate > 0.10 for rate in rates)}",
    }
    return _of_methods(True, lines, SIZES)


def _frontier() -> dict[tuple[str, str, int, int], float]:
    """Return rates at 0.05 by method, scenario, columns of z and n."""
    rows = _json("calibration/frontier/table.json")["rows"]
    return {(r["method"], r["scenario"], r["d"], r["n"]): r["rate_05"] for r in rows if r["tests"]}


def rough_scenarios() -> str:
    """Tell how often tests reject where z is rough, at n = 500 and n = 2,000."""
    rates = _frontier()
    peers = [m for m in ("KCI", "RCIT", "RCoT") if any(key[0] == m for key in rates)]
    made = []
    for (method, scenario, d, n), rate in rates.items():
        if method == "chsic" and n == 500 and not scenario.startswith("gkcm"):
            large = rates.get(("chsic", scenario, d, 2_000))
            of_peers = [rates.get((m, scenario, d, 500)) for m in peers]
            numbers = ["" if one is None else f"{one:.3f}" for one in (rate, large, *of_peers)]
            made.append([scenario, str(d), *numbers])
    return _table(["", "columns of z", "n = 500", "n = 2,000", *peers], made)


def seven_columns() -> str:
    """Show the designs with seven columns of z, beside the rates that others have published."""
    rates, published = _frontier(), _json("published.json")
    made = []
    for scenario, others in published["rates"].items():
        ours = [rates.get(("chsic", scenario, 7, n)) for n in (500, 2_000)]
        cells = [" / ".join("" if rate is None else f"{rate:.2f}" for rate in ours)]
        cells += [" / ".join(f"{rate:.2f}" for rate in of_one) for of_one in others]
        made.append([scenario.removeprefix("gkcm-"), *cells])
    return _table(["", "chsic_test", *published["methods"]], made)


def power_summary() -> str:
    """Tell how often dependences are found at 0.05, beside the peers."""
    return _of_methods(False, {"mean": lambda rates: f"{np.mean(rates):.2f}"}, SIZES)


FEWEST_ANSWERS = 90  # of 100 tests, for a rate that is one
KEPT = 0.075  # rate up to which a level of 0.05 counts as kept, in 300 repetitions (100 at 1,000)


def _beside_kci() -> list[tuple[str, int, int, float, float, float | None]]:
    """Return scenario, d, n, our power, that of KCI, and its rate on the null most like it."""
    rates = [*_rates(False), *_rates(True)]
    of = {(row["method"], row["scenario"], row["d"], row["n"]): row["rate_05"] for row in rates}
    null_of = {name: one.null for name, one in chsic.datasets.SCENARIOS.items()}
    return [
        (scenario, d, n, of["chsic", scenario, d, n], power,
         of.get(("KCI", null_of[scenario], d, n)))
        for (method, scenario, d, n), power in of.items()
        if method == "KCI" and null_of[scenario] is not None
    ]  # fmt: skip


def power_where_kci_keeps_its_level() -> str:
    """Compare mean powers over alternatives on whose null KCI keeps its level."""
    made = []
    for n in SIZES:
        kept = [(ours, kci) for _, _, m, ours, kci, null in _beside_kci()
                if m == n and null is not None and null <= KEPT]  # fmt: skip
        ours, kci = np.mean(kept, axis=0)
        made.append([f"n = {n:,} ({len(kept)} cells)", f"{ours:.2f}", f"{kci:.2f}"])
    return _table(["", "chsic_test", "KCI"], made)


def behind_kci() -> str:
    """Return the alternatives on which KCI is ahead by more than 0.10."""
    return _table(
        ["scenario", "columns of z", "n", "chsic_test", "KCI", "KCI on the null most like it"],
        [
            [f"`{scenario}`", str(d), f"{n:,}", f"{ours:.2f}", f"{kci:.2f}", _rate(null)]
            for scenario, d, n, ours, kci, null in sorted(_beside_kci(), key=lambda row: row[2])
            if ours < kci - 0.10
        ],
    )


def slow_peers() -> str:
    """Compare mean rates with those of peers that were run at n = 200 alone."""
    of = {
        (row["method"], row["scenario"], row["d"], row["independent"]): row
        for independent in (True, False)
        for row in _rates(independent)
        if row["n"] == 200
    }
    made = []
    for method in ("CMIknn", "GCM", "FCIT", "mCMIkNN"):
        for independent, kind in ((True, "true nulls rejected"), (False, "dependences found")):
            shared = [
                (of["chsic", *key[1:]]["rate_05"], row["rate_05"])
                for key, row in of.items()
                if (key[0], key[3]) == (method, independent) and row["tests"] >= FEWEST_ANSWERS
            ]
            if shared:
                means = [f"{mean:.2f}" for mean in np.mean(shared, axis=0)]
                made.append([f"{method}: {kind} ({len(shared)} cells)", *means])
    return _table(["mean at level 0.05", "chsic_test", "peer"], made)


def many_samples() -> str:
    """Tell the smallest and the largest level, and the mean power, at 10^4 and 10^5 samples."""
    made = []
    for n in (10_000, 100_000):
        for method in ("chsic", "RCIT", "RCoT"):
            null, alternative = (
                [row for row in _rates(independent) if (row["method"], row["n"]) == (method, n)]
                for independent in (True, False)
            )
            if not null:
                continue
            rates = [row["rate_05"] for row in null]
            made.append(
                [
                    f"n = {n:,}: {NAMES.get(method, method)}",
                    f"{min(rates):.3f} to {max(rates):.3f} ({len(null)} cells)",
                    f"{max(row['rate_01'] for row in null):.3f}",
                    f"{np.mean([row['rate_05'] for row in alternative]):.2f} "
                    f"({len(alternative)} cells)",
                ]
            )
    head = ["", "true nulls rejected at 0.05", "at 0.01 at most", "dependences found at 0.05, mean"]
    return _table(head, made)


def worst_levels() -> str:
    """Return the true nulls that our test rejects most often."""
    rows = sorted(
        (row for row in _rates(True) if row["method"] == "chsic"),
        key=lambda row: -row["rate_05"],
    )[:6]
    return _table(
        ["scenario", "columns of z", "n", "rejected at 0.05", "95% interval", "tests"],
        [
            [f"`{row['scenario']}`", str(row["d"]), f"{row['n']:,}", f"{row['rate_05']:.3f}",
             f"{row['low_05']:.3f} to {row['high_05']:.3f}", str(row["tests"])]
            for row in rows
        ],
    )  # fmt: skip


def weakest_powers() -> str:
    """Return the dependences that our test misses most often at n = 200."""
    of = {
        (row["method"], row["scenario"], row["d"]): row["rate_05"]
        for row in _rates(False)
        if row["n"] == 200
    }
    weakest = sorted((rate, *key[1:]) for key, rate in of.items() if key[0] == "chsic")[:8]
    return _table(
        ["scenario", "columns of z", "chsic_test", "KCI", "RCIT"],
        [
            [f"`{scenario}`", str(d), f"{rate:.2f}",
             *(_rate(of.get((method, scenario, d))) for method in ("KCI", "RCIT"))]
            for rate, scenario, d in weakest
        ],
    )  # fmt: skip


def _rate(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.2f}"


def all_rates(title: str = "") -> str:
    """Return every rate of the laboratory, with its interval."""
    return _section("calibration/table.md", title)


def calibration_machine() -> str:
    """Tell where the laboratory ran, and what failed there."""
    made = _json("calibration/table.json")
    failed = sum(row["tests"] for row in made["errors"])
    tests = sum(row["tests"] for row in made["rows"])
    versions = ", ".join(f"{name}: {', '.join(of)}" for name, of in made["methods"].items())
    return (
        f"{tests:,} tests, of which {failed} gave no p-value ({_reasons(made['errors'])}). "
        f"{versions}. {_where(made['machine'])}"
    )


def _reasons(errors: list[dict]) -> str:
    return "; ".join(sorted({f"{row['method']}: {row['error']}" for row in errors})) or "none"


def coverage() -> str:
    """Tell how often 95 percent intervals cover."""
    made = _json("calibration/checks.json")["coverage_of_95_percent_intervals"]
    return _table(
        ["scenario", "n", "coefficient of large samples", "covered", "its 95% interval"],
        [
            [f"`{row['scenario']}`", f"{row['n']:,}", f"{row['coefficient_of_large_samples']:.3f}",
             f"{row['covered']:.3f}", "{:.3f} to {:.3f}".format(*row["interval_of_covered"])]
            for row in made
        ],
    )  # fmt: skip


def interval_widths() -> str:
    """Compare half widths of intervals with the standard deviation of the coefficient."""
    made = _json("calibration/checks.json")["widths_of_95_percent_intervals"]
    return _table(
        ["scenario", "n", "data sets", "mean coefficient", "half width / 1.96 / its standard "
         "deviation", "95% interval of that", "holds the mean coefficient",
         "holds that of large samples"],
        [
            [f"`{row['scenario']}`", f"{row['n']:,}", str(row["repetitions"]),
             f"{row['mean_coefficient']:z.4f}", f"{row['ratio']:.2f}",
             "{:.2f} to {:.2f}".format(*row["interval_of_ratio"]), f"{row['covered_mean']:.3f}",
             f"{row['covered']:.3f}" if "covered" in row else ""]
            for row in made
        ],
    )  # fmt: skip


def plasmode_levels() -> str:
    """Tell how often true nulls of real z are rejected, by table and n."""
    made = _json("calibration/plasmodes.json")
    fits = list(dict.fromkeys(row["fit"] for row in made["of_tables"]))
    of = {(row["table"], row["n"], row["fit"]): row for row in made["of_tables"]}
    lines = []
    for table, n in dict.fromkeys(key[:2] for key in of):
        cells = [of.get((table, n, fit)) for fit in fits]
        rates = ["" if cell is None else f"{cell['rate_05']:.3f}" for cell in cells]
        tests = " / ".join(str(cell["tests"]) for cell in cells if cell is not None)
        lines.append([table, f"{n:,}", *rates, tests])
    for n in dict.fromkeys(row["n"] for row in made["overall"]):
        mean = {row["fit"]: row for row in made["overall"] if row["n"] == n}
        rates = [f"{mean[fit]['mean_rate_05']:.3f}" if fit in mean else "" for fit in fits]
        lines.append(["mean of all settings", f"{n:,}", *rates, ""])
    return _table(["table", "n", *(f"fitted to {fit}" for fit in fits), "tests"], lines)


def many_levels() -> str:
    """Compare categories of many levels with exact permutation tests, by design and n."""
    made = _json("categories.json")
    lines = []
    for row in made["rows"]:
        null, related = row["independent"], row["related"]
        if "rate" not in null:
            ours = ["refused", "refused"]
        else:
            ours = [f"{null['rate']:.2f}", f"{related['rate']:.2f}"]
        lines.append(
            [row["design"], str(row["n"]), str(row["rows_a_level"]), ours[0],
             f"{null['permutations']:.2f}", ours[1], f"{related['permutations']:.2f}"]
        )  # fmt: skip
    head = ["many levels of", "n", "rows a level", "true nulls rejected", "by permutations",
            "dependences found", "by permutations"]  # fmt: skip
    return _table(head, lines) + f"\n{made['repetitions']} data sets in each line.\n"


def uniformity() -> str:
    """Tell how far p-values of true nulls are from uniform."""
    made = _json("calibration/checks.json")["uniform"]
    return (
        f"In `{made['scenario']}` with n = {made['n']}, the distribution of {made['seeds']:,} "
        f"p-values is off the uniform one by {made['distance']:.3f} at most "
        f"(Kolmogorov-Smirnov p = {made['pvalue']:.2f}).\n"
    )


def defaults(title: str) -> str:
    """Return level and power along one of the settings that defaults were chosen from."""
    return _section("calibration/settings.md", title)


# --- Rows that depend on each other ---------------------------------------------------------------

# What is said of rows, by the kind of dependence.
SAID = {
    "groups": "`groups`",
    "within": "`groups` and `within`",
    "time": "`time`",
    "weights": "`weights`",
}


def dependence() -> str:
    """Tell level and power where rows depend on each other, with what is known of them."""
    if not (RESULTS / "dependence.json").exists():
        return "`python -m benchmarks.dependence` has not measured this yet.\n"
    made = _json("dependence.json")
    of = {(row["kind"], *_drawn(row["case"])): row for row in made["rows"]}
    tables = [_true_nulls(of, kind) for kind in SAID if any(key[0] == kind for key in of)]
    return "\n".join([*tables, _relations(of), _lengths(of), _where(made["machine"])])


SORTED = "sorted by x, n = 400"  # by a part of x that is no column, so that rows follow each other


def alarms() -> str:
    """Tell how often a warning says that rows depend on each other."""
    made = _json("alarms.json")
    by_design = {row["design"]: row for row in made["rows"]}
    independent = [
        row for row in made["rows"] if row["rows"] == "independent" and row["design"] != SORTED
    ]
    every = {key: sum(row[key] for row in independent) for key in ("tests", "rejected", "said")}
    rows = [
        [f"independent rows, {len(independent)} designs; x and y related in some", every],
        ["independent rows, sorted by what x and y depend on", by_design[SORTED]],
        *([row["design"], row] for row in made["rows"] if row["rows"] == "dependent"),
    ]
    head = ["", "tests", "rejected at 0.05", "warned"]
    lines = [
        [
            name,
            f"{row['tests']:,}",
            *(f"{row[key] / row['tests']:.3f}" for key in ("rejected", "said")),
        ]
        for name, row in rows
    ]
    return _table(head, lines) + "\n" + _where(made["machine"])


def _drawn(case: str) -> tuple[str, str, bool]:
    """Return what was drawn, the length of stretches, "" if the data told it, and if x is in y."""
    drawn, _, length = case.removesuffix(", related").partition(", stretch=")
    return drawn, length, case.endswith(", related")


def _true_nulls(of: dict[tuple[str, str, str, bool], dict], kind: str) -> str:
    rows = [
        [drawn, f"{row['rate']:.3f}", f"{row['low']:.3f} to {row['high']:.3f}",
         f"{row['without']:.3f}", f"{row['tests']:,}"]
        for (own, drawn, length, related), row in of.items()
        if own == kind and not length and not related
    ]  # fmt: skip
    head = ["true nulls rejected", f"with {SAID[kind]}", "95% interval",
            "without", "tests"]  # fmt: skip
    return _table(head, rows)


def _relations(of: dict[tuple[str, str, str, bool], dict]) -> str:
    rows = [
        [drawn, f"with {SAID[kind]}", f"{row['rate']:.2f}",
         f"{row['low']:.2f} to {row['high']:.2f}", f"{row['tests']:,}"]
        for (kind, drawn, length, related), row in of.items()
        if related and not length
    ]  # fmt: skip
    return _table(["relations found", "", "share", "95% interval", "tests"], rows)


def _lengths(of: dict[tuple[str, str, str, bool], dict]) -> str:
    """Compare stretches of the length that data tell with the best ones that keep the level."""
    rates = {key[1:]: row["rate"] for key, row in of.items() if key[0] == "time"}
    rows = []
    for drawn in dict.fromkeys(drawn for drawn, length, _ in rates if length):
        kept = {
            length: rate
            for (own, length, related), rate in rates.items()
            if own == drawn and length and related and rates.get((drawn, length, False), 1) <= KEPT
        }
        best = max(kept, key=kept.__getitem__, default="")
        told = [_rate(rates.get((drawn, "", related))) for related in (False, True)]
        given = [_rate(rates.get((drawn, best, related)) if best else None) for related in (0, 1)]
        rows.append([drawn, *told, best or "none", *given])
    head = ["", "length from the data: true nulls", "relations found"]
    head += ["best length of those that keep the level", "true nulls", "relations found"]
    return _table(head, rows)


# --- When not to trust it -------------------------------------------------------------------------


def failures() -> str:
    """Tell how often true nulls are rejected where the assumptions do not hold."""
    made = _json("failures.json")
    return _table(
        ["what is wrong", "n", "rejected at 0.05", "95% interval"],
        [
            [row["case"], f"{row['n']:,}", f"{row['rate']:.3f}",
             f"{row['low']:.3f} to {row['high']:.3f}"]
            for row in made["rows"]
        ],
    ) + f"\n{made['repetitions']} data sets in each line. {_where(made['machine'])}"  # fmt: skip


def roughness() -> str:
    """Tell how often a caution and `calibrate` show that the regression missed something."""
    made = _json("roughness.json")
    head = ["x and y follow", "rejected at 0.05", "of these with a warning", "`calibrate` finds"]
    rows = [
        [row["case"], f"{row['rejected']:.2f}", f"{row['warned of rejected']:.2f}",
         f"{row['calibrate']:.2f}"]
        for row in made["rough"]
    ]  # fmt: skip
    sets = made["calibrate"]["data sets"]
    return (
        _table(head, rows) + f"\nn = 500, {made['repetitions']} data sets in each line, "
        f"`calibrate` on {sets} of them. {_where(made['machine'])}"
    )


def needless_cautions() -> str:
    """Tell how often the caution comes where the regression follows x and y."""
    made = _json("roughness.json")
    rows = [
        [f"{kind} ({len(of)} scenarios)", f"{np.mean([row['warned'] for row in of]):.3f}",
         f"{max(row['warned'] for row in of):.3f}"]
        for kind, of in made["others"].items()
    ]  # fmt: skip
    return _table(["x and y follow z smoothly", "with a warning, mean", "at most"], rows)


# --- Measures and speed ---------------------------------------------------------------------------


def measures(title: str = "") -> str:
    """Return C-HSIC beside other measures of conditional dependence."""
    return _section("measures/measures.md", title)


def seconds() -> str:
    """Tell seconds of one value and of one p-value, ours and the peers'."""
    made = _json("peers.json")
    rows = [row for row in made["rows"] if row.get("seconds") is not None]
    sizes = [n for n in (100, 1_000, 10_000, 100_000, 1_000_000) if any(r["n"] == n for r in rows)]
    of = {(row["method"], row["n"]): row["seconds"] for row in rows}
    methods = list(dict.fromkeys(row["method"] for row in rows))
    return _table(
        ["seconds", *(f"n = {n:,}" for n in sizes)],
        [
            [method, *(f"{of[method, n]:.3g}" if (method, n) in of else "" for n in sizes)]
            for method in methods
        ],
    ) + "\n" + _where(made["machine"])  # fmt: skip


def targets() -> str:
    """Return what was wanted of speed, and what was found."""
    rows = [*_json("targets.json")["targets"], *_json("peers.json")["pvalue_targets"]]
    return _table(
        ["", "found", "wanted"],
        [
            [row["name"], "" if row["found"] is None else _number(row["found"]), row["wanted"]]
            for row in rows
        ],
    )


def laplacian() -> str:
    """Compare the paper's form with the Laplacian form, in seconds."""
    rows = [row for row in _json("laplacian.json")["rows"] if "literal_s" in row]
    return _table(
        ["n", "alpha", "four samples (s)", "Laplacian (s)", "ratio", "relative difference"],
        [
            [f"{row['n']:,}", str(row["alpha"]), f"{row['literal_s']:.2g}",
             f"{row['laplacian_s']:.2g}", _number(row["ratio"]),
             f"{row['relative_difference']:.0e}" if row["relative_difference"] else "0"]
            for row in rows
        ],
    )  # fmt: skip


def screening() -> str:
    """Compare a screen with as many separate tests."""
    made = _json("screening.json")
    return f"{made['n_columns']} columns of {made['n_samples']:,} samples, {made['n_pairs']:,} " + (
        "pairs:\n\n"
        + _table(["", "seconds"], [[name, f"{s:.1f}"] for name, s in made["seconds"].items()])
    )


def discovery() -> str:
    """Compare PC with our test and with KCI, if that was run."""
    if not (RESULTS / "discovery.json").exists():
        return "`make bench` has not measured this yet.\n"
    made = _json("discovery.json")
    rows = []
    for graph in made["graphs"]:
        ours, kci = graph["ours"], graph["kci_in_the_time_of_ours"][-1:]
        rows.append([
            str(graph["seed"]), f"{ours['f1']:.2f}", f"{ours['n']:,}", f"{ours['seconds']:.0f}",
            *([f"{kci[0]['f1']:.2f}", f"{kci[0]['n']:,}"] if kci else ["", ""]),
            ("more than " if graph["kci_at_1000"] is None else "")
            + _number(graph["kci_over_ours_at_1000"]),
        ])  # fmt: skip
    head = ["graph", "F1", "n", "seconds", "F1 of KCI", "its n", "time of KCI over ours, n = 1,000"]
    return f"{_table(head, rows)}\n{_where(made['machine'])}"


# --- Reference ------------------------------------------------------------------------------------


def scenarios() -> str:
    """List all scenarios whose truth is known."""
    return _table(
        ["name", "independent given z", "columns of z"],
        [
            [f"`{name}`", "yes" if one.independent else "no", ", ".join(map(str, one.dimensions))]
            for name, one in chsic.datasets.SCENARIOS.items()
        ],
    )


# --- Licences -------------------------------------------------------------------------------------

FOR_DEVELOPERS = {"bench", "dev", "docs"}  # extras that nobody needs who only uses the library


def licences(readers: str) -> str:
    """List the licences of what "users" or only "developers" of the library install."""
    made = json.loads(LICENCES.read_text(encoding="utf-8"))
    groups = {group for row in made["distributions"] for group in row["groups"]}
    rows = [
        [
            f"{row['name']} {row['version']}",
            row["licence"],
            ", ".join(row["inside"]),
            _why(row, groups),
        ]
        for row in made["distributions"]
        if (readers == "users") == bool({*row["groups"]} - FOR_DEVELOPERS)
    ]
    head = ["package", "licence, by its metadata", "libraries in the wheel", "needed for"]
    return _table(head, rows, "---") + f"\nWheels for {made['wheels for']}.\n"


def _why(row: dict, groups: set[str]) -> str:
    """Tell the extras that ask for a distribution, or the distributions through which they do."""
    itself = sorted(groups.intersection(row["asked for by"]))
    return ", ".join(itself) if itself else f"through {', '.join(row['asked for by'])}"
