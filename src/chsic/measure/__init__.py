"""HSIC and C-HSIC as numbers: engines, the two measures, the paper's equations and figure."""
