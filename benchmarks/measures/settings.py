"""On which data: the paper's two models along both axes of its figure, and pairs of scenarios."""

import dataclasses

import numpy as np
from benchmarks.measures import matched

from chsic import datasets
from chsic.datasets import Sample
from chsic.datasets.rough import DEPENDENT as ROUGH
from chsic.measure.figure1 import FIXED_GAMMA_DB, FIXED_SIZE, GAMMAS_DB, MODELS

SIZES = (100, 200, 400, 600)  # fewer than in the figure: many measures cost n^3
SHOWN_DB = (-10, 0, 5, 10, 15, 20)
SCENARIO_SIZE = 200


@dataclasses.dataclass(frozen=True, kw_only=True)
class Setting:
    """Where data are drawn; `gamma_db` belongs to the models, `d` to the scenarios.

    `matched` data have the same (x, z) and the same (y, z) in law, but x and y independent given z.
    """

    scenario: str
    matched: bool = False
    n: int = SCENARIO_SIZE
    gamma_db: float | None = None
    d: int = 1

    def __str__(self) -> str:
        at = "" if self.gamma_db is None else f", {self.gamma_db:g} dB"
        return f"{self.name}{at}, d = {self.d}, n = {self.n}"

    @property
    def name(self) -> str:
        """The scenario, and whether it is the matched one."""
        return self.scenario + " matched" * self.matched

    @property
    def independent(self) -> bool:
        """Whether x and y are independent given z."""
        if self.gamma_db is not None:
            return self.matched or self.scenario == "M+"
        return self.matched or datasets.SCENARIOS[self.scenario].independent


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pair:
    """Two settings to be told apart: x and y independent given z, and dependent."""

    null: Setting
    alternative: Setting

    @property
    def label(self) -> str:
        """What tables and pictures call it."""
        s = self.alternative
        if s.gamma_db is not None:
            return f"{self.null.name} / {s.name}, {s.gamma_db:g} dB, L = {s.n}"
        return f"{self.null.name} / {s.name}, d = {s.d}"


def along_gamma() -> list[Pair]:
    return [_models(gamma_db, FIXED_SIZE) for gamma_db in GAMMAS_DB]


def along_size() -> list[Pair]:
    return [_models(FIXED_GAMMA_DB, n) for n in SIZES]


def reference() -> Pair:
    """Both axes of the paper's figure meet here."""
    return _models(FIXED_GAMMA_DB, FIXED_SIZE)


def scenarios() -> list[Pair]:
    """Return every dependent scenario but M-, with the independent one that is most like it."""
    return [
        Pair(
            null=Setting(scenario=one.null, d=d),
            alternative=Setting(scenario=one.name, d=d),
        )
        for one in datasets.SCENARIOS.values()
        if one.null is not None and not one.name.startswith("m_minus") and one.name not in ROUGH
        for d in one.dimensions
    ]


def shown() -> list[Pair]:
    """Return the pairs of which separation is shown: every scenario, and some of the models."""
    gammas = [pair for pair in along_gamma() if pair.null.gamma_db in SHOWN_DB]
    return [*gammas, *along_size()[1:], *scenarios()]


def with_matched(pair: Pair) -> Pair:
    """Replace the null by one which differs from the alternative in the dependence only."""
    return Pair(
        null=dataclasses.replace(pair.alternative, matched=True), alternative=pair.alternative
    )


def between_nulls(pair: Pair) -> Pair:
    """Hold both nulls against each other: what separates them is not dependence given z."""
    return Pair(null=pair.null, alternative=with_matched(pair).null)


def all_pairs() -> list[Pair]:
    """Every pair, each once."""
    found = [*along_gamma(), *along_size(), *scenarios()]
    for pair in shown():
        found += [with_matched(pair), between_nulls(pair)]
    return list(dict.fromkeys(found))


def draw(setting: Setting, rng: np.random.Generator) -> Sample:
    if setting.gamma_db is not None:
        model = matched.m_minus if setting.matched else MODELS[setting.scenario]
        return model(setting.n, 10 ** (setting.gamma_db / 10), rng)
    if setting.matched:
        return matched.draw_scenario(setting.scenario, setting.n, setting.d, rng)
    return datasets.draw_scenario(setting.scenario, setting.n, setting.d, rng)


def _models(gamma_db: float, n: int) -> Pair:
    null, alternative = (Setting(scenario=model, n=n, gamma_db=gamma_db) for model in MODELS)
    return Pair(null=null, alternative=alternative)
