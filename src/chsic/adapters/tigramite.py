"""tigramite: a CondIndTest for PCMCI and PCMCI+.

tigramite is GPL-3: nothing else imports it.

>>> from tigramite.pcmci import PCMCI  # doctest: +SKIP
>>> from chsic.adapters.tigramite import CHSIC  # doctest: +SKIP
>>> PCMCI(dataframe=dataframe, cond_ind_test=CHSIC()).run_pcmciplus(tau_max=2)  # doctest: +SKIP
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from tigramite.independence_tests.independence_tests_base import CondIndTest

from chsic.independence import chsic_test
from chsic.result import IndependenceResult

MOST_KEPT = 64  # tests whose p-value tigramite may still ask for


class CHSIC(CondIndTest):
    """Conditional independence by C-HSIC, as tigramite calls it.

    The measure is the coefficient, 0 if independent and 1 if the same. The p-value assumes that
    what is left of samples given the condition is independent in time; condition on the past.

    Parameters
    ----------
    significance : {"analytic", "shuffle_test", "fixed_thres"}
        ``"analytic"``: random signs, and a law with the right three moments where p-values are
        smaller than draws can show. ``"shuffle_test"``: ``sig_samples`` random signs alone.
    n_resamples : int
        Largest number of draws of the former.
    **kwargs
        Further ones of tigramite's CondIndTest.
    """

    @property
    def measure(self) -> str:
        """What the test is called."""
        return self._measure

    def __init__(
        self, significance: str = "analytic", n_resamples: int = 9999, **kwargs: Any
    ) -> None:
        self._measure = "chsic"
        self.two_sided = False
        self.residual_based = False
        self.recycle_residuals = False
        self.n_resamples = n_resamples
        self._found: OrderedDict[float, IndependenceResult] = OrderedDict()
        CondIndTest.__init__(self, significance=significance, **kwargs)

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
        """
        result = self._test(array, xyz, data_type)
        self._found[result.coefficient] = result
        while len(self._found) > MOST_KEPT:
            self._found.popitem(last=False)
        return result.coefficient

    def get_analytic_significance(self, value: float, T: int, dim: int, xyz: np.ndarray) -> float:
        """Return the p-value of the test that gave `value`, one of the last ones."""
        if value not in self._found:
            raise ValueError(
                "value: no recent test gave it; C-HSIC has no law of the value alone, so call "
                "get_dependence_measure on the same data first."
            )
        return self._found[value].pvalue

    def get_shuffle_significance(
        self,
        array: np.ndarray,
        xyz: np.ndarray,
        value: float,
        data_type: np.ndarray | None = None,
        return_null_dist: bool = False,
    ) -> Any:
        """Return the p-value by ``sig_samples`` random signs, and their values if asked."""
        result = self._test(array, xyz, data_type, null="signs", n_resamples=self.sig_samples)
        return (result.pvalue, result.null_distribution) if return_null_dist else result.pvalue

    def _test(
        self, array: np.ndarray, xyz: np.ndarray, data_type: np.ndarray | None, **settings: Any
    ) -> IndependenceResult:
        variables = {f"{'xyz'[role]}{k}": array[k] for k, role in enumerate(xyz)}
        kinds = {}
        if data_type is not None:
            discrete = [bool(np.any(row)) for row in np.asarray(data_type)]
            kinds = {name: "category" for k, name in enumerate(variables) if discrete[k]}
        x, y, z = ({n: v for n, v in variables.items() if n[0] == role} for role in "xyz")
        used = {"n_resamples": self.n_resamples, **settings}
        # The same signs for the same data, whatever was asked before.
        return chsic_test(x, y, z or None, kinds=kinds, rng=0, **used)
