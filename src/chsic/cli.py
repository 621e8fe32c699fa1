"""Command line: ``chsic test``, ``screen``, ``alpha``, ``report``, ``measure``, ...."""

from __future__ import annotations

import importlib
import json
import sys
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import chsic
from chsic.bandwidth import Bandwidth
from chsic.compare import Comparison, compare
from chsic.figure1 import simulate
from chsic.files import write_csv, write_rows
from chsic.progress import progress_bar
from chsic.result import IndependenceResult
from chsic.screened import Screen, ScreenedPair
from chsic.table import open_table
from chsic.words import answer, pvalue, question, strength

app = typer.Typer(
    help="Is x still related to y once z is known?",
    epilog="Example: chsic test data.csv --x ice_cream --y rescues --given temperature",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

File = Annotated[
    str, typer.Argument(help="CSV, TSV or Parquet file; - for standard input.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OutFolder = Annotated[Path, typer.Option("--out", help="Folder for the files; made if needed.")]
Seed = Annotated[int, typer.Option(help="Same seed, same numbers.", min=0)]
Given = Annotated[
    list[str] | None,
    typer.Option(help="Confounding column z; several: a,b, or --given a --given b."),
]
Categories = Annotated[
    list[str] | None,
    typer.Option(help="Columns of numbers that are names, not quantities: a,b."),
]
NanPolicy = Annotated[
    str, typer.Option(help="Missing values: raise, omit their rows, or level of a category.")
]
Resamples = Annotated[int, typer.Option(help="Random signs drawn.", min=19)]
Threads = Annotated[int, typer.Option(help="Threads; the answer is the same.", min=1)]
Workers = Annotated[
    int | None, typer.Option(help="Processes; all cores by default.", min=1, show_default=False)
]


def run() -> None:
    """Run the command line: exit status 2 on bad input, 130 on Ctrl-C, no traceback for either."""
    try:
        app(standalone_mode=True)
    except (ValueError, TypeError, OSError) as error:
        print(f"chsic: {error}", file=sys.stderr)
        sys.exit(2)
    except ImportError as error:
        missing = f"this needs {error.name.partition('.')[0]}" if error.name else str(error)
        print(f"chsic: {missing}; pip install 'chsic[cli,plot,report]' has it all", file=sys.stderr)
        sys.exit(2)


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    if version:
        print(f"chsic {chsic.__version__}")
        raise typer.Exit


@app.command("test")
def independence(
    file: File,
    x: Annotated[list[str], typer.Option(help="Column x; several: a,b.")],
    y: Annotated[list[str], typer.Option(help="Column y; several: a,b.")],
    given: Given = None,
    categories: Categories = None,
    nan_policy: NanPolicy = "raise",
    alpha: Annotated[
        float | None, typer.Option(help="Neighbours of a sample.", show_default="by size")
    ] = None,
    resamples: Resamples = 9999,
    seed: Seed = 0,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Test whether x is still related to y once z is known: p-value, strength, interval.

    Numbers and dates are numbers, text is a category; the answer says which was taken for what.

    Example: chsic test data.csv --x ice_cream --y rescues --given temperature

    Example: zcat data.csv.gz | chsic test - --x dose --y outcome --given age,ward
    --categories ward --nan-policy omit
    """
    table = open_table(file)
    of_x, of_y, of_z = table.split(x), table.split(y), table.split(given or [])
    frame = table.read([*of_x, *of_y, *of_z])
    result = chsic.chsic_test(
        frame.select(of_x),
        frame.select(of_y),
        frame.select(of_z) if of_z else None,
        kinds=dict.fromkeys(table.split(categories or []), "category"),
        nan_policy=nan_policy,
        alpha="auto" if alpha is None else alpha,
        n_resamples=resamples,
        workers=threads,
        rng=seed,
    )
    if as_json:
        print(json.dumps(result.to_dict(), indent=2))
    else:
        _print_result(result)


@app.command()
def screen(
    file: File,
    given: Given = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(help="Columns to be tested; all but the confounders by default: a,b."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Test the others against this column, not every pair.")
    ] = None,
    categories: Categories = None,
    nan_policy: NanPolicy = "raise",
    out: Annotated[
        Path | None, typer.Option(help="CSV file for all pairs.", show_default=False)
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="File in which finished pairs are kept: the same command goes on from it.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="Largest adjusted p-value of a relation.")] = 0.05,
    show: Annotated[int, typer.Option(help="Pairs to print, smallest p-value first.")] = 20,
    resamples: Resamples = 9999,
    seed: Seed = 0,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Test every pair of columns, or every column against a target, given confounders.

    Columns that cannot be tested, such as constant ones, are skipped, and named with the reason.

    Example: chsic screen data.csv --given temperature

    Example: chsic screen genes.parquet --given age,batch --categories batch --target outcome
    --resume run.jsonl --out pairs.csv
    """
    table = open_table(file)
    of_z = table.split(given or [])
    tested = table.split(columns) if columns else [n for n in table.names if n not in of_z]
    if target is not None and target not in tested:
        tested.append(target)
    found = chsic.screen(
        table.read([*tested, *of_z]),
        of_z,
        columns=tested,
        target=target,
        kinds=dict.fromkeys(table.split(categories or []), "category"),
        nan_policy=nan_policy,
        n_resamples=resamples,
        workers=threads,
        rng=seed,
        resume=resume,
        progress=True,
    )
    if out is not None:
        rows = [{**row, "warnings": " ".join(row["warnings"])} for row in found.rows()]
        write_rows(out, [field.name for field in fields(ScreenedPair)], rows)
    if as_json:
        told = {name: getattr(found, name) for name in ("given", "target", "kinds", "skipped")}
        print(json.dumps({**told, "pairs": found.rows()}, indent=2))
    else:
        _print_screen(found, level, show)


@app.command("alpha")
def along_alpha(
    file: File,
    x: Annotated[list[str], typer.Option(help="Column x; several: a,b.")],
    y: Annotated[list[str], typer.Option(help="Column y; several: a,b.")],
    given: Given = None,
    categories: Categories = None,
    nan_policy: NanPolicy = "raise",
    alphas: Annotated[
        str | None, typer.Option(help="Numbers of neighbours: 2,8,32.", show_default="2 to 64")
    ] = None,
    bandwidths: Annotated[
        str | None,
        typer.Option(help="In median distances: 0.6,1.2.", show_default="0.3 to 5"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Picture, as PNG, SVG or PDF.", show_default=False)
    ] = None,
    resamples: Resamples = 9999,
    seed: Seed = 0,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Test again and again, along alpha and along the bandwidth.

    An answer that depends on them is not to be trusted.

    Example: chsic alpha data.csv --x ice_cream --y rescues --given temperature --out alpha.png
    """
    table = open_table(file)
    of_x, of_y, of_z = table.split(x), table.split(y), table.split(given or [])
    if not of_z:
        raise ValueError("--given: without a confounder there are no neighbours to choose.")
    if out is not None:
        figures = importlib.import_module("matplotlib.figure")  # what can fail should fail now
    frame = table.read([*of_x, *of_y, *of_z])
    found = chsic.sensitivity(
        frame.select(of_x),
        frame.select(of_y),
        frame.select(of_z),
        alphas=_numbers("--alphas", alphas),
        bandwidths=_numbers("--bandwidths", bandwidths),
        kinds=dict.fromkeys(table.split(categories or []), "category"),
        nan_policy=nan_policy,
        n_resamples=resamples,
        workers=threads,
        rng=seed,
    )
    print(json.dumps(found.to_dict(), indent=2) if as_json else found)
    if out is not None:
        from chsic import plot

        figure = figures.Figure(figsize=(10, 4), layout="constrained")
        plot.sensitivity(found, figure.subplots(1, 2))
        plot.save(figure, out)
        print(out, file=sys.stderr)


@app.command()
def report(
    file: File,
    x: Annotated[list[str], typer.Option(help="Column x; several: a,b.")],
    y: Annotated[list[str], typer.Option(help="Column y; several: a,b.")],
    out: Annotated[Path, typer.Option(help="HTML file.")],
    given: Given = None,
    categories: Categories = None,
    nan_policy: NanPolicy = "raise",
    resamples: Resamples = 9999,
    seed: Seed = 0,
    threads: Threads = 1,
) -> None:
    """Write a page about one question: the answer in words, pictures, and how to repeat it.

    The page is one file that needs no network, and can be printed and handed on.

    Example: chsic report data.csv --x ice_cream --y rescues --given temperature --out report.html
    """
    table = open_table(file)
    of_x, of_y, of_z = table.split(x), table.split(y), table.split(given or [])
    frame = table.read([*of_x, *of_y, *of_z])
    chsic.write_report(
        out,
        frame.select(of_x),
        frame.select(of_y),
        frame.select(of_z) if of_z else None,
        source=table.path,
        progress=True,
        kinds=dict.fromkeys(table.split(categories or []), "category"),
        nan_policy=nan_policy,
        n_resamples=resamples,
        workers=threads,
        rng=seed,
    )
    print(out)


@app.command()
def measure(
    file: File,
    x: Annotated[str, typer.Option(help="Column x.")],
    y: Annotated[str, typer.Option(help="Column y.")],
    given: Annotated[
        list[str], typer.Option(help="Confounding column z; several: a,b, or --given a --given b.")
    ],
    alpha: Annotated[float, typer.Option(help="Mean number of partners of a sample.")] = 4.0,
    kernel: Annotated[str, typer.Option(help="Name of the kernel.")] = "gaussian",
    bandwidth: Annotated[
        str,
        typer.Option(help="h of kappa(s/h) = exp(-(s/h)^2): paper, median, a number; or two: a,b."),
    ] = "paper",
    controls: Annotated[int, typer.Option(help="Random prunings to compare with.", min=1)] = 20,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure how x and y depend on each other, with and without knowing z.

    Example: chsic measure data.csv --x ice_cream --y rescues --given temperature
    """
    table = open_table(file)
    confounders = table.split(given)
    columns = table.read([x, y, *confounders])
    result = compare(
        columns[x],
        columns[y],
        columns.select(confounders),
        alpha=alpha,
        kernel=kernel,
        bandwidth=_bandwidth(bandwidth),
        n_controls=controls,
        rng=seed,
    )
    if as_json:
        print(json.dumps(result.to_dict(), indent=2))
    else:
        _print_comparisons({f"{x}, {y} | {', '.join(confounders)}": result})


@app.command()
def figure1(
    out: OutFolder,
    trials: Annotated[int, typer.Option(help="Data sets at each point.", min=2)] = 200,
    seed: Seed = 0,
    workers: Workers = None,
) -> None:
    """Regenerate the paper's figure 1: a Monte Carlo over both models.

    Writes figure1.png, figure1.svg and figure1.csv, which holds every number in the figure.
    Two hundred trials take some minutes on two cores, ten take seconds.

    Example: chsic figure1 --trials 200 --seed 0 --out results
    """
    for path in _write_figure1(out, trials, seed, workers):
        print(path)


@app.command()
def demo(
    out: OutFolder = Path("demo"),
    trials: Annotated[int, typer.Option(help="Data sets at each point.", min=2)] = 20,
    seed: Seed = 0,
    workers: Workers = None,
) -> None:
    """Measure the bundled example and both models of the paper, draw figure 1, write a report."""
    day = chsic.datasets.summer()
    given = day["temperature"]
    questions = {
        "ice cream sold, swimmers rescued | temperature": (day["ice_cream"], day["rescues"], given),
        "ice cream sold, lemonade sold | temperature": (day["ice_cream"], day["lemonade"], given),
        "model M+: x, y | z": chsic.datasets.m_plus(1000, 10.0, seed),
        "model M-: x, y | z": chsic.datasets.m_minus(1000, 10.0, seed),
    }
    print("400 simulated summer days at a lake (chsic.datasets.summer), and the paper's two models")
    print("at 10 dB, 1,000 samples each:\n")
    _print_comparisons({q: compare(*sample, rng=seed) for q, sample in questions.items()})
    print("\nThe paper's figure 1:")
    for path in _write_figure1(out, trials, seed, workers):
        print(path)
    page = out / "report.html"
    x, y, z = ({name: day[name]} for name in ("ice_cream", "rescues", "temperature"))
    result = chsic.write_report(page, x, y, z, source="chsic.datasets.summer", rng=seed)
    print(f"\n{question(result)} {answer(result)}\nThe report, to be opened in a browser:\n{page}")


def _print_result(result: IndependenceResult) -> None:
    categories = [name for name, kind in result.kinds.items() if kind == "category"]
    numbers = [name for name, kind in result.kinds.items() if kind == "number"]
    omitted = f", {result.n_omitted} left out for missing values" if result.n_omitted else ""
    facts = {
        "answer": answer(result),
        "strength": strength(result),
        "samples": f"{result.n_samples}{omitted}; {result.n_pairs} pairs ({result.pairs})",
        "numbers": ", ".join(numbers),
        "categories": ", ".join(categories),
    }
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(style="bold")
    table.add_column()
    for name, text in facts.items():
        if text:
            table.add_row(name, Text(text))  # not markup, whatever columns are called
    for sentence in result.warnings:
        table.add_row("beware", Text(sentence))
    console = Console(highlight=False)
    console.print(Text(question(result), style="bold"))
    console.print(table)


def _print_screen(found: Screen, level: float, show: int) -> None:
    related = sum(pair.pvalue_bh <= level for pair in found)
    given = f" given {', '.join(found.given)}" if found.given else ""
    console = Console(highlight=False)
    console.print(
        Text(
            f"{related} of {len(found)} pairs are related{given} "
            f"(adjusted p at most {level:g}, Benjamini and Hochberg)",
            style="bold",
        )
    )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for header in ("x", "y"):
        table.add_column(header, max_width=24, overflow="fold")
    for header in ("strength", "95% interval", "p", "adjusted", "Holm"):
        table.add_column(header, justify="right")
    smallest = sorted(found, key=lambda pair: pair.pvalue)
    for pair in smallest[:show]:
        table.add_row(
            Text(pair.x),
            Text(pair.y),
            f"{pair.coefficient:.3f}",
            f"{pair.low:.3f} to {pair.high:.3f}",
            *(pvalue(p) for p in (pair.pvalue, pair.pvalue_bh, pair.pvalue_holm)),
        )
    console.print(table)
    if len(found) > show:
        print(f"... and {len(found) - show} with larger p-values (--show, --out, --json)")
    for name, reason in found.skipped.items():
        console.print(Text(f"skipped {reason if reason.startswith(name) else f'{name}: {reason}'}"))
    for sentence, times in Counter(s for pair in found for s in pair.warnings).most_common():
        console.print(Text(f"beware, in {times} pairs: {sentence}"))


def _print_comparisons(results: dict[str, Comparison]) -> None:
    table = Table(box=None, padding=(0, 2, 1, 0), header_style="bold")
    table.add_column("x, y | z", max_width=26)
    for header in ("HSIC", "C-HSIC", "related,\nany z", "related,\ngiven z"):
        table.add_column(header, justify="right")
    for asked, result in results.items():
        numbers = (result.hsic, result.chsic, result.ignoring_z, result.given_z)
        # As Text: a column name may hold what rich would take for markup.
        table.add_row(Text(asked), *(f"{number:.3g}" for number in numbers))
    Console(highlight=False).print(table)
    print(
        "HSIC and C-HSIC are the paper's measures: the dependence of x and y, and the same over\n"
        "pairs of samples close in z. Both are positive even where nothing is related. The last\n"
        "two columns leave that part out, and use equally many pairs: drawn at random, and close\n"
        "in z. Near 0 means that no relation is seen. For a p-value: chsic test."
    )


def _write_figure1(out: Path, trials: int, seed: int, workers: int | None) -> list[Path]:
    # What can fail should fail before the long run, not after it.
    importlib.import_module("matplotlib.figure")
    from chsic import plot

    if out.exists() and not out.is_dir():
        raise ValueError(f"--out: {out} is a file; name a folder.")
    with progress_bar("data sets") as progress:
        points = simulate(trials, seed, workers, progress)
    figure = plot.figure1(points)
    png, svg, table = (out / f"figure1.{kind}" for kind in ("png", "svg", "csv"))
    plot.save(figure, png)
    plot.save(figure, svg)
    write_csv(table, points)
    return [png, svg, table]


def _numbers(option: str, text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{option}: expected numbers such as 2,8,32, got {text!r}.") from None


def _bandwidth(text: str) -> Bandwidth:
    """Read "paper", "0.5" or "0.5,median"."""

    def one(part: str) -> str | float:
        try:
            return float(part)
        except ValueError:
            return part.strip()

    for_x, comma, for_y = text.partition(",")
    return (one(for_x), one(for_y)) if comma else one(for_x)
