"""What was measured, what was aimed at, and how it is written down: JSON, text, Markdown."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmark.timing import Ratio, Times
from ne_dynamics.errors import InputError
from ne_dynamics.tables import markdown_table, text_table

FORMAT = 1
"""Of the JSON; another number means that keys changed their meaning."""

BEGIN = '<!-- results{}: written by `make bench` -->\n'
END = '<!-- end of results{} -->\n'
"""Markers of a document; those of a run of one section alone have its name in them."""

SECTIONS = {
    'calls': 'Inverse dynamics, one checked call from Python',
    'matrices': 'Mass matrix and forward dynamics, one call',
    'derivatives': 'Partial derivatives of both dynamics, one call',
    'functions': 'Further functions, one call',
    'parameters': 'Inertias and friction as arguments, one call of the inverse dynamics',
    'batch': 'Inverse dynamics of many samples, per sample',
    'arrays': 'Inverse dynamics of many samples under JAX, per sample, and its compilation',
    'growth': 'Growth with the number of joints',
    'regressor': 'Regressor of chains, one call',
    'operations': 'Operations of the inverse dynamics',
    'load': 'From nothing to the first result',
    'memory': 'Peak memory of a fresh process',
    'sweep': 'A sweep: many robots, each used once and dropped, per robot',
    'node': 'The node: joint state in, command out, through DDS',
    'hold_up': 'What other messages hold up a joint state',
    'loaded_hop': 'The node while large trajectories come ten times a second',
}
"""Parts of the benchmark, in order, and their headings."""

_SCALES = {
    's': ((1.0, 's'), (1e-3, 'ms'), (1e-6, 'us'), (1e-9, 'ns')),
    'B': ((1e9, 'GB'), (1e6, 'MB'), (1e3, 'kB'), (1.0, 'B')),
}


@dataclass(frozen=True)
class Limit:
    """What a figure is aimed to stay within.

    Attributes
    ----------
    most : float
    of : str
        'ratio', or 'value': of ours.
    strict : bool
        Whether it has to be less than `most`; otherwise it may be equal.
    text : str
        As people write it; default: the number.
    """

    most: float
    of: str = 'ratio'
    strict: bool = False
    text: str = ''

    def is_met(self, value: float) -> bool:
        """Return whether a value stays within."""
        return value < self.most if self.strict else value <= self.most


@dataclass(frozen=True)
class Figure:
    """One thing that was measured, beside what it is compared with.

    Attributes
    ----------
    section : str
        Key of `SECTIONS`.
    subject : str
        Robot, or what else it was measured on.
    ours, theirs : str
        What was measured; `theirs` is '' when there is nothing to compare with.
    our_value, their_value : float
        In `unit`.
    unit : str
        's', 'B', 'operations', 'maps' or 'states'.
    quartiles : tuple of 2 float, optional
        Of the ratios, round by round.
    limit : Limit, optional
    """

    section: str
    subject: str
    ours: str
    our_value: float
    theirs: str = ''
    their_value: float | None = None
    unit: str = 's'
    quartiles: tuple[float, float] | None = None
    limit: Limit | None = None

    @classmethod
    def of_times(
        cls, section: str, subject: str, ours: Times, theirs: Times, limit: Limit | None = None
    ) -> Figure:
        """Return the figure of two contenders of one run."""
        ratio = ours.ratio_to(theirs)
        return cls.of_ratio(
            section, subject, (ours.name, ours.median), (theirs.name, theirs.median), ratio, limit
        )

    @classmethod
    def of_ratio(
        cls,
        section: str,
        subject: str,
        ours: tuple[str, float],
        theirs: tuple[str, float],
        ratio: Ratio,
        limit: Limit | None = None,
    ) -> Figure:
        """Return the figure of two named times [s] and what is known of their ratio."""
        return cls(
            section,
            subject,
            *ours,
            *theirs,
            quartiles=(ratio.low, ratio.high),
            limit=limit,
        )

    @property
    def ratio(self) -> float | None:
        """Ours over theirs; None when there is nothing to compare with."""
        return None if self.their_value is None else self.our_value / self.their_value

    @property
    def is_met(self) -> bool | None:
        """Whether the limit is kept; None where there is none."""
        if self.limit is None:
            return None
        value = self.ratio if self.limit.of == 'ratio' else self.our_value
        return value is not None and self.limit.is_met(value)

    def as_json(self) -> dict[str, Any]:
        """Return everything, ratio and verdict included, as JSON has it."""
        return {
            'ratio': self.ratio,
            **dataclasses.asdict(self),
            'quartiles': self.quartiles and list(self.quartiles),
            'met': self.is_met,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Figure:
        """Return the figure that :meth:`as_json` wrote."""
        values = {key.name: data[key.name] for key in dataclasses.fields(cls)}
        values['quartiles'] = values['quartiles'] and tuple(values['quartiles'])
        values['limit'] = values['limit'] and Limit(**values['limit'])
        return cls(**values)


@dataclass
class Report:
    """Everything of one run.

    Attributes
    ----------
    machine : mapping
        See :func:`~benchmark.machine.machine`; with the load averages before and after.
    settings : mapping
        How thoroughly it was measured.
    figures : list of Figure
    skipped : list of tuple of str
        What was left out, and why.
    """

    machine: Mapping[str, Any]
    settings: Mapping[str, Any]
    figures: list[Figure] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)

    @property
    def missed(self) -> list[Figure]:
        """Figures beyond their limit."""
        return [figure for figure in self.figures if figure.is_met is False]

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return {
            'format': FORMAT,
            'machine': dict(self.machine),
            'settings': dict(self.settings),
            'figures': [figure.as_json() for figure in self.figures],
            'skipped': [{'what': what, 'why': why} for what, why in self.skipped],
        }

    @classmethod
    def from_json(cls, data: Any) -> Report:
        """Return the report that :meth:`as_json` wrote.

        Raises
        ------
        InputError
            When it is not one.
        """
        try:
            if data['format'] != FORMAT:
                raise InputError(f'report: expected format {FORMAT}, got {data["format"]!r}')
            return cls(
                data['machine'],
                data['settings'],
                [Figure.from_json(figure) for figure in data['figures']],
                [(item['what'], item['why']) for item in data['skipped']],
            )
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f'report: expected the JSON of a benchmark, got {error!r}') from error


def significant(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits, never with an exponent."""
    if value == 0.0 or not math.isfinite(value):
        return f'{value:g}'
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, decimals)
    # Rounding may have added a digit in front: 9.996 becomes 10.0.
    decimals = digits - 1 - math.floor(math.log10(abs(rounded)))
    return f'{rounded:.{max(decimals, 0)}f}'


def amount(value: float | None, unit: str) -> str:
    """Return a value with its unit, in the multiple that suits its size; counts have none."""
    if value is None:
        return ''
    if unit not in _SCALES:
        return f'{value:g}'
    scales = _SCALES[unit]
    factor, name = next((scale for scale in scales if abs(value) >= scale[0]), scales[-1])
    return f'{significant(value / factor)} {name}'


def ratio_text(ratio: float, as_fraction: bool) -> str:
    """Return a ratio as a decimal number or as a fraction of 1."""
    return f'1/{significant(1.0 / ratio)}' if as_fraction else significant(ratio)


def _cells(figure: Figure) -> tuple[str, ...]:
    limit, ratio = figure.limit, figure.ratio
    as_fraction = ratio is not None and 0.0 < ratio < SMALL_RATIO
    bound = ''
    if limit is not None:
        unit = figure.unit if limit.of == 'value' else ''
        bound = limit.text or amount(limit.most, unit)
        if limit.strict:
            bound = f'below {bound}'
    spread = ''
    if figure.quartiles is not None:
        spread = ' to '.join(ratio_text(value, as_fraction) for value in figure.quartiles)
    return (
        '' if ratio is None else ratio_text(ratio, as_fraction),
        spread,
        bound,
        {None: '', True: 'met', False: 'MISSED'}[figure.is_met],
        figure.subject,
        f'{figure.ours}: {amount(figure.our_value, figure.unit)}',
        f'{figure.theirs}: {amount(figure.their_value, figure.unit)}' if figure.theirs else '',
    )


HEADINGS = ('ratio', 'quartiles', 'at most', '', 'what', 'ours', 'compared with')

SMALL_RATIO = 0.1
"""Ratios below are written as fractions of 1: 1/70 says more than 0.0143."""


def text(report: Report) -> str:
    """Return the report for a terminal."""
    lines = [*_introduction(report), '']
    for section, rows in _sections(report):
        table = text_table([], rows, is_text=True)
        lines += [SECTIONS[section], textwrap.indent(table, '  '), '']
    return '\n'.join([*lines, *_conclusion(report)])


def markdown(report: Report) -> str:
    """Return the report as Markdown."""
    lines = [*_introduction(report), '']
    for section, rows in _sections(report):
        lines += [f'### {SECTIONS[section]}', '', markdown_table(rows[0], rows[1:]), '']
    return '\n'.join([*lines, *_conclusion(report)]) + '\n'


def with_results(document: str, report: Report) -> str:
    """Return a Markdown document with the results between its markers written anew.

    Raises
    ------
    InputError
        When the document does not have both markers.
    """
    sections = {figure.section for figure in report.figures}
    begin, end = require_markers(document, sections)
    return _between(begin, end).sub(lambda match: f'{begin}\n{markdown(report)}\n{end}', document)


def require_markers(document: str, sections: Collection[str]) -> tuple[str, str]:
    """Return the markers between which the results of these sections stand.

    Those that name the section where it is the only one and the document has them, else those
    that name none.

    Raises
    ------
    InputError
        When a document does not have both.
    """
    named = [f' of {section}' for section in sections if len(sections) == 1]
    for name in (*named, ''):
        begin, end = BEGIN.format(name), END.format(name)
        if _between(begin, end).search(document):
            return begin, end
    raise InputError(f'document: expected the markers {begin!r} and {end!r}, got none')


def _between(begin: str, end: str) -> re.Pattern[str]:
    return re.compile(f'{re.escape(begin)}.*?{re.escape(end)}', re.DOTALL)


def loads(data: str) -> Report:
    """Return the report that was written as JSON text.

    Raises
    ------
    InputError
        When it is not one.
    """
    try:
        return Report.from_json(json.loads(data))
    except json.JSONDecodeError as error:
        raise InputError(f'report: expected JSON, got {error}') from error


def _sections(report: Report) -> Sequence[tuple[str, list[tuple[str, ...]]]]:
    """Return the rows of every section that has some, headings first, empty columns left out."""
    found = []
    for section in SECTIONS:
        rows = [_cells(figure) for figure in report.figures if figure.section == section]
        if rows:
            columns = [
                (heading, *column)
                for heading, column in zip(HEADINGS, zip(*rows, strict=True), strict=True)
                if any(column)
            ]
            found.append((section, list(zip(*columns, strict=True))))
    return found


def _introduction(report: Report) -> list[str]:
    machine, settings = report.machine, report.settings
    versions = ', '.join(
        f'{name} {version}' for name, version in machine['packages'].items() if version
    )
    memory = machine.get('memory_bytes')
    return [
        f'{machine["processor"]}, {machine["cores"]} cores'
        + (f', {machine["instructions"]}' if machine.get('instructions') else '')
        + (f', {amount(memory, "B")}' if memory else '')
        + f'; {machine["system"]}; {machine["python"]}; {versions}.',
        f'Load average before and after: {machine.get("load_before")}, '
        f'{machine.get("load_after")}. {settings["rounds"]} rounds'
        + (' (a quick run: not for quoting).' if settings['quick'] else '.'),
    ]


def _conclusion(report: Report) -> list[str]:
    judged = [figure for figure in report.figures if figure.limit is not None]
    lines = [f'{len(judged) - len(report.missed)} of {len(judged)} aims met.'] if judged else []
    lines += [f'Left out: {what}: {why}' for what, why in report.skipped]
    return lines
