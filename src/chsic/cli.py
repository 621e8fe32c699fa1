"""The commands: ``chsic test``, ``screen``, ``alpha``, ``report``, ``measure`` and others."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

import chsic
from chsic.bandwidth import Bandwidth
from chsic.compare import compare
from chsic.figure1 import simulate
from chsic.files import write_csv, write_rows
from chsic.options import (
    AsJson,
    Categories,
    File,
    Given,
    Missing,
    MissingValues,
    NanPolicy,
    Numbers,
    OutFolder,
    Resamples,
    Seed,
    Threads,
    Workers,
    X,
    Y,
    ask,
    open_file,
)
from chsic.progress import progress_bar
from chsic.screened import ScreenedPair
from chsic.terminal import print_comparisons, print_result, print_screen
from chsic.words import answer, question

app = typer.Typer(
    help="Is x still related to y once z is known?",
    epilog="Example: chsic test data.csv --x ice_cream --y rescues --given temperature",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


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
    x: X,
    y: Y,
    given: Given = None,
    categories: Categories = None,
    numbers: Numbers = None,
    missing: Missing = None,
    nan_policy: NanPolicy = MissingValues.RAISE,
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
    asked = ask(*open_file(file, categories, numbers, missing, nan_policy), x, y, given)
    result = chsic.chsic_test(
        asked.x,
        asked.y,
        asked.z,
        **asked.said,
        alpha="auto" if alpha is None else alpha,
        n_resamples=resamples,
        workers=threads,
        rng=seed,
    )
    if as_json:
        print(json.dumps(result.to_dict(), indent=2))
    else:
        print_result(result)


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
    numbers: Numbers = None,
    missing: Missing = None,
    nan_policy: NanPolicy = MissingValues.RAISE,
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
    if out is not None and out.is_dir():
        raise ValueError(f"--out: {out} is a folder; name a CSV file.")
    table, said = open_file(file, categories, numbers, missing, nan_policy)
    of_z = table.split(given or [])
    tested = table.split(columns) if columns else [n for n in table.names if n not in of_z]
    if target is not None and target not in tested:
        tested.append(target)
    found = chsic.screen(
        table.read([*tested, *of_z]),
        of_z,
        columns=tested,
        target=target,
        **said,
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
        failed = [{"x": x, "y": y, "why": why} for (x, y), why in found.failed.items()]
        print(json.dumps({**told, "failed": failed, "pairs": found.rows()}, indent=2))
    else:
        print_screen(found, level, show)


@app.command("alpha")
def along_alpha(
    file: File,
    x: X,
    y: Y,
    given: Given = None,
    categories: Categories = None,
    numbers: Numbers = None,
    missing: Missing = None,
    nan_policy: NanPolicy = MissingValues.RAISE,
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
    if not given:
        raise ValueError("--given: without a confounder there are no neighbours to choose.")
    if out is not None:
        figures = importlib.import_module("matplotlib.figure")  # what can fail should fail now
        if out.suffix not in (".png", ".svg", ".pdf"):
            raise ValueError(f"--out: a .png, .svg or .pdf file is needed, got {out}.")
    asked = ask(*open_file(file, categories, numbers, missing, nan_policy), x, y, given)
    found = chsic.sensitivity(
        asked.x,
        asked.y,
        asked.z,
        **asked.said,
        alphas=_numbers("--alphas", alphas),
        bandwidths=_numbers("--bandwidths", bandwidths),
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
    x: X,
    y: Y,
    out: Annotated[Path, typer.Option(help="HTML file.")],
    given: Given = None,
    categories: Categories = None,
    numbers: Numbers = None,
    missing: Missing = None,
    nan_policy: NanPolicy = MissingValues.RAISE,
    resamples: Resamples = 9999,
    seed: Seed = 0,
    threads: Threads = 1,
) -> None:
    """Write a page about one question: the answer in words, pictures, and how to repeat it.

    The page is one file that needs no network, and can be printed and handed on.

    Example: chsic report data.csv --x ice_cream --y rescues --given temperature --out report.html
    """
    asked = ask(*open_file(file, categories, numbers, missing, nan_policy), x, y, given)
    chsic.write_report(
        out,
        asked.x,
        asked.y,
        asked.z,
        **asked.said,
        source=asked.table.path,
        missing=missing or (),
        progress=True,
        n_resamples=resamples,
        workers=threads,
        rng=seed,
    )
    print(out)


@app.command()
def measure(
    file: File,
    x: X,
    y: Y,
    given: Annotated[
        list[str], typer.Option(help="Confounding column z; several: a,b, or --given a --given b.")
    ],
    categories: Categories = None,
    numbers: Numbers = None,
    missing: Missing = None,
    nan_policy: NanPolicy = MissingValues.RAISE,
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
    asked = ask(*open_file(file, categories, numbers, missing, nan_policy), x, y, given)
    result = compare(
        asked.x,
        asked.y,
        asked.z,
        **asked.said,
        alpha=alpha,
        kernel=kernel,
        bandwidth=_bandwidth(bandwidth),
        n_controls=controls,
        rng=seed,
    )
    if as_json:
        print(json.dumps(result.to_dict(), indent=2))
    else:
        print_comparisons({f"{_listed(x)}, {_listed(y)} | {_listed(given)}": result})


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
    print_comparisons({q: compare(*sample, rng=seed) for q, sample in questions.items()})
    print("\nThe paper's figure 1:")
    for path in _write_figure1(out, trials, seed, workers):
        print(path)
    page = out / "report.html"
    x, y, z = ({name: day[name]} for name in ("ice_cream", "rescues", "temperature"))
    result = chsic.write_report(page, x, y, z, source="chsic.datasets.summer", rng=seed)
    print(f"\n{question(result)} {answer(result)}\nThe report, to be opened in a browser:\n{page}")


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


def _listed(options: list[str]) -> str:
    return ", ".join(options)


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
