"""What logs tell of a load, or of the drives that carry it, for programs and for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.load.drive_gains import DriveGains, fit_drive_gains
from ne_dynamics.identification.load.payload import identify_payload, is_slow
from ne_dynamics.identification.load.payload_fit import fit_payload
from ne_dynamics.identification.load.payload_parameters import describe_payload, format_parameters
from ne_dynamics.logs.diagnosis import DiagnosedLogs


@dataclass(frozen=True, eq=False)
class LoadReport:
    """What was found of a load, and of the logs that tell it; nothing of those that are refused.

    Attributes
    ----------
    found : DiagnosedLogs
        Of a log with the load, and of one without it or none.
    estimate : mapping
        As data for JSON.
    text : sequence of str
        In lines.
    """

    found: DiagnosedLogs
    estimate: Mapping[str, Any] = field(default_factory=dict)
    text: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """Return both as data for JSON."""
        document: dict[str, Any] = {'without': None, 'diagnosis_without': None}
        for suffix, log, own in zip(
            ('', '_without'), self.found.logs, self.found.diagnoses, strict=False
        ):
            document |= {suffix[1:] or 'log': log.summary(), f'diagnosis{suffix}': own.as_json()}
        return {**document, **self.estimate}

    def lines(self) -> list[str]:
        """Return both in lines."""
        pairs = zip(self.found.logs, self.found.describe_each(), strict=True)
        named = [(f'{log.source}: {log.summary()}', *told) for log, told in pairs]
        return [*(line for lines in named for line in lines), *self.text]


def report_load(
    dynamics: Dynamics,
    found: DiagnosedLogs,
    *,
    mass: float | None = None,
    link_name: str = '',
    cutoff_frequency: float | None = None,
    spread: float | None = None,
) -> LoadReport:
    """Find a load, or the gains of the drives from one of known mass.

    Parameters
    ----------
    dynamics : Dynamics
        Of the arm without the load.
    found : DiagnosedLogs
        Of a log with the load, and of one without it or none.
    mass : float, optional
        Mass of the load [kg], for the gains of the drives.
    link_name : str
        Link fixed to the tip link whose frame describes the load; default: the tip link.
    cutoff_frequency, spread
        As for :func:`~ne_dynamics.identification.load.payload_fit.fit_payload`.
    """
    log, without = found.logs if len(found.logs) > 1 else (found.logs[0], None)
    options: dict[str, Any] = {
        'without': without,
        'cutoff_frequency': cutoff_frequency,
        'spread': spread,
    }
    if mass is not None:
        gains = fit_drive_gains(dynamics, log, mass, link_name, **options)
        return LoadReport(found, {'drive_gains': gains.as_json()}, describe_gains(gains, mass))
    if without is None and is_slow(dynamics, log):
        estimate = identify_payload(dynamics, log, link_name)
        return LoadReport(found, {'payload': estimate.as_json()}, [estimate.text])
    load = fit_payload(dynamics, log, link_name, **options)
    document = {'payload': load.as_json(), 'parameters': format_parameters(load)}
    return LoadReport(found, document, describe_payload(load))


def describe_gains(gains: DriveGains, mass: float) -> list[str]:
    """Return gains that a load of a known mass [kg] has told, in lines of text."""
    source = 'two logs' if gains.is_difference else 'one log, with what is believed of the arm'
    center = ', '.join(f'{value + 0.0:.3f}' for value in gains.center_of_mass)
    width = max(len(name) for name in gains.joints)
    lines = [
        f'by {mass:g} kg at ({center}) m of {gains.link_name!r}, from {source}',
        '',
        f'  {"":{width}}  {"effort per unit of the log":>27}  {"RMS left":>9}',
    ]
    for name, gain, deviation, is_told, left in zip(
        gains.joints, gains.gain, gains.deviation, gains.determined, gains.rms, strict=True
    ):
        value, told = f'{gain:.4g} +- {deviation:.2g}', '' if is_told else '  not told by the logs'
        lines.append(f'  {name:{width}}  {value:>27}  {left:9.3g}{told}')
    return lines
