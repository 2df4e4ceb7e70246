"""How Sphinx makes the site of these pages: `make docs`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from xml.etree import ElementTree

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

import ne_dynamics
from ne_dynamics.cli.main import COMMANDS, build_parser

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

project = 'ne_dynamics'
copyright = 'the ne_dynamics maintainers, Apache-2.0'
version = release = ne_dynamics.__version__

# Diagrams are shown as their text: what draws them would come from outside.
lexers['mermaid'] = TextLexer()

extensions = [
    'myst_parser',
    'numpydoc',
    'sphinx.ext.autodoc',
    'sphinx.ext.autosummary',
]
exclude_patterns = ['_build', '_static', '_templates']
templates_path = ['_templates']
source_suffix = {'.md': 'markdown', '.rst': 'restructuredtext'}

myst_heading_anchors = 3
myst_enable_extensions = ['colon_fence']

autosummary_generate = True
autodoc_typehints = 'none'
autodoc_member_order = 'groupwise'
numpydoc_show_class_members = False

html_theme = 'furo'
html_title = f'ne_dynamics {version}'
html_show_sourcelink = False
html_static_path = ['_static']
html_css_files = ['tables.css']
html_math_renderer = None  # no page has formulas: nothing comes from outside

REPOSITORY = next(
    url.text.removesuffix('.git') + '/blob/main/'
    for url in ElementTree.parse(ROOT / 'package.xml').iter('url')
    if url.get('type') == 'repository'
)


def write_commands() -> None:
    """Write the page of the command line: the whole help of every command."""
    parts = ['# Command line\n', '`ne_dynamics COMMAND`, by `--help-all`.\n']
    for name, command in COMMANDS.items():
        if not command.examples:
            continue
        (subparsers,) = (
            action
            for action in build_parser(name, shows_all=True)._actions
            if isinstance(action, argparse._SubParsersAction)
        )
        parser = subparsers.choices[name]
        text = parser.format_help().replace(str(Path.home()), '~')
        parts.append(f'## {name}\n\n{command.summary}\n\n```text\n{text}```\n')
    page = HERE / 'generated' / 'command_line.md'
    page.parent.mkdir(exist_ok=True)
    page.write_text('\n'.join(parts), encoding='utf-8')


def lead_into_repository(app: object, name: str, source: list[str]) -> None:
    """Let links to files beside the pages lead into the repository."""
    source[0] = re.sub(r'\]\(\.\./', f']({REPOSITORY}', source[0])


def setup(app: object) -> None:
    """Connect to Sphinx."""
    write_commands()
    app.connect('source-read', lead_into_repository)
