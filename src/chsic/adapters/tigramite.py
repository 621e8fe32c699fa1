"""tigramite: a CondIndTest for PCMCI and PCMCI+.

tigramite is GPL-3: nothing else imports it.

>>> from tigramite.pcmci import PCMCI  # doctest: +SKIP
>>> from chsic.adapters.tigramite import CHSIC  # doctest: +SKIP
>>> PCMCI(dataframe=dataframe, cond_ind_test=CHSIC()).run_pcmciplus(tau_max=2)  # doctest: +SKIP
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from cachetools import LRUCache
from tigramite.independence_tests.independence_tests_base import CondIndTest

from chsic._util.cache import Cache
from chsic._util.parallel import blas_on_one_thread
from chsic._util.validate import Array, as_count
from chsic.data.fingerprint import fingerprint
from chsic.data.samples import read_samples
from chsic.data.sampling import ROWS
from chsic.inference.compare import run_test
from chsic.inference.planning import MULTIPLES, Multiples
from chsic.inference.result import IndependenceResult
from chsic.inference.settings import Settings

MOST_TESTS = 64  # whose p-values tigramite may still ask for


class TestOutcome(NamedTuple):
    """Value and p-value of a test, and values under signs if there are any."""

    value: float
    pvalue: float
    null: Array


class Steps(NamedTuple):
    """The data set and the time step of each sample; no data set if there is but one."""

    series: Array | None
    time: Array | str


class Asked(NamedTuple):
    """Variables by name, kinds of discrete ones, what draws signs, and the steps of samples."""

    x: dict[str, Array]
    y: dict[str, Array]
    z: dict[str, Array]
    kinds: dict[str, str]
    rng: np.random.Generator
    steps: Steps


IN_ORDER = Steps(None, ROWS)  # of arrays that are given as they are


class CHSIC(CondIndTest):
    """Conditional independence by C-HSIC, as tigramite calls it.

    The measure is the coefficient, 0 if independent and 1 if the same. Samples are in the order of
    time, and their residuals given the condition may depend on each other: signs are drawn for
    stretches of samples, the `time` of `chsic.chsic_test`. Of several data sets
    (``analysis_mode="multiple"``) each is a series of its own, as with its `groups`; steps that are
    masked or missing are gaps.

    Parameters
    ----------
    significance : {"analytic", "shuffle_test", "fixed_thres"}
        ``"analytic"``: that of `chsic_test`, a law with the moments that random signs have.
        ``"shuffle_test"``: the coefficient under ``sig_samples`` random signs. It sees what the
        coefficient does, at one bandwidth, and not dependences that cancel along z.
    n_resamples : int
        Number of draws of the former, where a few samples outweigh all others.
    seed : int, optional
        Of the signs of ``"shuffle_test"``, which do not depend on what was tested before.
    sig_blocklength : int, optional
        Samples in a stretch. None, the default, is automatic as it is in tigramite: as many as the
        autocorrelations of residuals ask for. Series with a memory are the normal case here, where
        tests of independent samples reject too often until the whole past is known, and
        independent samples pay nothing: 1 is found for them. With 1, they are not looked at.
    **kwargs
        Further ones of tigramite's CondIndTest.
    """

    @property
    def measure(self) -> str:
        """What the test is called."""
        return self._measure

    def __init__(
        self,
        significance: str = "analytic",
        n_resamples: int = 9999,
        seed: int | None = 42,
        sig_blocklength: int | None = None,
        **kwargs: Any,
    ) -> None:
        self._measure = "chsic"
        self.two_sided = False
        self.residual_based = False
        self.recycle_residuals = False
        self.n_resamples = n_resamples
        self._outcomes: Cache[TestOutcome] = Cache(MOST_TESTS)
        self._outcome_of_value: LRUCache[float, TestOutcome] = LRUCache(MOST_TESTS)
        self._steps: LRUCache[str, Steps] = LRUCache(MOST_TESTS)  # of arrays of a data frame
        if sig_blocklength is not None:
            as_count("sig_blocklength", sig_blocklength, minimum=1)
        CondIndTest.__init__(
            self,
            seed=seed,
            significance=significance,
            sig_blocklength=sig_blocklength,
            **kwargs,
        )
        as_count("sig_samples", self.sig_samples, minimum=19)
        self._seed = int(np.random.default_rng(seed).integers(2**62))

    def _get_array(self, X: Any, Y: Any, Z: Any, *args: Any, **kwargs: Any) -> Any:
        """Remember of which data set, and of which time step, the samples are."""
        made = super()._get_array(X, Y, Z, *args, **kwargs)
        steps = self._steps_of(X, Y, Z, *args, **kwargs)
        for array in (made[0], made[4] if len(made) > 4 else None):
            if array is not None:
                self._steps[fingerprint(np.asarray(array))] = steps
        return made

    def _steps_of(
        self, X: Any, Y: Any, Z: Any, tau_max: int = 0, cut_off: str = "2xtau_max", **_: Any
    ) -> Steps:
        """Let tigramite choose samples of a data frame whose values are what is to be known."""
        whole = self.dataframe
        chosen = []
        for values_of in (lambda number, n: np.full(n, float(number)), lambda _, n: np.arange(n)):
            frame = copy.copy(whole)
            frame.values = {
                key: np.where(np.isnan(data), np.nan, values_of(number, len(data))[:, np.newaxis])
                for number, (key, data) in enumerate(whole.values.items())
            }
            array, *_rest = frame.construct_array(
                X=X, Y=Y, Z=Z, tau_max=tau_max, mask_type=self.mask_type, cut_off=cut_off,
                do_checks=False,
            )  # fmt: skip
            chosen.append(array[0])
        series, time = chosen
        return Steps(series if len(whole.values) > 1 else None, time - time.min())

    def get_dependence_measure(
        self, array: np.ndarray, xyz: np.ndarray, data_type: np.ndarray | None = None
    ) -> float:
        """Return the coefficient.

        Parameters
        ----------
        array : array, shape (dim, T)
            Variables in rows.
        xyz : array of int, shape (dim,)
            0 for x, 1 for y, 2 for z.
        data_type : array, optional
            1 where a variable is discrete.

        Returns
        -------
        float
            0 if x or y is constant.
        """
        outcome = self._test(array, xyz, data_type, self.significance == "shuffle_test")
        self._outcome_of_value[outcome.value] = outcome
        return outcome.value

    def get_analytic_significance(self, value: float, T: int, dim: int, xyz: np.ndarray) -> float:
        """Return the p-value of the test that gave `value`, one of the last ones."""
        if value not in self._outcome_of_value:
            raise ValueError(
                "value: no recent test gave it; C-HSIC has no law of the value alone, so call "
                "get_dependence_measure on the same data first."
            )
        return self._outcome_of_value[value].pvalue

    def get_shuffle_significance(
        self,
        array: np.ndarray,
        xyz: np.ndarray,
        value: float,
        data_type: np.ndarray | None = None,
        return_null_dist: bool = False,
    ) -> Any:
        """Return the p-value by ``sig_samples`` random signs, and their values if asked."""
        outcome = self._test(array, xyz, data_type, shuffle=True)
        return (outcome.pvalue, outcome.null.copy()) if return_null_dist else outcome.pvalue

    def _test(
        self, array: np.ndarray, xyz: np.ndarray, data_type: np.ndarray | None, shuffle: bool
    ) -> TestOutcome:
        xyz = np.asarray(xyz)
        discrete = np.zeros(len(array), bool)
        if data_type is not None:
            discrete = np.array([bool(np.any(row)) for row in data_type])
        parts = [
            fingerprint(array[xyz == role]) + fingerprint(discrete[xyz == role])
            for role in range(3)
        ]
        # The same signs for the same data, whatever was asked before; x and y may change places.
        named = "".join([*sorted(parts[:2]), parts[2]])
        rng = np.random.default_rng([self._seed, *bytes.fromhex(named)])
        varies = (array != array[:, :1]).any(axis=1)
        variables: list[dict[str, np.ndarray]] = [
            {f"{'xyz'[role]}{k}": array[k] for k in np.flatnonzero((xyz == role) & varies)}
            for role in range(3)
        ]
        kinds = {name: "category" for of in variables for name in of if discrete[int(name[1:])]}
        steps = self._steps.get(fingerprint(array), IN_ORDER)
        x, y, z = variables
        asked = Asked(x, y, z, kinds, rng, steps)
        n_draws = self.sig_samples if shuffle else self.n_resamples
        of_steps = [fingerprint(of) for of in steps if isinstance(of, np.ndarray)]
        key = (shuffle, n_draws, self.sig_blocklength, *parts, *of_steps)
        test = self._by_signs if shuffle else self._by_test
        return self._outcomes.get(key, lambda: test(asked))

    def _by_test(self, asked: Asked) -> TestOutcome:
        if not (asked.x and asked.y):
            return TestOutcome(0.0, 1.0, np.zeros(0))
        result = self._run(asked, Settings.of(n_resamples=self.n_resamples))
        return TestOutcome(result.coefficient, result.pvalue, np.zeros(0))

    def _by_signs(self, asked: Asked) -> TestOutcome:
        """Hold the coefficient against its own values under signs."""
        n_draws = as_count("sig_samples", self.sig_samples, minimum=19)
        if not (asked.x and asked.y):
            return TestOutcome(0.0, 1.0, np.zeros(n_draws))
        settings = Settings.of(
            bandwidth=Multiples((MULTIPLES[(len(MULTIPLES) - 1) // 2],)),  # that of the coefficient
            augment=False if asked.z else "auto",
            null="signs",
            n_resamples=n_draws,
        )
        result = self._run(asked, settings)
        value, estimate = result.coefficient, result.estimate
        unit = value / estimate if value * estimate > 0 else 1.0
        null = value + unit * (result.null_distribution - estimate)
        # Draws that give the data themselves do so to single precision only.
        null[np.isclose(null, value, rtol=0, atol=1e-6 * np.ptp(null))] = value
        return TestOutcome(value, float((1 + (null >= value).sum()) / (1 + len(null))), null)

    @blas_on_one_thread()
    def _run(self, asked: Asked, settings: Settings) -> IndependenceResult:
        length, steps = self.sig_blocklength, asked.steps
        samples = read_samples(
            asked.x,
            asked.y,
            asked.z or None,
            kinds=asked.kinds,
            groups=None if length == 1 else steps.series,
            time=None if length == 1 else steps.time,
            stretch="auto" if length is None or length == 1 else length,
        )
        return run_test(samples, settings, asked.rng)
