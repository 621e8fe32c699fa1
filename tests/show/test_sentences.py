"""Terminal, notebook and page say the same, in sentences and tables that are written once."""

import html
import re

import numpy as np
import pandas as pd
import pytest

import chsic
from chsic.show import sentences, tables
from chsic.show.notebook import MOST_ROWS
from chsic.show.report.gather import gather
from chsic.show.report.page import render_page
from chsic.show.terminal import print_result, print_screen


def one_line(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def facts():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=["dose", "age", "height"])
    frame.loc[:3, "dose"] = np.nan
    z = frame[["age"]].assign(ward=rng.choice(["u", "v"], 90))
    return gather(frame["dose"], frame["height"], z, nan_policy="omit", n_resamples=99, rng=0)


def test_a_result_reads_the_same_everywhere(facts, capsys, monkeypatch):
    result = facts.result
    monkeypatch.setenv("COLUMNS", "1000")
    print_result(result)
    printed = one_line(capsys.readouterr().out)
    notebook = html.unescape(result._repr_html_())
    page = html.unescape(render_page(facts))
    for text in (sentences.question(result), sentences.answer(result), sentences.strength(result)):
        for place in (printed, notebook, page):
            assert text in place
    for name, text in tables.result_facts(result):
        assert f"{name} {text}" in printed
        assert f">{name}</td>" in notebook
        assert f">{text}</td>" in notebook
    assert result.warnings
    for text in result.warnings:
        assert text in page


def test_a_screen_reads_the_same_everywhere(capsys, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 8)), columns=[f"column {k}" for k in range(8)])
    frame.loc[:4, "column 0"] = np.nan
    frame["constant"] = 1.0
    screen = chsic.screen(frame, nan_policy="omit", n_resamples=99, rng=0)
    monkeypatch.setenv("COLUMNS", "1000")
    print_screen(screen, 0.05, MOST_ROWS)
    printed = one_line(capsys.readouterr().out)
    notebook = html.unescape(screen._repr_html_())
    cautions = sentences.screen_cautions(screen)
    assert [caution.split()[0] for caution in cautions] == ["skipped", "beware:"]
    for text in (sentences.related_pairs(screen, 0.05), *cautions):
        assert text in printed
        assert text in notebook
    table = tables.pairs_table(screen, MOST_ROWS)
    assert len(table.rows) == MOST_ROWS < len(screen) == 28
    for row in table.rows:
        assert " ".join(row) in printed
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", notebook)
    assert cells == [cell for row in table.rows for cell in row]
    assert "8 pairs with larger p-values are not shown" in notebook
    assert "... and 8 with larger p-values" in printed


def test_many_cautions_are_cut_short_in_a_notebook():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    frame = pd.concat([frame, pd.DataFrame(np.ones((20, 50))).add_prefix("constant ")], axis=1)
    screen = chsic.screen(frame, n_resamples=99, rng=0)
    notebook = screen._repr_html_()
    assert len(sentences.screen_cautions(screen)) >= 50
    assert notebook.count("<li>skipped") == MOST_ROWS
    assert re.search(r"<li>and \d\d more</li>", notebook)


def test_names_in_sentences_are_short_and_on_one_line():
    x, y, z = np.random.default_rng(0).normal(size=(3, 60))
    result = chsic.chsic_test({"a\nb": x}, {"y" * 1_000: y}, {"z\u202e": z, "w": x + z}, rng=0)
    for sentence in (sentences.question(result), sentences.answer(result)):
        assert sentence.isprintable()
        assert len(sentence) < 250
    assert sentences.question(result).endswith("once z and w are known?")


def test_z_of_several_columns_is_plural(facts):
    text = sentences.without_z(facts.result, facts.ignoring_z)
    assert text.startswith("If age and ward are ignored, the question is another one: Is dose")
