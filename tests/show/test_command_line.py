"""The command line as people meet it: a process with output, files and an exit status."""

import csv
import json
import os
import signal
import subprocess
import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import chsic
from chsic.measure.comparison import compare

EXAMPLE = str(resources.files("chsic.datasets") / "summer.csv")
MEASURE = ["measure", EXAMPLE, "--x", "ice_cream", "--y", "rescues", "--given", "temperature"]


@pytest.fixture
def run(command):
    """Run a command in this process, as a new one takes seconds to load everything."""

    def run_command(*arguments):
        status, out, err = command(*arguments)
        return subprocess.CompletedProcess(arguments, status, out, err)

    return run_command


def test_help_teaches_by_example(run):
    for arguments in (
        ["--help"],
        ["test", "--help"],
        ["screen", "--help"],
        ["alpha", "--help"],
        ["report", "--help"],
        ["measure", "--help"],
        ["figure1", "--help"],
        ["demo", "--help"],
    ):
        done = run(*arguments)
        assert done.returncode == 0
        assert "Usage" in done.stdout
    assert "chsic test data.csv" in run("--help").stdout
    assert "chsic figure1 --trials 200 --seed 0 --out results" in run("figure1", "--help").stdout


def test_version_is_that_of_the_package(run):
    assert run("--version").stdout.strip() == f"chsic {chsic.__version__}"


TEST = ["test", EXAMPLE, "--x", "ice_cream", "--y", "rescues", "--given", "temperature"]


def test_test_prints_what_chsic_test_gives(run):
    day = chsic.datasets.summer()
    expected = chsic.chsic_test(day["ice_cream"], day["rescues"], day["temperature"], rng=0)
    found = json.loads(run(*TEST, "--json").stdout)
    assert found["names"] == {"x": ["ice_cream"], "y": ["rescues"], "z": ["temperature"]}
    for name in ("pvalue", "coefficient", "n_pairs", "confidence_interval"):
        assert found[name] == expected.to_dict()[name]
    done = run(*TEST)
    assert done.returncode == 0
    assert done.stderr == ""
    text = " ".join(done.stdout.split())
    assert "Is ice_cream still related to rescues once temperature is known?" in text
    assert "Undecided: ice_cream and rescues show no clear relation among" in text
    assert f"(p = {expected.pvalue:.2g})" in text
    assert "related (p = " in run(*TEST[:4], "--y", "lemonade").stdout


def test_test_takes_categories_gaps_and_standard_input(tmp_path, run):
    rows = [f"{k * 37 % 101},{'ab'[k % 2]},{k % 3},{k % 10 or ''}" for k in range(200)]
    text = "n,word,ward,gap\n" + "\n".join(rows)
    path = tmp_path / "data.csv"
    path.write_text(text)
    common = ["--x", "n", "--y", "word,gap", "--given", "ward", "--categories", "ward"]
    refused = run("test", path, *common)
    assert refused.returncode == 2
    assert refused.stderr.startswith("chsic: y, column gap: 20 of 200 samples are missing")
    done = run("test", path, *common, "--nan-policy", "omit")
    assert "180, 20 left out for missing values" in done.stdout
    assert "word, ward" in done.stdout
    piped = subprocess.run(
        [sys.executable, "-m", "chsic", "test", "-", *common, "--nan-policy", "omit"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert piped.stdout == done.stdout


def test_screen_prints_writes_and_resumes(tmp_path, run):
    expected = chsic.screen(chsic.datasets.summer(), "temperature", rng=0)
    common = ["screen", EXAMPLE, "--given", "temperature"]
    found = json.loads(run(*common, "--json").stdout)
    assert found["pairs"] == expected.rows()
    assert found["given"] == ["temperature"]
    table, kept = tmp_path / "pairs.csv", tmp_path / "run.jsonl"
    done = run(*common, "--out", table, "--resume", kept)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "1 of 3 pairs are related given temperature" in done.stdout
    words = " ".join(done.stdout.split())
    assert "beware, in 3 of 3 pairs: 68% of the samples share their value of temperature" in words
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["pvalue"]) for row in rows] == [pair.pvalue for pair in expected]
    written = table.read_bytes()
    assert run(*common, "--out", table, "--resume", kept).stdout == done.stdout
    assert table.read_bytes() == written
    against = run(*common, "--target", "rescues", "--columns", "ice_cream", "--show", 0)
    assert "0 of 1 pairs are related" in against.stdout
    refused = run(*common, "--columns", "ice_craem")
    assert refused.returncode == 2
    assert "did you mean 'ice_cream'?" in refused.stderr


@pytest.mark.parametrize(
    ("option", "value"), [("--level", "nan"), ("--level", "2"), ("--show", "-3")]
)
def test_screen_refuses_what_no_table_can_show(run, option, value):
    done = run("screen", EXAMPLE, "--given", "temperature", option, value)
    assert done.returncode == 2
    assert f"Invalid value for '{option}'" in done.stderr


def test_screen_names_what_it_skips(tmp_path, run):
    path = tmp_path / "odd.csv"
    rows = "".join(f"{k % 7},{k * k % 11},1,{k * 37 % 101}\n" for k in range(60))
    path.write_text(f"a,b,[bold]c,d\n{rows}")
    done = run("screen", path)
    assert done.returncode == 0, done.stderr
    assert "skipped [bold]c: every value is 1" in done.stdout


def test_alpha_prints_and_draws(tmp_path, run):
    day = chsic.datasets.summer()
    expected = chsic.sensitivity(
        day["ice_cream"], day["rescues"], day["temperature"], alphas=[4, 8], bandwidths=[1.2], rng=0
    )
    picture = tmp_path / "alpha.png"
    arguments = ["alpha", *TEST[1:], "--alphas", "4,8", "--bandwidths", "1.2"]
    done = run(*arguments, "--json", "--out", picture)
    assert json.loads(done.stdout) == json.loads(json.dumps(expected.to_dict()))
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run(*arguments).stdout.strip() == str(expected).strip()


def test_report_writes_a_page(tmp_path, run):
    path = tmp_path / "new" / "report.html"
    done = run("report", *TEST[1:], "--out", path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(path)
    assert done.stderr == ""
    text = path.read_text(encoding="utf-8")
    assert "Is ice_cream still related to rescues once temperature is known?" in text
    assert [entry.name for entry in path.parent.iterdir()] == ["report.html"]


def test_measure_prints_what_compare_gives(run):
    day = chsic.datasets.summer()
    expected = compare(day["ice_cream"], day["rescues"], day["temperature"], rng=0)
    done = run(*MEASURE, "--json")
    assert json.loads(done.stdout) == json.loads(json.dumps(expected.to_dict()))
    table = run(*MEASURE)
    assert table.returncode == 0
    assert table.stderr == ""
    for number in (expected.hsic, expected.chsic, expected.ignoring_z, expected.given_z):
        assert f"{number:.3g}" in table.stdout


def test_readme_shows_what_its_command_prints(run):
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8").splitlines()
    start = next(k for k, line in enumerate(readme) if line.startswith("    $ chsic test"))
    done = run("test", EXAMPLE, *readme[start].split()[4:])
    shown = [line.strip() for line in readme[start + 1 : start + 6]]
    assert [line.strip() for line in done.stdout.splitlines()[:5]] == shown


def test_measure_takes_settings_and_several_confounders(run):
    day = chsic.datasets.summer()
    z = [[t, l] for t, l in zip(day["temperature"], day["lemonade"], strict=True)]
    expected = chsic.chsic(day["ice_cream"], day["rescues"], z, alpha=8, bandwidth=(2.5, "median"))
    for given in (["temperature, lemonade"], ["temperature", "--given", "lemonade"]):
        settings = ["--bandwidth", "2.5,median", "--alpha", "8", "--controls", "1", "--json"]
        done = run(*MEASURE[:-1], *given, *settings)
        assert json.loads(done.stdout)["chsic"] == pytest.approx(expected, rel=1e-12)


def test_awkward_column_names_are_read(tmp_path, run):
    path = tmp_path / "odd.csv"
    rows = "".join(f"{k % 7},{k % 5},{k % 11}\n" for k in range(40))
    path.write_text(f'mass [kg], a[/b] ,"z, cm"\n{rows}')
    done = run("measure", path, "--x", "mass [kg]", "--y", "a[/b]", "--given", "z, cm")
    assert done.returncode == 0, done.stderr
    assert "mass [kg], a[/b] |" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["measure", "missing.csv", *MEASURE[2:]], "chsic: missing.csv: No such file"),
        ([*MEASURE[:3], "ice_craem", *MEASURE[4:]], "did you mean 'ice_cream'?"),
        ([*MEASURE, "--alpha", "1000"], "alpha: must lie between 1 and n - 1 = 399"),
        ([*MEASURE[:-1], "temperature,temperature"], "'temperature' is asked for more than once"),
        ([*MEASURE, "--kernel", "box"], "known are 'gaussian'"),
        (["screen", EXAMPLE, "--given", "temprature"], "did you mean 'temperature'?"),
        (["alpha", *TEST[1:-2]], "--given: without a confounder"),
        (["alpha", *TEST[1:], "--alphas", "few"], "--alphas: expected numbers such as 2,8,32"),
        (["report", *TEST[1:], "--out", "."], "is a folder; name a file"),
        ([*MEASURE, "--bandwidth", "wide"], "unknown rule 'wide'"),
        ([*MEASURE, "--bandwidth", "-1"], "bandwidth: must be positive"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, message, run):
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("chsic: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_usage_errors_of_any_version_of_click_are_one_line(run, monkeypatch):
    """Of click itself, whose errors know a context, and of libraries that copied it in part."""

    class CopiedError(Exception):
        def format_message(self):
            return "No such option: --colour."

    def fail(**_):
        raise CopiedError

    monkeypatch.setattr("chsic.show.command_line.entry_point.app", fail)
    done = run("test")
    assert done.returncode == 2
    assert done.stderr == "chsic: No such option: --colour. Try: chsic --help\n"


def test_figure1_refuses_a_file_before_it_works(tmp_path, run):
    (tmp_path / "taken").write_text("")
    done = run("figure1", "--out", tmp_path / "taken")  # 200 trials would take minutes
    assert done.returncode == 2
    assert "is a file; name a folder" in done.stderr


@pytest.mark.parametrize("arguments", [["measure"], ["figure1"], ["nonsense"]])
def test_bad_usage_is_status_2(arguments, run):
    done = run(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_figure1_writes_the_same_files_for_any_number_of_workers(tmp_path, run):
    folders = tmp_path / "one", tmp_path / "deep" / "two"
    for folder, workers in zip(folders, (1, 2), strict=True):
        done = run("figure1", "--trials", 2, "--seed", 3, "--workers", workers, "--out", folder)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""  # no progress bar: standard error is not a terminal
        assert done.stdout.split() == [
            str(folder / f"figure1.{kind}") for kind in ("png", "svg", "csv")
        ]
        assert {path.name for path in folder.iterdir()} == {
            "figure1.png",
            "figure1.svg",
            "figure1.csv",
        }
    for kind in ("png", "svg", "csv"):
        first, second = ((folder / f"figure1.{kind}").read_bytes() for folder in folders)
        assert first == second, kind
    assert (folders[0] / "figure1.png").read_bytes().startswith(b"\x89PNG")
    with (folders[0] / "figure1.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 190
    assert set(rows[0]) == {
        "panel",
        "model",
        "gamma_db",
        "n_samples",
        "measure",
        "trials",
        "mean",
        "std",
    }


def test_demo_tells_the_story(tmp_path, run):
    done = run("demo", "--trials", 2, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    for words in ("ice cream sold", "temperature", "M+", "M-", "figure1.png"):
        assert words in done.stdout
    assert (tmp_path / "figure1.png").exists()
    last = Path(done.stdout.splitlines()[-1])
    assert last.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


ANNOUNCED = """if True:
    from chsic.__main__ import main
    from chsic.measure import figure1

    run = figure1._run

    def announced(*arguments):
        for result in run(*arguments):
            print("at work", flush=True)
            yield result

    figure1._run = announced
    main()
"""


@pytest.mark.usefixtures("interrupts_heeded")
@pytest.mark.parametrize("workers", [1, 2])
def test_interrupt_leaves_nothing_behind(tmp_path, workers):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-c", ANNOUNCED, "figure1", "--out", str(out), "--workers", str(workers)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "at work\n"  # far from the end of 200 trials
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert not out.exists()


def test_missing_extra_is_explained():
    code = "import sys; sys.modules['typer'] = None; from chsic.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'chsic[cli,plot,report]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_names_of_columns_are_not_patterns(tmp_path, run):
    path = tmp_path / "data.csv"
    rows = "".join(f"{k * 37 % 101},{k * 53 % 97},{k * 29 % 89}\n" for k in range(80))
    path.write_text(f"^.*$,b,c\n{rows}")
    found = json.loads(
        run("test", path, "--x", "^.*$", "--y", "b", "--given", "c", "--json").stdout
    )
    assert found["names"] == {"x": ["^.*$"], "y": ["b"], "z": ["c"]}


def test_messages_speak_of_options(tmp_path, run):
    path = tmp_path / "data.csv"
    rows = "".join(f"{k * 1.7 if k % 9 else '?'},{k * 37 % 101},{k or ''}\n" for k in range(150))
    path.write_text(f"a,b,gap\n{rows}")
    done = run("test", path, "--x", "b", "--y", "gap")
    assert "use --nan-policy omit to leave" in done.stderr
    done = run("test", path, "--x", "a", "--y", "b")
    assert "(such as '?', which is no number)" in done.stderr
    assert "--numbers 'a'" in done.stderr
    done = run("test", path, "--x", "a", "--y", "b", "--missing", "?", "--nan-policy", "omit")
    assert "17 left out for missing values" in done.stdout


def test_measure_takes_gaps_and_categories(tmp_path, run):
    path = tmp_path / "data.csv"
    rows = "".join(f"{k * 37 % 101},{k % 3},{k % 17 or ''},{k % 5}\n" for k in range(120))
    path.write_text(f"a,ward,gap,d\n{rows}")
    done = run("measure", path, "--x", "a,d", "--y", "ward", "--given", "gap", "--categories",
               "ward", "--nan-policy", "omit", "--json")  # fmt: skip
    assert json.loads(done.stdout)["n_samples"] == 112


def test_groups_are_a_column_of_the_file(run, tmp_path):
    values = np.random.default_rng(0).normal(size=(100, 3))
    frame = pd.DataFrame(values, columns=list("xyz")).assign(patient=np.repeat(np.arange(20), 5))
    frame.to_csv(tmp_path / "data.csv", index=False)
    question = [str(tmp_path / "data.csv"), "--x", "x", "--y", "y", "--given", "z"]
    expected = chsic.chsic_test("x", "y", "z", data=frame, groups="patient").pvalue
    done = run("test", *question, "--groups", "patient", "--json")
    assert json.loads(done.stdout)["pvalue"] == pytest.approx(expected)
    assert "100 in 20 groups" in run("test", *question, "--groups", "patient").stdout
    assert run("alpha", *question, "--groups", "patient").returncode == 0
    done = run("test", *question, "--groups", "patiant")
    assert "did you mean 'patient'" in done.stderr


def test_groups_of_a_screen_are_a_column_of_the_file(run, tmp_path):
    values = np.random.default_rng(0).normal(size=(100, 3))
    frame = pd.DataFrame(values, columns=list("xyz")).assign(patient=np.repeat(np.arange(20), 5))
    frame.to_csv(tmp_path / "data.csv", index=False)
    command = ["screen", str(tmp_path / "data.csv"), "--given", "z", "--groups", "patient"]
    [expected] = chsic.screen(frame, "z", groups="patient", rng=0)
    found = json.loads(run(*command, "--json").stdout)
    assert [pair["pvalue"] for pair in found["pairs"]] == [pytest.approx(expected.pvalue)]
    assert found["n_groups"] == 20
    assert "pairs are related given z, rows in 20 groups" in run(*command).stdout
    assert "column 'patient' is named for groups" in run(*command, "--columns", "x,patient").stderr


def test_time_is_a_column_of_dates_or_the_order_of_rows(run, tmp_path):
    values = np.random.default_rng(0).normal(size=(100, 3)).cumsum(axis=0)
    frame = pd.DataFrame(values, columns=list("xyz")).assign(shop=np.repeat(np.arange(10), 10))
    frame["day"] = pd.date_range("2024-01-01", periods=100)
    frame["name"] = [f"day {k}" for k in range(100)]
    frame.to_csv(tmp_path / "data.csv", index=False)
    data = str(tmp_path / "data.csv")
    question = [data, "--x", "x", "--y", "y", "--given", "z"]
    [pair] = chsic.screen(frame, "z", columns=["x", "y"], time="day", stretch=5)
    command = ["screen", data, "--given", "z", "--time", "day", "--stretch", "5"]
    found = json.loads(run(*command, "--columns", "x,y", "--json").stdout)
    assert [one["pvalue"] for one in found["pairs"]] == [pytest.approx(pair.pvalue)]
    assert (found["n_groups"], found["stretch"], found["stretch_unit"]) == (20, 5, "days")
    screened = run(*command).stdout
    assert "pairs are related given z, rows in 20 stretches of 5 days" in screened
    assert "day" not in screened.replace("5 days", "").replace("name", "")
    inside = ["--groups", "shop", "--within"]
    assert "100 compared inside 10 groups" in run("test", *question, *inside).stdout
    [pair] = chsic.screen(frame, "z", columns=["x", "y"], groups="shop", within=True)
    command = ["screen", data, "--given", "z", "--columns", "x,y", *inside, "--json"]
    assert json.loads(run(*command).stdout)["pairs"][0]["pvalue"] == pytest.approx(pair.pvalue)
    alpha = run(
        "alpha", *question, "--time", "rows", "--alphas", "4", "--bandwidths", "1", "--json"
    )
    expected = chsic.sensitivity("x", "y", "z", data=frame, time="rows", alphas=[4], bandwidths=[1])
    [point] = json.loads(alpha.stdout)["along_alpha"]
    assert point["pvalue"] == pytest.approx(expected.along_alpha[0].pvalue)
    trend = run("test", data, "--x", "x", "--y", "y", "--given", "day", "--time", "day", "--json")
    expected = chsic.chsic_test("x", "y", "day", data=frame, time="day")
    assert json.loads(trend.stdout)["pvalue"] == pytest.approx(expected.pvalue)
    assert "time: 'name' has text" in run("test", *question, "--time", "name").stderr
    assert "give time as well" in run("test", *question, "--stretch", "5").stderr


def test_weights_are_a_column_of_the_file(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 3)), columns=list("xyz"))
    frame["stands_for"] = rng.uniform(1, 9, 100)
    frame["shop"] = [f"shop {k % 20}" for k in range(100)]
    frame.to_csv(tmp_path / "data.csv", index=False)
    data, weights = str(tmp_path / "data.csv"), ["--weights", "stands_for"]
    question = [data, "--x", "x", "--y", "y", "--given", "z"]
    expected = chsic.chsic_test("x", "y", "z", data=frame, weights="stands_for")
    found = json.loads(run("test", *question, *weights, "--json").stdout)
    assert found["pvalue"] == pytest.approx(expected.pvalue)
    assert found["n_effective"] == pytest.approx(expected.n_effective)
    told = f"weighted (as good as {expected.n_effective:.0f} of equal weight)"
    shown = " ".join(run("test", *question, *weights).stdout.split())
    assert "of equal z in the weighted population (p = " in shown
    assert f"samples 100 {told}; " in shown
    both = run("test", *question, *weights, "--groups", "shop").stdout
    assert f"100 in 20 groups, {told}; " in " ".join(both.split())
    settings = ["--alphas", "4", "--bandwidths", "1", "--json"]
    [point] = json.loads(run("alpha", *question, *weights, *settings).stdout)["along_alpha"]
    along = chsic.sensitivity(
        "x", "y", "z", data=frame, alphas=[4], bandwidths=[1], weights="stands_for"
    )
    assert point["pvalue"] == pytest.approx(along.along_alpha[0].pvalue)
    assert "did you mean 'stands_for'" in run("test", *question, "--weights", "stand_for").stderr
    assert "weights: 'shop' has text" in run("test", *question, "--weights", "shop").stderr


def test_weights_of_a_screen_are_a_column_of_the_file(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 3)), columns=list("xyz"))
    frame["stands_for"] = rng.uniform(1, 9, 100)
    frame.to_csv(tmp_path / "data.csv", index=False)
    command = ["screen", str(tmp_path / "data.csv"), "--given", "z"]
    screened = chsic.screen(frame, "z", weights="stands_for", rng=0)
    [expected], n_effective = screened, screened.n_effective
    weights = ["--weights", "stands_for"]
    found = json.loads(run(*command, *weights, "--json").stdout)
    assert [pair["pvalue"] for pair in found["pairs"]] == [pytest.approx(expected.pvalue)]
    assert found["n_effective"] == pytest.approx(n_effective)
    assert json.loads(run(*command, "--json").stdout)["n_effective"] is None
    shown = " ".join(run(*command, *weights).stdout.split())
    told = f"rows weighted (as good as {n_effective:.0f} of equal weight)"
    assert (
        f"pairs are related given z (adjusted p at most 0.05, Benjamini and Hochberg), {told}"
        in (shown)
    )
    refused = run(*command, *weights, "--columns", "x,stands_for").stderr
    assert "column 'stands_for' is named for weights" in refused
