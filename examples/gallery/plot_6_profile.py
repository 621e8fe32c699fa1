"""
Where along z does the dependence sit?
======================================

A p-value says that there is something. The profile says where: what each group of samples with
similar z adds to the estimate. Here x and y are related only in a tenth of the samples, just above
the median of z.
"""

from matplotlib.figure import Figure

import chsic

x, y, z = chsic.datasets.draw_scenario("local", 2000, rng=0)
result = chsic.chsic_test(x, y, z, rng=0)
print(result)

# %%

figure = Figure(figsize=(9, 4), layout="constrained")
ax = result.plot("profile", ax=figure.subplots())

# %%
# Contributions scatter around zero where nothing is related, and add up to the estimate.
