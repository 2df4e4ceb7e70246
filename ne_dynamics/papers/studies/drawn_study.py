"""Studies by their names, with the pictures of those that have one."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ne_dynamics.papers.studies.report import StudyReport

DRAWN = {
    'concurrency': ('concurrency_picture', 'draw_speedups'),
    'six-link': ('six_link_picture', 'draw_ways'),
    'puma': ('pictures', 'draw_errors'),
}
"""Module and function of the pictures of studies that have one."""


def find_study(name: str) -> ModuleType:
    """Return the module of a study, or of a picture."""
    return importlib.import_module(f'ne_dynamics.papers.studies.{name.replace("-", "_")}')


def run_study(name: str, given: Mapping[str, Any], folder: Path | None) -> StudyReport:
    """Return the report of a study, given its parameters; its picture is drawn in a folder."""
    module = find_study(name)
    if name not in DRAWN or folder is None:
        report: StudyReport = module.study(**given)
        return report
    # Imported before the work: what is missing must not show up at the end.
    drawing, draw = DRAWN[name]
    pictures = find_study(drawing)
    report, shown = module.study(**given)
    path = folder / f'{name}.png'
    getattr(pictures, draw)(path, shown, *([given['n']] if name == 'concurrency' else []))
    report.pictures.append(path)
    return report
