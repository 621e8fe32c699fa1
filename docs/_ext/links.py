"""Pages link to files of the repository, for those who read them there; the site has pages."""

PAGES = {
    "../benchmarks/results/calibration/table.md": "results/level-and-power.md",
    "../benchmarks/results/measures/measures.md": "results/measures.md",
}


def to_pages(app, name, source):
    """Link to the page instead of the file."""
    for path, page in PAGES.items():
        source[0] = source[0].replace(f"({path})", f"({page})")


def setup(app):
    """Look at every page as it is read."""
    app.connect("source-read", to_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
