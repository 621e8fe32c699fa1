"""The documentation: commands print what it shows, and its pages ask no other host for anything.

Python on its pages runs as doctests; scripts of the gallery run when ``make docs`` builds it.
"""

import json
import re
import shutil
from importlib import resources
from pathlib import Path
from urllib.parse import unquote

import pytest

import chsic
from tests.conftest import ARTEFACTS

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in (ROOT / "docs").rglob("*.md")
    if not {"gallery", "generated"} & {*path.relative_to(ROOT).parts}
)
SITE = ROOT / "build" / "docs"
BLOCK = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LAID_OUT = {"{toctree}", "{results}", "{eval-rst}"}  # not code

COMMANDS = [
    pytest.param(body, id=f"{path.stem}: {body.split()[2]}")
    for path in PAGES
    for kind, body in BLOCK.findall(path.read_text(encoding="utf-8"))
    if kind == "console" and body.startswith("$ chsic")
]


def test_every_block_is_tested():
    for path in PAGES:
        for kind, body in BLOCK.findall(path.read_text(encoding="utf-8")):
            assert kind in {"python", "console", *LAID_OUT}, path
            if kind == "python":
                assert body.startswith(">>> "), path
            if kind == "console":
                assert body.startswith(("$ chsic ", "$ pip install ", "$ make ")), path


@pytest.mark.parametrize("body", COMMANDS)
def test_commands_print_what_is_shown(body, command, tmp_path, monkeypatch):
    line, _, shown = body.partition("\n")
    with resources.as_file(resources.files("chsic.datasets") / "summer.csv") as example:
        shutil.copy(example, tmp_path)
    monkeypatch.chdir(tmp_path)
    status, printed, errors = command(*line.split()[2:])
    assert status == 0, errors
    assert not shown or says_the_same(shown, printed), printed


def says_the_same(shown, printed):
    """The same words, and numbers alike to a percent or a last digit, which the machine decides."""
    word = re.compile(r"(\d[\d.]*(?:e[-+]\d+)?)")
    parts = word.split(shown.strip())
    pattern = "".join(
        word.pattern
        if place % 2
        else r"\s+".join(map(re.escape, re.split(r"\s+", part))).replace(r"\.\.\.", ".*?")
        for place, part in enumerate(parts)
    )
    found = re.fullmatch(pattern, printed.strip(), re.DOTALL)
    if found is None:
        return False
    for text, other in zip(parts[1::2], found.groups(), strict=True):
        decimals = text.partition(".")[2]
        digit = 10.0 ** -len(decimals) if decimals.isdigit() else 0.0
        if float(other) != pytest.approx(float(text), rel=0.01, abs=1.1 * digit):
            return False
    return True


def test_other_words_and_other_numbers_are_noticed():
    assert says_the_same("p  0.772\n...", "p 0.773\nmore")
    assert says_the_same("2.2e-05 of 3", "2.21e-05  of 3")
    assert not says_the_same("p 0.77", "p 0.79")
    assert not says_the_same("2.2e-05 of 3", "2.3e-05 of 3")
    assert not says_the_same("p 0.77", "q 0.77")
    assert not says_the_same("3 pairs", "4 pairs")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_tables_of_results_can_be_made(path, tables):
    """Every ``{results} name words`` finds its function, its file and its section."""
    for name, words in re.findall(r"^```{results} (\w+) ?(.*)$", path.read_text("utf-8"), re.M):
        assert getattr(tables, name)(*([words] if words else [])).strip(), (name, words)


def test_dependent_rows_have_tables_once_they_are_measured(tables, tmp_path, monkeypatch):
    def row(kind, case, rate, **more):
        return {
            "kind": kind,
            "case": case,
            "tests": 25,
            "rate": rate,
            "low": 0.0,
            "high": 1.0,
            **more,
        }

    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    assert "has not measured this yet" in tables.dependence()
    ignored = {"without": 0.64}
    rows = [
        row("groups", "50 groups of 4", 0.08, **ignored),
        row("time", "memory 0.9, n = 400", 0.06, **ignored),
        row("time", "memory 0.9, n = 400, related", 0.48, **ignored),
        row("time", "memory 0.9, n = 400, stretch=5", 0.2),
        row("time", "memory 0.9, n = 400, stretch=5, related", 0.9),
        row("time", "memory 0.9, n = 400, stretch=20", 0.07),
        row("time", "memory 0.9, n = 400, stretch=20, related", 0.6),
        row("time", "memory 0.9, n = 400, stretch=40, related", 0.7),  # its level is not known
    ]
    machine = {"cores": 2, "processor": "", "python": "3.11", "versions": {}}
    made = json.dumps({"machine": machine, "rows": rows})
    (tmp_path / "dependence.json").write_text(made, encoding="utf-8")
    lines = tables.dependence().splitlines()
    assert "| 50 groups of 4 | 0.080 | 0.000 to 1.000 | 0.640 | 25 |" in lines
    assert "| memory 0.9, n = 400 | 0.060 | 0.000 to 1.000 | 0.640 | 25 |" in lines
    assert "| memory 0.9, n = 400 | with `time` | 0.48 | 0.00 to 1.00 | 25 |" in lines
    assert "| memory 0.9, n = 400 | 0.06 | 0.48 | 20 | 0.07 | 0.60 |" in lines


def test_the_reference_has_all_public_names():
    listed = {
        line.strip()
        for path in (ROOT / "docs" / "reference").glob("*.*")
        for line in path.read_text(encoding="utf-8").splitlines()
    }
    modules = {"adapters", "datasets", "kernels", "paper", "plot"}  # which have pages of their own
    constants = {"SCENARIOS"}  # which stand in the text there
    public = {*chsic.__all__, *chsic.plot.__all__, *chsic.datasets.__all__} - modules - constants
    assert public <= listed


@pytest.fixture(scope="module")
def pages():
    if not (SITE / "index.html").exists():
        pytest.skip("the site is not built; make docs builds it")
    return [path for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts]


def test_pages_name_no_other_host(pages):
    loaded = re.compile(r"<(?:script|img|link|iframe|source)\b[^>]*\b(?:src|href)=\"(https?:)?//")
    assert [path for path in pages if loaded.search(path.read_text(encoding="utf-8"))] == []


def test_links_lead_somewhere(pages):
    """To a file of the site, and to something on it of that name."""
    text = {path: path.read_text(encoding="utf-8") for path in pages}
    names = {path: {*re.findall(r'\bid="([^"]+)"', page)} for path, page in text.items()}
    broken = []
    for path, page in text.items():
        for link in re.findall(r'<a\b[^>]*\bhref="([^"]+)"', page):
            if re.match(r"https?:|mailto:", link):
                continue
            file, _, name = unquote(link).partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.exists() or (name and target in names and name not in names[target]):
                broken.append((path.name, link))
    assert broken == []


def test_pages_ask_no_other_host_and_do_not_complain(pages, browser):
    tab = browser.new_page()
    complaints, requests = [], []
    # The theme tells what it does at the level "log".
    tab.on("console", lambda m: m.type == "log" or complaints.append((tab.url, m.type, m.text)))
    tab.on("pageerror", lambda error: complaints.append((tab.url, str(error))))
    tab.on("request", lambda request: requests.append(request.url))
    alike = {"generated", "gallery", "howto", "coming-from"}  # one of each is enough
    looked_at = [path for path in pages if path.parent.name not in alike]
    looked_at += [next(path for path in pages if path.parent.name == kind) for kind in alike]
    for path in looked_at:
        tab.goto(path.as_uri())
    tab.goto(f"{(SITE / 'search.html').as_uri()}?q=laplacian")
    tab.wait_for_selector("#search-results a[href*='how-it-works']")
    assert complaints == []
    elsewhere = [url for url in requests if not url.startswith((SITE.as_uri(), "data:", "blob:"))]
    assert elsewhere == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("device", "width"), [("desk", 1300), ("phone", 390)])
def test_pages_fit_and_show_pictures_and_formulas(pages, browser, scheme, device, width):
    tab = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    ARTEFACTS.mkdir(exist_ok=True)
    for name in ("index", "trust", "rows", "results/level-and-power", "how-it-works", "theory"):
        tab.goto((SITE / f"{name}.html").as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
        assert tab.evaluate("[...document.images].every(image => image.naturalWidth > 0)"), name
        tab.screenshot(path=ARTEFACTS / f"docs-{name.replace('/', '-')}-{device}-{scheme}.png")
    heights = tab.evaluate(
        "[...document.querySelectorAll('math[display=block]')].map(formula => formula.clientHeight)"
    )
    assert len(heights) >= 5
    assert min(heights) > 15
