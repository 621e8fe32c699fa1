"""The tests, ours and the peers', as functions of (x, y, z, rng) that return a p-value.

The peers run with their defaults. Categories reach every method as their codes. Each function
imports what it needs when it is called, so that methods that are not asked for need not be
installed.
"""

import importlib.metadata
from collections.abc import Callable

import numpy as np

Method = Callable[[np.ndarray, np.ndarray, np.ndarray, np.random.Generator], float]


def ours(x, y, z, rng):
    from chsic import chsic_test

    return chsic_test(x, y, z, rng=rng).pvalue


def kci(x, y, z, rng):
    """Zhang et al. (2011), with the gamma approximation: nothing in it is random."""
    from causallearn.utils.KCI.KCI import KCI_CInd

    return KCI_CInd().compute_pvalue(_columns(x), _columns(y), _columns(z))[0]


def rcit(x, y, z, rng):
    """Strobl et al. (2019)."""
    from causallearn.utils.RCIT.RCIT import RCIT

    _seed_globally(rng)
    return RCIT().compute_pvalue(_columns(x), _columns(y), _columns(z))[0]


def rcot(x, y, z, rng):
    """Strobl et al. (2019), without z beside x."""
    from causallearn.utils.RCIT.RCIT import RCIT

    _seed_globally(rng)
    return RCIT(rcit=False).compute_pvalue(_columns(x), _columns(y), _columns(z))[0]


def cmi_knn(x, y, z, rng):
    """Runge (2018), with 500 local permutations."""
    from tigramite.independence_tests.cmiknn import CMIknn

    test = CMIknn(significance="shuffle_test", seed=int(rng.integers(2**32)), workers=1)
    return test.run_test_raw(_columns(x), _columns(y), _columns(z))[1]


def gcm(x, y, z, rng):
    """Shah and Peters (2020): the correlation of what regressions on z leave of x and y."""
    from scipy.stats import norm

    product = _regression_residual(x, z) * _regression_residual(y, z)
    statistic = np.sqrt(len(product)) * product.mean() / product.std()
    return 2 * norm.sf(abs(statistic))


def fcit(x, y, z, rng):
    """Chalupka et al. (2018). It orders columns by the clock, so its p-values vary a little."""
    import joblib
    from hyppo.conditional import FCIT

    _seed_globally(rng)
    with joblib.parallel_config(backend="sequential"):  # it would take every core
        return FCIT().test(_columns(x), _columns(y), _columns(z)).pvalue


def mcmi_knn(x, y, z, rng):
    """Huegle et al. (2023), for numbers beside categories. Its p-values vary: it seeds itself."""
    from citests.tests import MCMIknn

    columns = np.column_stack([x, y, z])
    return MCMIknn(columns)(0, 1, list(range(2, columns.shape[1])))


METHODS: dict[str, Method] = {
    "chsic": ours,
    "KCI": kci,
    "RCIT": rcit,
    "RCoT": rcot,
    "CMIknn": cmi_knn,
    "GCM": gcm,
    "FCIT": fcit,
    "mCMIkNN": mcmi_knn,
}

_PACKAGES = {
    "chsic": "chsic",
    "KCI": "causal-learn",
    "RCIT": "causal-learn",
    "RCoT": "causal-learn",
    "CMIknn": "tigramite",
    "GCM": "scikit-learn",
    "FCIT": "hyppo",
    "mCMIkNN": "citests",
}


def version(method: str) -> str:
    """Return package and version behind a method, as a result must tell."""
    package = _PACKAGES.get(method, method)
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package}, not installed"


def _columns(values):
    return values.reshape(len(values), -1)


def _seed_globally(rng):
    np.random.seed(rng.integers(2**32))  # noqa: NPY002 - the peer draws from the global generator


def _regression_residual(values, z):
    """Kernel ridge regression; penalty and width by five-fold cross-validation."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV

    grid = {"alpha": np.logspace(-4, 1, 6), "gamma": [0.1, 1.0, 10.0]}
    centred = values - values.mean()  # the regression has no intercept
    search = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=5).fit(_columns(z), centred)
    return centred - search.predict(_columns(z))
