"""Doctests in Markdown need an empty line before their fence, which readers do not."""

from docutils import nodes


def strip(app, doctree):
    """Take empty lines off the end of blocks of code."""
    for block in doctree.findall(nodes.literal_block):
        code = block.astext().rstrip()
        block.rawsource = code
        block.children = [nodes.Text(code)]


def setup(app):
    """Look at every page once it is read."""
    app.connect("doctree-read", strip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
