"""The option ``--report`` of ``identify`` and ``evaluate``: all of it as one HTML page."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import platform
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from ne_dynamics import __version__
from ne_dynamics.cli.options.log_set_source import DiagnosedLogs, LogSetSource
from ne_dynamics.cli.options.output_file import check_output
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError, NeDynamicsError
from ne_dynamics.identification import Evaluation, FilteredLogs, JointResidual, evaluate
from ne_dynamics.identification.fit_evidence import ShownLog
from ne_dynamics.identification.report import sections as report_sections
from ne_dynamics.identification.report.effort_spectra import compute_effort_spectra
from ne_dynamics.identification.report.report import Identified
from ne_dynamics.identification.report.words import format_number, format_part, rate_report
from ne_dynamics.identification.writing.model_files import extras_path, is_same_file
from ne_dynamics.logs import Log
from ne_dynamics.logs.parts import get_last, look
from ne_dynamics.model.robot import Robot
from ne_dynamics.prepared_file import write_whole
from ne_dynamics.report_page import Column, Item, Page, Paragraph, Section, Table, Tone
from ne_dynamics.report_page.page import Block, Items

NOT_OPTIONS = frozenset({'command', 'first', 'settle', 'model', 'log', 'json', 'report'})
"""Attributes of the arguments that are said elsewhere, or are none."""

SUFFIXES = ('.html', '.htm')

PACKAGES = ('numpy', 'matplotlib', 'jinja2')


def require_report(args: argparse.Namespace) -> None:
    """Refuse a report that could not be written, before there is work in it."""
    path = args.report
    if path is None:
        return
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f'{path}: the report: expected a name that ends in {" or ".join(SUFFIXES)}, got '
            f'{path.suffix or "none of them"}; a browser prints the page as PDF'
        )
    check_output(path)
    output = getattr(args, 'output', None)
    others = [args.model, *args.log]
    others += [] if output is None else [output, extras_path(output)]
    for other in map(Path, others):
        if is_same_file(path, other):
            raise InputError(f'{path}: --report: expected a file of its own, got {other} again')


@contextlib.contextmanager
def report_errors(args: argparse.Namespace) -> Iterator[None]:
    """Write a page that says why there is no result when an error ends the command."""
    require_report(args)
    try:
        yield
    except NeDynamicsError as error:
        if args.report is not None:
            verdict = Paragraph(f'Refused: {error}', Tone.ERROR)
            _write(args, verdict, (_describe_options(args),))
        raise


def write_identified(
    args: argparse.Namespace,
    source: LogSetSource,
    found: DiagnosedLogs,
    dynamics: Dynamics,
    result: Identified,
    shown: ShownLog,
) -> None:
    """Write the report of an identification, where one was asked for; of the given robot."""
    if args.report is None:
        return
    from ne_dynamics.identification.report import figures as report_figures

    report, robot = result.report, source.robot
    spectra = report_figures.show_spectra(shown.spectra, robot, report.cutoff_frequency)
    friction = report_figures.show_friction(result, shown, robot, dynamics)
    sections = (
        report_sections.describe_verdicts(result, shown),
        report_sections.describe_findings(report.findings, found.named),
        report_figures.show_efforts(result, shown, robot),
        report_figures.show_blocks(result, shown),
        Section('Friction', (*friction, report_sections.describe_friction_values(report))),
        report_sections.describe_base_parameters(report),
        report_sections.describe_links(report),
        Section('Spectra and low-pass', spectra),
        Section(
            'What was used',
            (
                *_describe_source(source, report.logs),
                report_sections.describe_samples(result, shown),
            ),
        ),
        _describe_options(args),
        report_sections.describe_doubts(report),
    )
    doubts = sum(
        fault.severity != 'info' for _, diagnosis in found.named for fault in diagnosis.faults
    )
    _write(args, rate_report(report, doubts), sections)


def write_refused(
    args: argparse.Namespace, source: LogSetSource, found: DiagnosedLogs, dynamics: Dynamics
) -> None:
    """Write why logs were refused, where a report was asked for."""
    if args.report is None:
        return
    verdict = Paragraph(
        f'Refused: {_name_wrong(found)}. Nothing was fitted or written; {found.remedy}.',
        Tone.ERROR,
    )
    sections = [report_sections.describe_findings((), found.named)]
    wrong = next(index for index, (_, diagnosis) in enumerate(found.named) if diagnosis.errors)
    part = look(source.logs[wrong])[-1]
    # A picture of what is refused, where it can be filtered at all.
    with contextlib.suppress(InputError):
        result = evaluate(dynamics, part, cutoff_frequency=args.cutoff)
        sections += _show_evaluation(source.robot, part, result)
    read = _describe_source(source, [(part.source, part.summary())])
    sections += [Section('What was read', read), _describe_options(args)]
    _write(args, verdict, tuple(sections))


def write_evaluated(
    args: argparse.Namespace,
    source: LogSetSource,
    found: DiagnosedLogs,
    dynamics: Dynamics,
    logs: FilteredLogs,
    joints: Sequence[JointResidual],
) -> None:
    """Write the report of an evaluation, where one was asked for; `joints`: of all logs."""
    if args.report is None:
        return
    heads = ('measured', 'model', 'residual', 'residual / measured')
    table = Table(
        'Root mean squares of the efforts.',
        (Column('joint'), Column('unit'), *(Column(head, True) for head in heads)),
        tuple(
            (
                joint.name,
                joint.unit,
                *map(format_number, (joint.rms_measured, joint.rms_model, joint.rms_difference)),
                format_part(joint.rms_difference, joint.rms_measured),
            )
            for joint in joints
        ),
    )
    if any(diagnosis.errors for _, diagnosis in found.named):
        repaired = ' It was repaired where that is certain.' if args.repair else ''
        verdict = Paragraph(f'Evaluated, but {_name_wrong(found)}.{repaired}', Tone.ERROR)
    else:
        verdict = Paragraph('Evaluated: residual of the model, joint by joint.')
    part = get_last(found.logs[-1], logs.cutoff_frequency)
    result = evaluate(dynamics, part, cutoff_frequency=logs.cutoff_frequency)
    told = [(log.source, log.text) for log in logs.logs]
    sections = (
        Section('Joint by joint', (table,)),
        report_sections.describe_findings((), found.named),
        *_show_evaluation(source.robot, part, result),
        Section('What was read', _describe_source(source, told)),
        _describe_options(args),
    )
    _write(args, verdict, sections)


def _name_wrong(found: DiagnosedLogs) -> str:
    """Return which logs are wrong, and by what."""
    wrong = [
        (source, ', '.join(sorted({fault.code for fault in diagnosis.errors})))
        for source, diagnosis in found.named
        if diagnosis.errors
    ]
    if len(found.named) == 1:
        return f'the log is wrong ({wrong[0][1]})'
    return '; '.join(f'{source} is wrong ({codes})' for source, codes in wrong)


def _show_evaluation(robot: Robot, part: Log, result: Evaluation) -> list[Section]:
    from ne_dynamics.identification.report.figures import show_evaluation, show_spectra

    cutoff = result.signals.cutoff_frequency
    spectra = compute_effort_spectra(part, cutoff)
    return [
        show_evaluation(result, spectra, robot),
        Section('Spectra and low-pass', show_spectra(spectra, robot, cutoff)),
    ]


def _describe_source(source: LogSetSource, logs: Sequence[tuple[str, str]]) -> tuple[Block, ...]:
    items = [Item('log' if len(logs) == 1 else name, summary) for name, summary in logs]
    items += [
        Item(name, f'locked at {place:.4g}, since the log does not move it')
        for name, place in source.locked.items()
    ]
    return (Items(tuple(items)),)


def _describe_options(args: argparse.Namespace) -> Section:
    rows = []
    for name, value in sorted(vars(args).items()):
        if name not in NOT_OPTIONS and value not in (None, False, [], ''):
            parts = value if isinstance(value, list | tuple) else [value]
            text = ' '.join(
                '='.join(map(str, part)) if isinstance(part, tuple) else str(part)
                for part in parts
            )
            rows.append((f'--{name.replace("_", "-")}', text))
    rows += [('ne_dynamics', __version__), ('Python', platform.python_version())]
    for name in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            rows.append((name, metadata.version(name)))
    table = Table(
        'As given or by default.', (Column('option or package'), Column('value')), tuple(rows)
    )
    return Section('Options and versions', (table,))


def _write(args: argparse.Namespace, verdict: Paragraph, sections: tuple[Section, ...]) -> None:
    from ne_dynamics.report_page import render_page

    now = datetime.datetime.now(datetime.timezone.utc)
    page = Page(
        title=f'{args.command.capitalize()}: {Path(args.model).name}',
        subtitle=f'Model {args.model}; log {", ".join(args.log)}',
        verdict=verdict,
        sections=sections,
        footer=f'Written by ne_dynamics {__version__}, {now:%Y-%m-%d %H:%M} UTC.',
    )
    write_whole(args.report, render_page(page))
