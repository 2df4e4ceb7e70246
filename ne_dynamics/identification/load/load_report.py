"""What logs tell of a load, or of the drives that carry it, for programs and for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.load.drive_gains import DriveGains, fit_drive_gains
from ne_dynamics.identification.load.payload import identify_payload, is_slow
from ne_dynamics.identification.load.payload_fit import fit_payload
from ne_dynamics.identification.load.payload_parameters import describe_payload, format_parameters
from ne_dynamics.logs import Log


def report_load(
    dynamics: Dynamics,
    logs: Sequence[Log],
    *,
    mass: float | None = None,
    link_name: str = '',
    cutoff_frequency: float | None = None,
    spread: float | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Find a load, or the gains of the drives from one of known mass.

    Parameters
    ----------
    dynamics : Dynamics
        Of the arm without the load.
    logs : sequence of Log
        One with the load, and one without it or none.
    mass : float, optional
        Of the load [kg], for the gains of the drives.
    link_name, cutoff_frequency, spread
        As for :func:`~ne_dynamics.identification.load.payload_fit.fit_payload`.

    Returns
    -------
    dict
        As data for JSON.
    list of str
        Lines of text.
    """
    log, without = logs if len(logs) > 1 else (logs[0], None)
    options: dict[str, Any] = {
        'without': without,
        'cutoff_frequency': cutoff_frequency,
        'spread': spread,
    }
    if mass is not None:
        gains = fit_drive_gains(dynamics, log, mass, link_name, **options)
        return {'drive_gains': gains.as_json()}, describe_gains(gains, mass)
    if without is None and is_slow(dynamics, log):
        estimate = identify_payload(dynamics, log, link_name)
        return {'payload': estimate.as_json()}, [estimate.text]
    load = fit_payload(dynamics, log, link_name, **options)
    document = {'payload': load.as_json(), 'parameters': format_parameters(load)}
    return document, describe_payload(load)


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
