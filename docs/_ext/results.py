"""The directive ``results``: a table made from a committed file of results when pages are built.

``{results} failures`` stands for what ``failures()`` of ``tables.py`` returns, in Markdown. Words
after the name are passed on.
"""

import tables
from docutils.nodes import table as table_node
from sphinx.util.docutils import SphinxDirective


class Results(SphinxDirective):
    """Put a table on a page written in Markdown."""

    required_arguments = 1
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self):
        """Return the nodes of the table."""
        for path in tables.FILES:  # a page is made again if one of them changes
            self.env.note_dependency(str(path))
        name, *words = self.arguments
        nodes = self.parse_text_to_nodes(getattr(tables, name)(*words))
        for node in nodes:
            for table in node.findall(table_node):
                table["classes"] += ["results", name]  # their numbers stay on one line
        return nodes


def setup(app):
    """Register the directive."""
    app.add_directive("results", Results)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
