"""The published forms of manipulator dynamics, what they cost, and what their documents report.

`forms` holds the forms, one a file; `counting` what an evaluation of one costs, measured and
printed; `studies` what ``ne_dynamics reproduce`` computes. Each imports only those before it.

Begin with ``forms/formulation.py`` and ``forms/luh_walker_paul.py``.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.papers.forms import FORMULATIONS, Formulation
    from ne_dynamics.papers.robots import Case
    from ne_dynamics.papers.studies.report import StudyReport

__all__ = [
    'FORMULATIONS',
    'Case',
    'Formulation',
    'StudyReport',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(__name__)
