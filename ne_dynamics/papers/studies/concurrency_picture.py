"""The picture of the schedules: steps and speed-up against processors, with their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ne_dynamics.papers.studies.concurrency import PROCESSORS, Curve
from ne_dynamics.picture_file import add_heading, make_panels, write_picture

COLOURS = ('#d1495b', '#e69f00', '#0072b2', '#222222')
MARKERS = ('s', '^', 'D', 'o')


def draw_speedups(path: Path, curves: Sequence[Curve], n: int) -> None:
    """Draw steps, and how many times as fast as one processor, against processors.

    Solid with a mark for each schedule; the bound dashed.
    """
    figure, (left, right) = make_panels((11.0, 5.0), 1, 2)
    for curve, colour, marker in zip(curves, COLOURS, MARKERS, strict=True):
        style: dict[str, Any] = {'color': colour, 'linewidth': 1.6}
        dashed: dict[str, Any] = {'color': colour, 'linewidth': 1.1, 'dashes': (3, 2)}
        marked = {'marker': marker, 'markersize': 4.5}
        left.plot(PROCESSORS, curve.steps, label=curve.label, **style, **marked)
        left.plot(PROCESSORS, curve.bounds, **dashed)
        work = curve.steps[0]
        right.plot(PROCESSORS, [work / steps for steps in curve.steps], **style, **marked)
        right.plot(PROCESSORS, [work / bound for bound in curve.bounds], **dashed)
    left.plot([], [], color='#777777', linewidth=1.1, dashes=(3, 2), label='what bounds it')
    last = max(PROCESSORS)
    right.plot([1, last], [1, last], color='#aaaaaa', linewidth=0.9, label='as many as processors')
    highest = max(curve.steps[0] / min(curve.bounds) for curve in curves)
    right.set_ylim(0.0, 1.1 * highest)
    right.legend(loc='lower right', frameon=False, fontsize=9)
    left.set_yscale('log')
    left.set_yticks([50, 100, 200, 500, 1000], labels=['50', '100', '200', '500', '1000'])
    left.minorticks_off()
    left.set_ylabel('steps, one operation a processor each')
    right.set_ylabel('times as fast as one processor')
    left.legend(loc='upper right', frameon=False, fontsize=9)
    for axes in (left, right):
        axes.set_xlabel('processors')
        axes.set_xlim(0.0, last + 1.0)
    heading = f'One inverse dynamics of a general arm of {n} joints on processors side by side'
    add_heading(figure, heading)
    write_picture(figure, path)
