"""The equations of docs/theory.md, written out slowly from that page alone.

Kernel matrices are exact, hat matrices are n x n, sums over pairs are loops, signs are gone through
one by one. Nothing here is imported from the library, and nothing is meant to be fast.
"""

import dataclasses
import itertools

import numpy as np
import scipy.optimize
import scipy.stats

MULTIPLES = (0.6, 1.2, 5.0)
PENALTIES = [10.0 ** (-5 + k / 2) for k in range(17)]


# Columns ------------------------------------------------------------------------------------------


def scaled_column(values):
    """Eqs. 5 and 6: a column in standard deviations, what a regression follows, and the unit."""
    shifted = values - np.median(values)
    sizes = np.array([abs(v) for v in shifted if v != 0])
    limit = 20 * np.median(sizes) / scipy.stats.norm.ppf(0.75)
    clipped = np.array([min(max(v, -limit), limit) for v in shifted])
    unit = np.std(clipped, ddof=1)
    return np.array([drawn_in(v / unit) for v in shifted]), clipped / unit, unit


def scaled_category(values):
    """Section 2: an indicator of each level, all divided by the root of their summed variances."""
    columns = np.array([[float(v == level) for level in sorted(set(values))] for v in values])
    return columns / np.sqrt(columns.var(axis=0, ddof=1).sum())


def scaled_z(z):
    """Columns of z by eqs. 5 and 6, centred."""
    columns = np.column_stack([scaled_column(column)[0] for column in np.atleast_2d(z.T)])
    return columns - columns.mean(axis=0)


def drawn_in(value):
    """Eq. 6."""
    size = abs(value)
    return value if size <= 100 else np.sign(value) * 100 * (1 + np.log(size / 100))


def distances(a, b):
    """Euclidean, between all rows."""
    return np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=2))


def median_distance(points, told_apart=None):
    """Eq. 13: the median distance of samples that differ; the root mean square if it is zero."""
    i, j = np.triu_indices(len(points), k=1)
    apart = distances(points, points)[i, j]
    if told_apart is not None:
        apart = apart[distances(told_apart, told_apart)[i, j] > 0]
    middle = np.median(apart)
    return middle if middle > 0 else np.sqrt(2 * points.var(axis=0).sum())


def gaussian(a, b, width):
    """Eq. 14."""
    return np.exp(-((distances(a, b) / width) ** 2))


# Pairs --------------------------------------------------------------------------------------------


def nearest_on_line(z, alpha):
    order = np.argsort(z)
    reach = max(1, round(alpha / 2))
    n = len(z)
    return [(order[p], order[q]) for p in range(n) for q in range(p + 1, min(p + reach + 1, n))]


def nearest_in_space(z, alpha):
    found, apart = set(), distances(z, z)
    for i in range(len(z)):
        others = sorted((j for j in range(len(z)) if j != i), key=apart[i].__getitem__)
        found |= {(min(i, j), max(i, j)) for j in others[: round(alpha)]}
    return sorted(found)


def inside_strata(strata):
    n = len(strata)
    return [(i, j) for i in range(n) for j in range(i + 1, n) if strata[i] == strata[j]]


def one_by_one(n):
    return [[i] for i in range(n)]


def along(n, size):
    """Units of about that size, along the samples."""
    bounds = np.linspace(0, n, n // size + 1).round().astype(int)
    return [list(range(a, b)) for a, b in itertools.pairwise(bounds)]


def folds(order, most=128):
    """Deal the samples out in this order, to one fold after the other."""
    number = min(len(order), most)
    return [
        [i for place, i in enumerate(order) if place % number == fold] for fold in range(number)
    ]


def laplacian(pairs, n):
    """Eq. 2."""
    lap = np.zeros((n, n))
    for i, j in pairs:
        lap[i, i] += 1
        lap[j, j] += 1
        lap[i, j] -= 1
        lap[j, i] -= 1
    return lap


# Regression on z ----------------------------------------------------------------------------------


def landmarks(points, width, largest, accuracy):
    """Pivoted Cholesky: the next landmark is the sample whose kernel is missed most."""
    kernel = gaussian(points, points, width)
    chosen, missed = [], np.diag(kernel).copy()
    while len(chosen) < largest and missed.mean() > accuracy and missed.max() > 1e-15:
        chosen.append(int(np.argmax(missed)))
        inside = kernel[np.ix_(chosen, chosen)]
        explained = kernel[:, chosen] @ np.linalg.solve(inside, kernel[chosen])
        missed = np.maximum(np.diag(kernel - explained), 0)
        missed[chosen] = 0
    return chosen


def nystroem(points, width, largest, accuracy):
    """Eq. 7: the kernel matrix as landmarks give it."""
    chosen = landmarks(points, width, largest, accuracy)
    beside = gaussian(points, points[chosen], width)
    return beside @ np.linalg.solve(gaussian(points[chosen], points[chosen], width), beside.T)


def projection(functions):
    return functions @ np.linalg.pinv(functions)


def project_on_line(z, steps=()):
    n, d = z.shape
    columns = np.ones((n, 1)) if d + 1 > 0.3 * n else np.column_stack([np.ones(n), z])
    return projection(np.column_stack([columns, *steps]))


@dataclasses.dataclass
class Ridge:
    """What a regression with hat matrix S leaves: R = I - S, and the error of eq. 9."""

    left: np.ndarray
    error: float
    width: float
    penalty: float

    @property
    def square(self):
        return self.left @ self.left.T

    @property
    def share(self):
        return np.maximum(np.diag(self.square), 0.1)


def ridge(z, gram, how=None, widths=None):
    """Eqs. 7 to 9, 11 and 11a, for targets given by their Gram matrix: GCV sees no more of them."""
    n, d = z.shape
    how = How(np.eye(d)) if how is None else how
    z = z - z.mean(axis=0)
    typical = median_distance(z)
    line = project_on_line(z, how.steps)
    beside = np.eye(n) - line
    best = None
    if widths is None:
        widths = how.widths(d)
        first = ridge(z, gram, how, widths[0])
        if first.width not in widths[0][-2:]:
            return first
        widths = widths[0] + widths[1]
    for width in widths:
        if how.form == "products":
            squares = (z[:, :, None] * z[:, None, :])[:, *np.triu_indices(d)]
            kernel = squares @ squares.T * 2 / (d * (d + 1))
        elif how.form == "sum":
            rank = min(84, max(1, 168 // d))
            width_of_one = width * typical / d**0.5
            each = [nystroem(z[:, [k]], width_of_one, rank, 1e-6) for k in range(d)]
            kernel = sum(each) / d
        else:
            kernel = nystroem(z, width * typical, 128, 1e-6)
        kernel = beside @ kernel @ beside
        for penalty in PENALTIES:
            hat = line + kernel @ np.linalg.inv(kernel + penalty * np.eye(n))
            spent = (np.trace(hat) + 3 * len(how.steps)) / n
            if spent >= 0.5:
                continue
            left = np.eye(n) - hat
            error = np.trace(left @ gram @ left.T) / n / (1 - spent) ** 2
            if best is None or error < best.error * (1 - 1e-12):
                best = Ridge(left, error, width, penalty)
    return best


@dataclasses.dataclass
class How:
    """How a variable is regressed on z: metric, sum or products, steps, whether it is rough."""

    turn: np.ndarray
    form: str = "metric"
    steps: tuple = ()
    rough: bool = True
    misses: bool = False

    def widths(self, d):
        """Those always tried, and those tried if one of the last two of these is best."""
        if self.form == "products":
            return (1.0,), ()
        always = (2.0, 1.0, 0.5, 0.25, 0.06) if d == 1 else (2.0, 1.0, 0.5, 0.125)
        narrow = (0.125, 0.03) if d == 1 else (0.25, 0.06) if self.form == "sum" else (0.25,)
        return (always, narrow) if self.rough else (always[:-1], ())

    def fit(self, z, gram):
        """Steps or none, whichever has the lower error."""
        options = [dataclasses.replace(self, steps=()), self] if self.steps else [self]
        return min((ridge(z @ self.turn, gram, one) for one in options), key=lambda r: r.error)


# Steps --------------------------------------------------------------------------------------------


def features_of(values):
    """Ten features at a bandwidth of one median distance."""
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    width = median_distance(standard)
    chosen = landmarks(standard, width, 10, 1e-4)
    inside = gaussian(standard[chosen], standard[chosen], width)
    beside = gaussian(standard, standard[chosen], width)
    return standard, beside @ np.linalg.inv(np.linalg.cholesky(inside)).T


def principal(features):
    left, sizes, _ = np.linalg.svd(features - features.mean(axis=0), full_matrices=False)
    return left[:, :3][:, sizes[:3] > 1e-6 * sizes[0]]


def learn(z, values):
    """All that is learned of one variable: its metric, and how it is regressed."""
    d = z.shape[1]
    how = How(np.eye(d))
    if d > 1:
        turn, form = learn_metric(z, values)
        how = How(turn if form == "metric" else np.eye(d), form)
    columns, features = features_of(values)
    targets = principal(features)
    directions = np.eye(d)
    if d > 1:
        directions = np.hstack([directions, np.linalg.svd(turn)[0][:, :2]])
    elif all(shared(z, v, dataclasses.replace(how, rough=False)) <= 1 for v in (columns, targets)):
        return np.eye(1), How(np.eye(1), rough=False)
    sets = []
    for width in (1.0,) if how.form == "products" else (2.0, 0.5):
        explained = smooth_part(z, targets, how, width)
        sets.append(find_steps(z @ directions, targets, explained))
    explained = smooth_part(z, targets, how, 1.0 if how.form == "products" else 2.0)
    sets += [all_at_once(z @ directions, targets, explained, line) for line in (False, True)]
    options = [how, *(dataclasses.replace(how, steps=tuple(steps)) for steps in sets if steps)]
    alone = [columns, *targets.T[:, :, None]]
    best = min(options, key=lambda one: sum(np.log(one.fit(z, v @ v.T).error) for v in alone))
    smoother = dataclasses.replace(best, rough=False)
    best.rough = any(
        best.fit(z, v @ v.T).error < 0.995 * smoother.fit(z, v @ v.T).error
        for v in (columns, targets)
    )
    best.misses = d == 1 and shared(z, columns, best) > 2
    return turn if d > 1 else np.eye(1), best


def smooth_part(z, targets, how, width):
    """Directions of a smooth regression that its penalty leaves at least half of."""
    fit = ridge(z @ how.turn, targets @ targets.T, how, (width,))
    shares, vectors = np.linalg.eigh(np.eye(len(z)) - fit.left)
    return vectors[:, shares >= 0.5]


def shared(z, targets, how):
    """Eq. 9b, in standard deviations."""
    fit = how.fit(z, targets @ targets.T)
    return share_along(z[:, 0], fit.left @ targets, np.trace(np.eye(len(z)) - fit.left))


def share_along(line, residuals, spent):
    along = residuals[np.argsort(line)]
    n, q = along.shape
    products = [sum(e[i] * e[i + 1] for i in range(n - 1)) / (e @ e) for e in along.T]
    return (np.mean(products) + spent / n) * (q * n) ** 0.5


def all_at_once(along, targets, explained, straight):
    """Eq. 9c: cuts of every direction along which neighbours share what is not explained."""
    rest = targets - explained @ (explained.T @ targets)
    steps = [
        (line <= threshold).astype(float)
        for line in along.T
        if share_along(line, rest, explained.shape[1]) > 2
        for threshold in cuts(line, rest, straight)
    ]
    base, some = explained, []
    for step in steps:
        beside = step - projection(base) @ step
        if beside @ beside > 2:
            some.append(step)
            base = np.column_stack([base, step])
    tried = sum(len(thresholds(line)) for line in along.T)
    rest = targets - projection(base) @ targets
    noise = (rest**2).sum(axis=0) / (len(along) - explained.shape[1] - len(some))
    return worth_keeping(some, explained, targets, noise, tried)


def cuts(line, values, straight):
    """Thresholds of the cheapest segments, by going through all starts of the last one."""
    order = np.argsort(line)
    z, t = line[order], values[order]
    noise = ((t[2:] - 2 * t[1:-1] + t[:-2]) ** 2).mean(axis=0) / 6
    t = t / np.sqrt(noise)
    n, q = t.shape
    price = (1 + q * (2 if straight else 1)) * np.log(n)
    best = {0: (0.0, ())}
    for end in range(5, n + 1):
        if end < n and z[end] == z[end - 1]:
            continue
        options = []
        for start, (cost, before) in best.items():
            if end - start >= 5:
                part = [np.ones(end - start)] + ([z[start:end]] if straight else [])
                rest = t[start:end] - projection(np.column_stack(part)) @ t[start:end]
                options.append((cost + (rest**2).sum() + price, (*before, start)))
        if options:
            best[end] = min(options)
    return [(z[cut - 1] + z[cut]) / 2 for cut in best[n][1] if cut > 0]


def thresholds(line):
    """Places between different values, with five samples on either side."""
    values = np.sort(line)
    return [k for k in range(5, len(values) - 4) if values[k] != values[k - 1]]


def find_steps(along, targets, explained):
    """Eq. 9a: steps of the largest gain, without those that have become superfluous."""
    n, d = along.shape
    smooth, freedom = explained @ explained.T, n - explained.shape[1]
    hat, steps, regions = smooth, [], [((), np.ones(n, bool))]
    tried = 0
    while len(steps) < min(40, n // 20):
        left = np.eye(n) - hat
        noise = ((left @ targets) ** 2).sum(axis=0) / freedom
        residuals = left @ targets / np.sqrt(noise)
        best, tried = (0.0,), 0
        for place, (_, inside) in enumerate(regions):
            for column in range(d):
                values = np.sort(along[inside, column])
                for count in range(5, len(values) - 4):
                    if values[count] == values[count - 1]:
                        continue
                    tried += 1
                    threshold = (values[count - 1] + values[count]) / 2
                    step = (inside & (along[:, column] <= threshold)).astype(float)
                    length = step @ left @ step
                    gain = ((step @ residuals) ** 2).sum() / length if length > 2 else 0.0
                    if gain > best[0] * (1 + 1e-12):
                        best = gain, place, column, threshold, step
        if not significant(best[0], tried, targets.shape[1]):
            break
        _, place, column, threshold, step = best
        steps.append(step)
        hat = hat + np.outer(left @ step, left @ step) / (step @ left @ step)
        freedom -= 1
        depth, inside = regions[place]
        if d > 1 and len(depth) + 1 < 4:
            below = inside & (along[:, column] <= threshold)
            for part in (below, inside & ~below):
                if part.sum() >= 10:
                    regions.append(((*depth, column), part))
    left = np.eye(n) - hat
    noise = ((left @ targets) ** 2).sum(axis=0) / freedom
    # Places inside parts count as tried.
    tried = sum(len(thresholds(line[inside])) for _, inside in regions for line in along.T)
    return worth_keeping(steps, explained, targets, noise, tried)


def worth_keeping(steps, explained, targets, noise, tried):
    """Drop steps that the others have made superfluous, the least of them first."""
    start = (targets - explained @ (explained.T @ targets)) / np.sqrt(noise)
    kept = list(steps)
    while kept:
        gains = []
        for one in range(len(kept)):
            others = [step for k, step in enumerate(kept) if k != one]
            base = np.column_stack([explained, *others])
            beside = kept[one] - projection(base) @ kept[one]
            beside /= np.linalg.norm(beside)
            rest = start - projection(base) @ start  # without this step
            variances = np.maximum(beside**2 @ rest**2, 1)
            gains.append(((beside @ start) ** 2 / variances).sum())
        least = int(np.argmin(gains))
        if significant(gains[least], tried, targets.shape[1]):
            break
        del kept[least]
    return kept


def significant(gain, tried, q):
    return tried * scipy.stats.chi2.sf(gain, q) <= 0.01


def slopes(z, targets, fit):
    """Gradients of the fitted functions by differences: a fit at moved points (n, d, q)."""
    n, d = z.shape
    mean = z.mean(axis=0)
    typical, centred = median_distance(z - mean), z - mean
    width = fit.width * typical
    chosen = landmarks(centred, width, 128, 1e-6)
    inverse = np.linalg.inv(gaussian(centred[chosen], centred[chosen], width))
    line = np.column_stack([np.ones(n), centred])
    beside = gaussian(centred, centred[chosen], width)
    # f(z) = line(z) b + kappa(z, landmarks) a, a' K a penalised: the normal equations.
    both = np.hstack([line, beside])
    penalty = np.zeros((both.shape[1],) * 2)
    penalty[d + 1 :, d + 1 :] = fit.penalty * np.linalg.inv(inverse)
    weights = np.linalg.lstsq(both.T @ both + penalty, both.T @ targets, rcond=1e-15)[0]

    def predicted(points):
        values = gaussian(points, centred[chosen], width)
        return np.hstack([np.ones((len(points), 1)), points, values]) @ weights

    step = 1e-4
    return np.stack(
        [
            (predicted(centred + step * unit) - predicted(centred - step * unit)) / (2 * step)
            for unit in np.eye(d)
        ],
        axis=1,
    )


def root(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return vectors @ np.diag(np.sqrt(np.maximum(values, 0))) @ vectors.T


def normalised(turn):
    return turn * np.sqrt(len(turn) / (turn**2).sum())


def learn_metric(z, values):
    """Eq. 10: the metric for one variable, and the form (eqs. 11, 11a) that does best."""
    targets = np.column_stack(features_of(values))
    turn, best, least = np.eye(z.shape[1]), None, np.inf
    for iteration in range(3):
        fit = How(turn).fit(z, targets @ targets.T)
        if fit.error < least:
            best, least = turn, fit.error
        if iteration < 2:
            gradients = slopes(z @ turn, targets, fit)
            outer = np.einsum("nak,nbk->ab", gradients, gradients)
            mixed = 0.95 * outer * len(turn) / np.trace(outer) + 0.05 * np.eye(len(turn))
            turn = normalised(turn @ root(mixed))
    errors = {"metric": least}
    for form in ("sum", "products") if z.shape[1] > 3 else ("sum",):
        errors[form] = How(np.eye(len(turn)), form).fit(z, targets @ targets.T).error
    return best, min(errors, key=errors.get)


def join_metrics(first, second):
    """Eq. 12."""
    return normalised(root(first @ first.T + second @ second.T))


# One variable, less what z explains ---------------------------------------------------------------


@dataclasses.dataclass
class Residual:
    """Gram matrix of the residual features at one bandwidth, and what the null needs of them."""

    gram: np.ndarray  # of u
    alone: np.ndarray  # of u~
    share: np.ndarray  # a
    square: np.ndarray  # A = R R'


def residuals_unadjusted(kernel, lap):
    """Eqs. 16 and 20, without a regression."""
    n = len(kernel)
    centring = np.eye(n) - np.ones((n, n)) / n
    partners = np.diag(lap)
    to_partners = lap / partners[:, None]
    alone = to_partners @ kernel @ to_partners.T
    return Residual(centring @ kernel @ centring, alone, 1 + 1 / partners, np.eye(n))


def residuals_in_strata(kernel, strata):
    """Eqs. 16 and 20, each stratum less its mean."""
    n = len(kernel)
    same = (strata[:, None] == strata).astype(float)
    sizes = same.sum(axis=1)
    means = same / sizes[:, None]
    left = np.eye(n) - means
    gram = left @ kernel @ left.T
    return Residual(gram, gram, 1 - 1 / sizes, np.eye(n))


def weighted_laplacian(pairs, weights):
    """Eqs. 2 and 55, the first form."""
    n = len(weights)
    lap = np.zeros((n, n))
    for i, j in pairs:
        lap[i, j] = lap[j, i] = -weights[i] * weights[j]
    return lap - np.diag(lap.sum(axis=1))


def residuals_in_weighted_strata(kernel, strata, weights):
    """Eq. 57, each stratum less its weighted mean."""
    n = len(kernel)
    same = (strata[:, None] == strata).astype(float)
    left = np.eye(n) - same * weights / (same @ weights)[:, None]
    gram = left @ kernel @ left.T
    return Residual(gram, gram, (left**2).sum(axis=1), np.eye(n))


def residuals_unadjusted_with_weights(kernel, lap):
    """Eqs. 16 and 20, the last case, with the Laplacian of eq. 55."""
    to_partners = lap / np.diag(lap)[:, None]
    alone = to_partners @ kernel @ to_partners.T
    share = (to_partners**2).sum(axis=1)
    return Residual(kernel, alone, share, np.eye(len(kernel)))


def residuals_ridge(kernel, z, how):
    """Eqs. 16 and 20, after a ridge regression."""
    fit = how.fit(z, kernel)
    gram = fit.left @ kernel @ fit.left.T
    return Residual(gram, gram, fit.share, fit.square)


# Statistic, centre and null -----------------------------------------------------------------------


@dataclasses.dataclass
class Compared:
    """Eqs. 17 to 27 at one bandwidth."""

    observed: np.ndarray  # G, units x units
    null: np.ndarray  # H with its diagonal
    centre: np.ndarray  # of each unit

    @property
    def estimate(self):
        return self.observed.sum() - self.centre.sum()


def compare(x, y, lap, units):
    """Sum over samples and pairs, one at a time."""
    n, m = len(lap), len(units)
    # Eqs. 17 and 18: C_b = U' M_b V.
    inside = [np.diag(np.isin(np.arange(n), unit).astype(float)) for unit in units]
    parts = [(e @ lap + lap @ e) / 2 for e in inside]
    observed = np.array([[np.trace(a @ x.gram @ b @ y.gram) for b in parts] for a in parts])
    partners = np.diag(lap)
    row_squares = [sum(lap[i, j] ** 2 for j in range(n)) for i in range(n)]
    length_x, length_y = np.diag(x.alone) / x.share, np.diag(y.alone) / y.share
    # Eqs. 22 and 23.
    spread = 1.0
    for one, lengths in ((x, length_x), (y, length_y)):
        over_pairs = sum(
            -lap[i, j] * (one.gram[i, i] + one.gram[j, j] - 2 * one.gram[i, j])
            for i in range(n)
            for j in range(i)
        )
        fit = np.trace(lap @ one.square) / np.trace(lap)
        spread *= over_pairs / fit / sum(partners[i] * lengths[i] for i in range(n))
    spread *= np.trace(lap @ x.square @ lap @ y.square) / np.trace(lap @ lap)
    # Eq. 26.
    own = sum(partners[i] * length_x[i] * length_y[i] for i in range(n))
    of_partners = sum(
        -lap[i, j] * length_x[i] * length_y[j] for i in range(n) for j in range(n) if i != j
    )
    wider = max(1.0, of_partners / own)
    # Eqs. 24, 25 and 27.
    weights = [row_squares[i] / (x.share[i] * y.share[i]) for i in range(n)]
    centre = [
        spread * sum(weights[i] * x.alone[i, i] * y.alone[i, i] for i in unit) for unit in units
    ]
    null = np.zeros((m, m))
    for a, b in itertools.product(range(m), range(m)):
        null[a, b] = sum(
            np.sqrt(weights[i] * weights[j]) * x.alone[i, j] * y.alone[i, j]
            for i in units[a]
            for j in units[b]
        )
    return Compared(observed, wider * spread * null, np.array(centre))


def weighted(compared, kernel, units, centre_left=1.0, rows=None):
    """Eqs. 28 and 30; with weights of rows, of which there are none by default, eq. 58."""
    rows = np.ones(sum(map(len, units))) if rows is None else rows
    sizes = [sum(rows[i] ** 2 for i in unit) for unit in units]
    m = len(units)
    every = sum(kernel[a, b] ** 2 * sizes[a] * sizes[b] for a in range(m) for b in range(m)) - sum(
        w**4 for w in rows
    )
    between = sum(
        kernel[a, b] ** 2 * sizes[a] * sizes[b] for a in range(m) for b in range(m) if a != b
    )
    return Compared(
        compared.observed * kernel,
        compared.null * kernel * np.sqrt(every / between),
        compared.centre * centre_left,
    )


def kernel_between_units(z, units, width):
    """Eq. 28."""
    centres = np.array([z[unit].mean(axis=0) for unit in units])
    return gaussian(centres, centres, width * median_distance(z))


def centre_left(lap, units, kernel):
    """Eq. 29, over all pairs."""
    n = len(lap)
    of_unit = {i: b for b, unit in enumerate(units) for i in unit}
    lost = sum(
        1 - kernel[of_unit[i], of_unit[j]] for i in range(n) for j in range(i) if lap[i, j] != 0
    )
    return 1 - lost / np.trace(lap @ lap)


def interactions(z):
    """Section 8: the kernel of centred features of z, of mean 1 on the diagonal."""
    n = len(z)
    centring = np.eye(n) - np.ones((n, n)) / n
    kernel = centring @ gaussian(z, z, 2 * median_distance(z)) @ centring
    return kernel * n / np.trace(kernel)


def times_features_of_z(compared, lap, kernel):
    """Eqs. 30a and 30b, for units of one sample each."""
    n = len(lap)
    lost = sum(
        (kernel[i, i] + kernel[j, j] - 2 * kernel[i, j]) / 2
        for i in range(n)
        for j in range(i)
        if lap[i, j] != 0
    )
    row_squares = [sum(lap[i, j] ** 2 for j in range(n)) for i in range(n)]
    ends = sum(lap[i, i] * kernel[i, i] for i in range(n)) / np.trace(lap)  # mean over pairs
    share = 1 - lost / (ends * sum(row_squares))
    return Compared(
        compared.observed * kernel,
        compared.null * kernel,
        compared.centre * np.diag(kernel) * share,
    )


# p-values -----------------------------------------------------------------------------------------


def hollow(gram):
    return gram - np.diag(np.diag(gram))


def under_all_signs(gram):
    """Eq. 31 for all signs of the units up to their opposite."""
    h = hollow(gram)
    every = itertools.product([1.0, -1.0], repeat=len(h) - 1)
    return np.array([np.array([1.0, *s]) @ h @ np.array([1.0, *s]) for s in every])


def moments(gram):
    """Standard deviation and skewness by eq. 32."""
    h = hollow(gram)
    variance = 2 * (h**2).sum()
    return np.sqrt(variance), 8 * np.trace(h @ h @ h) / variance**1.5


def pearson3(value, gram):
    """Eq. 34."""
    deviation, skewness = moments(gram)
    return scipy.stats.pearson3.sf(value / deviation, skewness)


def score(values, gram):
    """Eq. 35: Wilson and Hilferty."""
    deviation, skewness = moments(gram)
    shape, sign = 4 / skewness**2, np.sign(skewness)
    ratio = np.maximum(1 + sign * values / deviation / np.sqrt(shape), 0)
    return sign * 3 * np.sqrt(shape) * (np.cbrt(ratio) - 1 + 1 / (9 * shape))


def exhaustive(members, weights=None):
    """Eqs. 33, 36 and 36a with all signs: joint p-value, those of members, and the winner."""
    # Units that no member has anything of, but for rounding, take no sign.
    sizes = [np.abs(hollow(member.null)) for member in members]
    active = np.any([(size > 1e-12 * size.max()).any(axis=1) for size in sizes], axis=0)
    drawn = [under_all_signs(member.null[np.ix_(active, active)]) for member in members]
    ties = [1e-6 * np.abs(values).max() for values in drawn]  # of single precision
    own = [
        (1 + sum(values >= member.estimate - tie)) / (1 + len(values))
        for member, values, tie in zip(members, drawn, ties, strict=True)
    ]
    scores = np.array(
        [score(values, member.null) for member, values in zip(members, drawn, strict=True)]
    )
    ours = np.array([float(score(member.estimate, member.null)) for member in members])
    if weights is not None:
        parts = np.log(np.array(weights) / np.mean(weights))
        scores = parts[:, None] - scipy.stats.norm.logsf(scores)
        ours = parts - scipy.stats.norm.logsf(ours)
    joint = (1 + sum(scores.max(axis=0) >= ours.max() - 1e-5)) / (1 + scores.shape[1])
    # Members of a variable of two values are exactly tied, but for rounding: the first one wins.
    winner = int(np.argmax(ours >= ours.max() - 1e-9 * (1 + abs(ours.max()))))
    return joint, own, winner


def smallest_by_units(null):
    """Eq. 39."""
    weights = np.diag(null)
    return min(1.0, 2 ** (1 - 2 * weights.sum() ** 2 / (weights**2).sum()))


def table_probability(strata, x, y):
    """Eq. 38, by going through the orders of y in every stratum."""
    probability = 1.0
    for stratum in set(strata):
        inside = [i for i, s in enumerate(strata) if s == stratum]
        table = sorted((x[i], y[i]) for i in inside)
        orders = list(itertools.permutations([y[i] for i in inside]))
        same = sum(
            sorted(zip((x[i] for i in inside), order, strict=True)) == table for order in orders
        )
        probability *= same / len(orders)
    return probability


# Coefficient and interval -------------------------------------------------------------------------


def estimate_without(compared, unit):
    """Eq. 41: delete the fold's row and column, and its part of the centre."""
    rest = [b for b in range(len(compared.centre)) if b != unit]
    return compared.observed[np.ix_(rest, rest)].sum() - compared.centre[rest].sum()


def coefficient(between, of_x, of_y):
    """Eq. 40."""
    return between.estimate / np.sqrt(of_x.estimate * of_y.estimate)


def jackknife(between, of_x, of_y):
    """Eq. 42."""
    m = len(between.centre)
    values = np.array(
        [
            estimate_without(between, b)
            / np.sqrt(estimate_without(of_x, b) * estimate_without(of_y, b))
            for b in range(m)
        ]
    )
    values = np.clip(values, -1, 1)
    return (m - 1) / m * ((values - values.mean()) ** 2).sum()


def interval(between, of_x, of_y, folds, level):
    """Eqs. 43 and 44, the ends searched for."""
    theta = coefficient(between, of_x, of_y)
    m = len(folds)
    plain = weighted(between, np.ones((m, m)), folds)
    b = moments(plain.null)[0] ** 2 / (of_x.estimate * of_y.estimate)
    a = max(jackknife(between, of_x, of_y) - b, 0) / max(theta, np.sqrt(b))
    q = scipy.stats.t.ppf((1 + level) / 2, m - 1) ** 2

    def too_far(t):
        return (theta - t) ** 2 - q * (a * t + b)

    far = 10.0
    low, high = (scipy.optimize.brentq(too_far, theta, theta + s * far) for s in (-1, 1))
    return max(low, -1), min(high, 1)


def profile(between):
    """Eq. 45, before it is divided by 4 K^2."""
    m = len(between.centre)
    return np.array([sum(between.observed[b]) - between.centre[b] for b in range(m)])
