"""What became of logs as the verdict and the sections of a page."""

from __future__ import annotations

import contextlib
import datetime
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from ne_dynamics import __version__, report_page
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError, NeDynamicsError
from ne_dynamics.identification.evaluation import evaluate
from ne_dynamics.identification.logs_evaluation import LogsEvaluation
from ne_dynamics.identification.report import sections
from ne_dynamics.identification.report.effort_spectra import compute_effort_spectra
from ne_dynamics.identification.report.text import LogsFit
from ne_dynamics.identification.report.words import format_number, format_part, rate_report
from ne_dynamics.identification.writing.model_files import extras_path, is_same_file
from ne_dynamics.logs import Log
from ne_dynamics.logs.diagnosis import DiagnosedLogs
from ne_dynamics.logs.parts import get_last, look
from ne_dynamics.logs.robot_logs import RobotLogs
from ne_dynamics.prepared_file import check_output, write_whole
from ne_dynamics.report_page import Column, Item, Page, Paragraph, Section, Table, Tone
from ne_dynamics.report_page.page import Items

SUFFIXES = ('.html', '.htm')

PACKAGES = ('numpy', 'matplotlib', 'jinja2')


class Found(NamedTuple):
    """The contents of a page: verdict, sections, and sections at the end."""

    verdict: Paragraph
    sections: tuple[Section, ...] = ()
    last: tuple[Section, ...] = ()

    def as_page(
        self, command: str, model: str, logs: Sequence[str], options: Mapping[str, Any]
    ) -> Page:
        """Return the page of a command on a model and logs, by their names, with its options."""
        now = datetime.datetime.now(datetime.timezone.utc)
        return Page(
            title=f'{command.capitalize()}: {Path(model).name}',
            subtitle=f'Model {model}; log {", ".join(logs)}',
            verdict=self.verdict,
            sections=(*self.sections, _describe_options(options), *self.last),
            footer=f'Written by ne_dynamics {__version__}, {now:%Y-%m-%d %H:%M} UTC.',
        )


@contextlib.contextmanager
def open_page(
    file: Path | None, command: str, model: str, logs: Sequence[str], options: Mapping[str, Any]
) -> Iterator[Callable[[Callable[[], Found]], None]]:
    """Yield what writes the page of a command, if there is a file, of what a function returns.

    A page that could not be written is refused before there is work in it. An error that ends
    the context is a page too, where there is none yet.
    """
    if file is not None:
        _check_file(file, [model, *logs], options.get('output'))
    pending = [] if file is None else [file]

    def write(show: Callable[[], Found]) -> None:
        if pending:
            page = show().as_page(command, model, logs, options)
            write_whole(pending.pop(), report_page.render_page(page))

    try:
        yield write
    except NeDynamicsError as error:
        verdict = Paragraph(f'Refused: {error}', Tone.ERROR)
        write(lambda: Found(verdict))
        raise


def _check_file(file: Path, read: Sequence[str], output: Any) -> None:
    if file.suffix.lower() not in SUFFIXES:
        raise InputError(
            f'{file}: the report: expected a name that ends in {" or ".join(SUFFIXES)}, got '
            f'{file.suffix or "none of them"}; a browser prints the page as PDF'
        )
    check_output(file)
    # A name that is still to be chosen is no file yet.
    written = [output, extras_path(output)] if isinstance(output, Path) else []
    for other in [*map(Path, read), *written]:
        if is_same_file(file, other):
            raise InputError(f'{file}: --report: expected a file of its own, got {other} again')


def show_identification(fit: LogsFit) -> Found:
    """Return the page of an identification."""
    from ne_dynamics.identification.report import figures

    result, diagnosed, shown = fit.result, fit.found, fit.shown
    report, robot = result.report, diagnosed.source.robot
    spectra = figures.show_spectra(shown.spectra, robot, report.cutoff_frequency)
    friction = figures.show_friction(result, shown, robot, fit.dynamics)
    read = _describe_source(diagnosed.source, report.logs)
    doubts = sum(fault.severity != 'info' for own in diagnosed.diagnoses for fault in own.faults)
    return Found(
        rate_report(report, doubts),
        (
            sections.describe_verdicts(result, shown),
            sections.describe_findings(report.findings, diagnosed.named),
            figures.show_efforts(result, shown, robot),
            figures.show_blocks(result, shown),
            Section('Friction', (*friction, sections.describe_friction_values(report))),
            sections.describe_base_parameters(report),
            sections.describe_links(report),
            Section('Spectra and low-pass', spectra),
            Section('What was used', (read, sections.describe_samples(result, shown))),
        ),
        (sections.describe_doubts(report),),
    )


def show_refusal(diagnosed: DiagnosedLogs, dynamics: Dynamics, cutoff: float | None) -> Found:
    """Return the page of logs that were refused; a given cut-off frequency is in Hz."""
    wrong = next(index for index, own in enumerate(diagnosed.diagnoses) if own.errors)
    part = look(diagnosed.source.logs[wrong])[-1]
    shown: tuple[Section, ...] = ()
    # A picture of what is refused, where it can be filtered at all.
    with contextlib.suppress(InputError):
        shown = _show_evaluation(dynamics, part, cutoff)
    read = _describe_source(diagnosed.source, [(part.source, part.summary())])
    return Found(
        Paragraph(
            f'Refused: {_name_wrong(diagnosed)}. Nothing was fitted or written; '
            f'{diagnosed.remedy}.',
            Tone.ERROR,
        ),
        (
            sections.describe_findings((), diagnosed.named),
            *shown,
            Section('What was read', (read,)),
        ),
    )


def show_evaluation(dynamics: Dynamics, evaluation: LogsEvaluation) -> Found:
    """Return the page of an evaluation of a model."""
    diagnosed, cutoff = evaluation.found, evaluation.logs.cutoff_frequency
    heads = ('measured', 'model', 'residual', 'residual / measured')
    rows = tuple(
        (
            joint.name,
            joint.unit,
            *map(format_number, (joint.rms_measured, joint.rms_model, joint.rms_difference)),
            format_part(joint.rms_difference, joint.rms_measured),
        )
        for joint in evaluation.joints
    )
    table = Table(
        'Root mean squares of the efforts.',
        (Column('joint'), Column('unit'), *(Column(head, True) for head in heads)),
        rows,
    )
    verdict = Paragraph('Evaluated: residual of the model, joint by joint.')
    if any(own.errors for own in diagnosed.diagnoses):
        repaired = ' It was repaired where that is certain.' if diagnosed.is_repaired else ''
        verdict = Paragraph(f'Evaluated, but {_name_wrong(diagnosed)}.{repaired}', Tone.ERROR)
    read = [(log.source, log.summary()) for log in diagnosed.logs]
    return Found(
        verdict,
        (
            Section('Joint by joint', (table,)),
            sections.describe_findings((), diagnosed.named),
            *_show_evaluation(dynamics, get_last(diagnosed.logs[-1], cutoff), cutoff),
            Section('What was read', (_describe_source(diagnosed.source, read),)),
        ),
    )


def _name_wrong(diagnosed: DiagnosedLogs) -> str:
    """Return which logs are wrong, and by what."""
    wrong = [
        (source, ', '.join(sorted({fault.code for fault in own.errors})))
        for source, own in diagnosed.named
        if own.errors
    ]
    if len(diagnosed.named) == 1:
        return f'the log is wrong ({wrong[0][1]})'
    return '; '.join(f'{source} is wrong ({codes})' for source, codes in wrong)


def _show_evaluation(dynamics: Dynamics, part: Log, cutoff: float | None) -> tuple[Section, ...]:
    from ne_dynamics.identification.report import figures

    result, robot = evaluate(dynamics, part, cutoff_frequency=cutoff), dynamics.robot
    cutoff = result.signals.cutoff_frequency
    spectra = compute_effort_spectra(part, cutoff)
    return (
        figures.show_evaluation(result, spectra, robot),
        Section('Spectra and low-pass', figures.show_spectra(spectra, robot, cutoff)),
    )


def _describe_source(source: RobotLogs, logs: Sequence[tuple[str, str]]) -> Items:
    items = [Item('log' if len(logs) == 1 else name, summary) for name, summary in logs]
    items += [
        Item(name, f'locked at {place:.4g}, since the log does not move it')
        for name, place in source.locked.items()
    ]
    return Items(tuple(items))


def _describe_options(options: Mapping[str, Any]) -> Section:
    """Return the options that say something, and the versions of the packages."""
    rows = []
    for name, value in sorted(options.items()):
        if value not in (None, False, [], ''):
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
    columns = Column('option or package'), Column('value')
    table = Table('As given or by default.', columns, tuple(rows))
    return Section('Options and versions', (table,))
