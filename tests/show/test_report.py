"""The report: what it says, that no data can break it, and how it looks in a browser."""

import json
import re
from html.parser import HTMLParser

import jinja2
import numpy as np
import pandas as pd
import pytest

import chsic
from chsic.data.samples import read_samples
from chsic.show.pictures.differences import differences_picture
from chsic.show.report.gather import gather
from chsic.show.report.page import render_page
from chsic.show.sentences import about_pvalue, answer
from chsic.show.templates import fill
from tests.conftest import ARTEFACTS
from tests.inference.test_groups import patients
from tests.inference.test_stretches import series

NASTY = (
    "<script>document.title='broken'</script>",
    "\"quotes' & <b>tags</b>",
    "right \u202eto\u202c left \u200f",
    "long " + "x" * 10_000,
    "</script><script>alert(1)</script>",
    "$\\frac{1}$ \\u003c %{x} {{ }}",
    "{{ 7 * 7 }} {% raw %} {# &lt;script&gt; #}",
    "--><!--<script>]]>",
)


class Page(HTMLParser):
    """What is on a page: elements, text outside of scripts, and the data of pictures."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.specs, self._inside = [], "", [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        is_data = dict(attrs).get("type") == "application/json"
        self._inside = ("data" if is_data else "code") if tag in ("script", "style") else ""

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside == "data":
            self.specs.append(json.loads(data))
        elif not self._inside:
            self.text += data


def summer(tmp_path):
    day = chsic.datasets.summer()
    path = tmp_path / "report.html"
    result = chsic.write_report(
        path,
        *(pd.Series(day[name], name=name) for name in ("ice_cream", "rescues", "temperature")),
        source="summer.csv",
        rng=0,
    )
    return path, result


def test_says_question_answer_data_settings_and_comparison(tmp_path):
    path, result = summer(tmp_path)
    found = Page(path.read_text(encoding="utf-8"))
    for sentence in (
        "Is ice_cream still related to rescues once temperature is known?",
        "Undecided: ice_cream and rescues show no clear relation among samples of",
        "If temperature is ignored, the question is another one: Is ice_cream related to rescues?",
        "Yes: ice_cream and rescues are related (p = ",
        "400 rows. From summer.csv.",
        "chsic.chsic_test(df['ice_cream'], df['rescues'], df['temperature'], rng=",
    ):
        assert sentence in found.text
    assert len(found.specs) == 4
    assert "Beware68% of the samples share their value of temperature" in found.text
    assert list(tmp_path.iterdir()) == [path]
    # What is said to repeat it does.
    seed = int(re.search(r"rng=(\d+)\)", found.text)[1])
    day = chsic.datasets.summer()
    again = chsic.chsic_test(day["ice_cream"], day["rescues"], day["temperature"], rng=seed)
    assert again.pvalue == result.pvalue


def test_pictures_hold_the_numbers_of_the_result():
    x, y, z = chsic.datasets.draw_scenario("add", 150, rng=1)
    facts = gather(x, y, z, rng=0)
    text = render_page(facts)
    assert "Beware" not in text
    before, null, along, profile = Page(text).specs
    assert len(before["data"][0]["x"]) == 150
    assert sum(null["data"][0]["y"]) == len(facts.result.null_distribution)
    pvalues = [point.pvalue for point in facts.sensitivity.along_alpha]
    assert along["data"][0]["y"] == pytest.approx([max(p, 1e-6) for p in pvalues])
    contribution = facts.result.profile.contribution
    assert np.mean(profile["data"][0]["y"]) == pytest.approx(contribution.sum(), rel=1e-3)


def test_warnings_and_gaps_are_told():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 7)), columns=list("abcdefg"))
    frame.loc[:4, "a"] = np.nan
    frame["h"] = rng.choice(["u", "v"], 60)
    facts = gather(
        frame["a"], frame["b"], frame[list("cdefgh")], nan_policy="omit", n_resamples=99, rng=0
    )
    text = Page(render_page(facts)).text
    assert "Beware" in text
    assert "5 rows with missing values were left out." in text
    assert "60 rows, 5 of them left out for missing values." in text
    assert "2 levels: u, v" in text
    assert "nan_policy='omit', n_resamples=99" in text
    for sentence in facts.result.warnings:
        assert sentence in text


def test_nothing_on_a_page_may_load_or_lead_elsewhere():
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    tags = Page(render_page(gather(x, y, n_resamples=99, rng=0))).tags
    [policy] = [a["content"] for _, a in tags if a.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.split(maxsplit=1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"


def test_without_z_there_is_nothing_to_compare():
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    text = Page(render_page(gather(x, y, rng=0))).text
    assert "Is x related to y?" in text
    assert "ignored" not in text


def test_large_data_are_sampled_for_pictures(monkeypatch):
    monkeypatch.setattr("chsic.show.report.gather.MOST_FOR_SENSITIVITY", 100)
    x, y, z = chsic.datasets.draw_scenario("add", 150, rng=0)
    assert "From 100 samples drawn at random." in Page(render_page(gather(x, y, z, rng=0))).text


def nasty_frame(names):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.normal(size=60) for name in names})
    frame["group"] = rng.choice(["<script>alert(2)</script>", "'\"&"], 60)
    return frame


@pytest.mark.parametrize("turn", range(len(NASTY)))
def test_names_and_values_are_escaped(turn):
    names = [*NASTY[turn:], *NASTY[:turn]][:3]
    frame = nasty_frame(names)
    z = frame[[names[2], "group"]]
    text = render_page(gather(frame[names[0]], frame[names[1]], z, rng=0), source=names[0])
    plain = render_page(gather(*np.random.default_rng(0).normal(size=(2, 60)), z["group"], rng=0))
    found = Page(text)
    kinds = [attrs.get("type") for tag, attrs in found.tags if tag == "script"]
    assert [kind for kind in kinds if kind is None] == [None, None]  # plotly, and our own
    assert {tag for tag, _ in found.tags} <= {tag for tag, _ in Page(plain).tags}
    assert not any(name.startswith("on") for _, attrs in found.tags for name in attrs)
    assert "\u202e" not in found.text
    assert len(found.text) < 40_000


def test_names_are_shown_as_they_are():
    frame = nasty_frame(NASTY)
    x, y, z = (frame[name] for name in (NASTY[6], NASTY[4], NASTY[7]))
    found = Page(render_page(gather(x, y, z, n_resamples=99, rng=0)))
    assert (
        f"Is {NASTY[6][:39]}… still related to {NASTY[4]} once {NASTY[7]} is known?" in found.text
    )
    titles = {attrs.get("title") for _, attrs in found.tags}
    assert {NASTY[6], NASTY[4], NASTY[7]} <= titles
    assert found.specs[0]["data"][0]["meta"] == "--&gt;&lt;!--&lt;script&gt;]]&gt;"


def test_what_a_template_lacks_is_an_error():
    with pytest.raises(jinja2.UndefinedError, match="'title' is undefined"):
        fill("notebook.html", head=(), rows=(), n_names=0, cautions=())


def test_a_folder_is_refused_and_settings_are_checked(tmp_path):
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    with pytest.raises(ValueError, match="is a folder; name a file"):
        chsic.write_report(tmp_path, x, y)
    with pytest.raises(ValueError, match="nan_policy: unknown choice"):
        chsic.write_report(tmp_path / "report.html", x, y, nan_policy="drop")
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        chsic.write_report(tmp_path / "report.html", x, y, colour="red")
    assert list(tmp_path.iterdir()) == []


def look_at(browser, path, **context):
    """Open a page; return it with what it complained about and asked for."""
    tab = browser.new_context(**context).new_page()
    complaints, requests = [], []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-drawn]")
    return tab, complaints, [url for url in requests if not url.startswith(("data:", "blob:"))]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("device", "width"), [("desk", 1200), ("phone", 390)])
def test_a_page_fits_a_browser_and_asks_no_other_host(browser, tmp_path, scheme, device, width):
    path, _ = summer(tmp_path)
    tab, complaints, requests = look_at(
        browser, path, color_scheme=scheme, viewport={"width": width, "height": 900}
    )
    assert complaints == []
    assert requests == [path.as_uri()]
    assert tab.evaluate("document.querySelectorAll('.plot svg.main-svg').length") >= 4
    assert (
        tab.evaluate("document.querySelectorAll('.plot .point, .plot .points path').length") > 400
    )
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    ink = tab.evaluate("getComputedStyle(document.body).color")
    assert ink == ("rgb(28, 28, 28)" if scheme == "light" else "rgb(232, 232, 232)")
    ARTEFACTS.mkdir(exist_ok=True)
    tab.screenshot(path=ARTEFACTS / f"report-{device}-{scheme}.png", full_page=True)


def test_nasty_names_do_nothing_in_a_browser(browser, tmp_path):
    path = tmp_path / "nasty.html"
    frame = nasty_frame(NASTY)
    chsic.write_report(path, frame[NASTY[0]], frame[NASTY[4]], frame[NASTY[1]], rng=0)
    tab, complaints, requests = look_at(browser, path)
    assert complaints == []
    assert requests == [path.as_uri()]
    assert tab.title().startswith("Is <script>")


def test_a_printed_page_is_light(browser, tmp_path):
    path, _ = summer(tmp_path)
    tab, _, _ = look_at(browser, path, color_scheme="dark")
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    ARTEFACTS.mkdir(exist_ok=True)
    tab.pdf(path=ARTEFACTS / "report.pdf", format="A4")


def test_names_in_warnings_are_short_and_plain():
    rng = np.random.default_rng(0)
    z, v = rng.normal(size=(2, 60))
    name = 'A\u202e"' * 4_000
    text = Page(render_page(gather({name: 2 * z}, {"y\udc80": v}, {"z": z}, rng=0))).text
    assert "Beware" in text
    assert "\u202e" not in text
    text.encode("utf-8")
    assert max(map(len, text.split("Beware")[1].split("The data")[:1])) < 1_000


def test_dates_levels_and_the_command_are_written_for_people(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "my data.csv"
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=60),
            "y": rng.normal(size=60),
            "day": pd.date_range("2024-01-01", periods=60).astype(str),
            "ward": rng.choice(["north", "south"], 60),
        }
    )
    frame.to_csv(path, index=False)
    dates = frame.assign(day=pd.to_datetime(frame["day"]))
    facts = gather(dates["x"], dates["y"], dates[["day", "ward"]], n_resamples=99, rng=3)
    found = Page(render_page(facts, source=str(path), missing=["?", "no idea"]))
    assert "2024-01-01T00:00 to 2024-02-29T00:00" in found.text
    assert f"chsic test '{path}' --x x --y y --given day --given ward" in found.text
    assert "--missing '?' --missing 'no idea' --resamples 99 --seed 3" in found.text
    assert found.specs[-1]["layout"]["xaxis"]["ticktext"] == ["north", "south"]


def test_quotes_and_percent_signs_stay_in_pictures():
    rng = np.random.default_rng(0)
    facts = gather({"x": rng.normal(size=60)}, {'"y"': rng.normal(size=60)},
                   {"%{y} share": rng.normal(size=60)}, n_resamples=99, rng=0)  # fmt: skip
    spec = Page(render_page(facts)).specs[0]
    assert spec["layout"]["yaxis"]["title"]["text"] == '"y"'
    assert spec["data"][0]["meta"] == "%{y} share"
    assert "share" not in spec["data"][0]["hovertemplate"]


def test_groups_are_told_as_in_the_terminal(tmp_path, command):
    x, y, z, groups = patients(0)
    frame = pd.DataFrame({"x": x, "y": y, "z": z, "patient": groups.astype(float)})
    frame.loc[3, "patient"] = np.nan
    path, page = tmp_path / "data.csv", tmp_path / "report.html"
    frame.to_csv(path, index=False)
    question = [str(path), "--x", "x", "--y", "y", "--given", "z", "--groups", "patient"]
    options = ["--nan-policy", "omit", "--out", str(page)]
    status, _, errors = command("report", *question, *options)
    assert status == 0, errors
    text = Page(page.read_text(encoding="utf-8")).text
    for sentence in (
        "200 rows, 1 of them left out for missing values, in 50 groups. From",
        "samples199 in 50 groups",
        "patientgroupscategory150 groups",
        "It assumes that rows of different groups are independent of each other",
        "df['z'], nan_policy='omit', groups=df['patient'], rng=0)",
        "--given z --groups patient --nan-policy omit",
    ):
        assert sentence in text
    facts = gather("x", "y", "z", data=frame, groups="patient", nan_policy="omit", rng=0)
    expected = chsic.chsic_test("x", "y", "z", data=frame, groups="patient", nan_policy="omit")
    assert facts.result.pvalue == expected.pvalue
    ignoring = chsic.hsic_test("x", "y", data=frame.dropna(), groups="patient")
    assert facts.ignoring_z.pvalue == ignoring.pvalue
    along = chsic.sensitivity("x", "y", "z", data=frame.dropna(), groups="patient", rng=0)
    found = [point.pvalue for point in facts.sensitivity.along_alpha]
    assert found == pytest.approx([point.pvalue for point in along.along_alpha], rel=1e-6)


@pytest.mark.parametrize(
    ("way", "options", "sentences"),
    [
        (
            {"time": "day", "stretch": 8},
            ["--time", "day", "--stretch", "8"],
            [
                "200 rows in 25 stretches of 8 days. From",
                "samples200 in 25 stretches of 8 days",
                "daytimedate02024-01-01T00:00 to",
                "It assumes that rows of different stretches of time are independent",
                "df['z'], time=df['day'], stretch=8.0, rng=0)",
                "--given z --time day --stretch 8.0 --resamples",
            ],
        ),
        (
            {"time": "rows"},
            ["--time", "rows"],
            ["stretches of length ", "df['z'], time='rows', rng=0)", "--time rows --resamples"],
        ),
        (
            {"groups": "patient", "within": True},
            ["--groups", "patient", "--within"],
            [
                "among samples of one group and of equal z (p = ",
                "samples200 compared inside 50 groups",
                "that what else differs between groups adds the same to all rows of one",
                "df['z'], groups=df['patient'], within=True, rng=0)",
                "--given z --groups patient --within --resamples",
            ],
        ),
    ],
    ids=["dates", "rows", "within"],
)
def test_time_and_within_are_told_as_in_the_terminal(tmp_path, command, way, options, sentences):
    rng = np.random.default_rng(0)
    x, y, z = (series(rng, 200, 0.8) for _ in "xyz")
    days = pd.date_range("2024-01-01", periods=200)
    frame = pd.DataFrame({"x": x, "y": y, "z": z, "day": days, "patient": np.arange(200) // 4})
    path, page = tmp_path / "data.csv", tmp_path / "report.html"
    frame.to_csv(path, index=False)
    question = [str(path), "--x", "x", "--y", "y", "--given", "z", *options]
    status, _, errors = command("report", *question, "--out", str(page))
    assert status == 0, errors
    text = Page(page.read_text(encoding="utf-8")).text
    for sentence in sentences:
        assert sentence in text
    facts = gather("x", "y", "z", data=frame, rng=0, **way)
    assert facts.result.pvalue == chsic.chsic_test("x", "y", "z", data=frame, **way).pvalue
    assert facts.ignoring_z.pvalue == chsic.hsic_test("x", "y", data=frame, **way).pvalue
    along = chsic.sensitivity("x", "y", "z", data=frame, rng=0, **way)
    found = [point.pvalue for point in facts.sensitivity.along_alpha]
    assert found == pytest.approx([point.pvalue for point in along.along_alpha], rel=1e-6)
    answer = command("test", *question, "--json")[1]
    assert json.loads(answer)["pvalue"] == pytest.approx(facts.result.pvalue)


def test_weights_are_told_as_in_the_terminal(tmp_path, command):
    x, y, z, groups = patients(0)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": x, "y": y, "z": z, "patient": groups})
    frame["stands_for"] = rng.uniform(1, 9, 200).round(1)
    frame.loc[3, "stands_for"] = np.nan
    path, page = tmp_path / "data.csv", tmp_path / "report.html"
    frame.to_csv(path, index=False)
    question = [str(path), "--x", "x", "--y", "y", "--given", "z", "--weights", "stands_for"]
    options = ["--nan-policy", "omit", "--out", str(page)]
    status, _, errors = command("report", *question, *options)
    assert status == 0, errors
    text = Page(page.read_text(encoding="utf-8")).text
    way = {"data": frame, "weights": "stands_for", "nan_policy": "omit"}
    expected = chsic.chsic_test("x", "y", "z", **way)
    told = f"weighted (as good as {expected.n_effective:.0f} of equal weight)"
    for sentence in (
        "among samples of equal z in the weighted population (p = ",
        "Is x related to y? Yes: x and y are related in the weighted population (p = ",
        f"200 rows, 1 of them left out for missing values, {told}. From",
        f"samples199 {told}",
        "stands_forweightsnumber11 to 9, half of them below ",
        "Rows have weights, so that p, strength and interval are about the population that they",
        "df['z'], nan_policy='omit', weights=df['stands_for'], rng=0)",
        "--given z --weights stands_for --nan-policy omit",
    ):
        assert sentence in text
    for more in ({}, {"groups": "patient"}):
        facts = gather("x", "y", "z", rng=0, **way, **more)
        assert facts.result.pvalue == chsic.chsic_test("x", "y", "z", **way, **more).pvalue
        ignoring = chsic.hsic_test("x", "y", **way, **more)
        assert facts.ignoring_z.pvalue == pytest.approx(ignoring.pvalue, rel=1e-9)
        along = chsic.sensitivity("x", "y", "z", rng=0, **way, **more)
        found = [point.pvalue for point in facts.sensitivity.along_alpha]
        assert found == pytest.approx([point.pvalue for point in along.along_alpha], rel=1e-6)
    answer = command("test", *question, "--nan-policy", "omit", "--json")[1]
    assert json.loads(answer)["pvalue"] == pytest.approx(expected.pvalue)


def test_equal_weights_are_not_told():
    x, y, z, _ = patients(0)
    facts = gather(x, y, z, weights=np.full(200, 7.0), rng=0)
    assert facts.result.pvalue == gather(x, y, z, rng=0).result.pvalue
    assert "weight" not in about_pvalue(facts.result) + answer(facts.result)


def test_equal_rows_of_a_group_are_one_row_without_z():
    rng = np.random.default_rng(0)
    x, y, z = rng.choice(list("abc"), 160), rng.choice(list("uv"), 160), rng.normal(size=160)
    groups = np.arange(160) // 4
    facts = gather(x, y, z, groups=groups, rng=0)
    assert facts.ignoring_z.pvalue == chsic.hsic_test(x, y, groups=groups, rng=0).pvalue


def test_pictures_show_differences_inside_a_group():
    x, y, z, groups = patients(0)
    samples = read_samples(x + 1_000 * groups, y, z, groups=groups, within=True)
    drawn = differences_picture(samples, alpha=4, rng=0).differences
    assert np.abs(drawn.x).max() < 500


def test_pictures_show_differences_of_different_groups():
    x, y, z, groups = patients(0)
    x = x + 1_000 * groups  # differences tell which groups they are of
    samples = read_samples(x, y, z, groups=groups)
    drawn = differences_picture(samples, alpha=4, rng=0).differences
    assert np.abs(drawn.x).min() > 500
    assert (
        np.abs(differences_picture(read_samples(x, y, z), alpha=4, rng=0).differences.x).min() < 9
    )
