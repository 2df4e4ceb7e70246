"""Vibrations: a joint that swings at a frequency at which it was not sent anywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.commission.record import Record
from ne_dynamics.logs import Finding
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True)
class VibrationSettings:
    """When a joint is said to vibrate.

    Attributes
    ----------
    seconds : float
        Of the end of a record, which are looked at [s].
    fewest : int
        Samples of them, at least.
    slowest : float
        Lowest frequency [Hz].
    width : float
        To either side of a frequency that counts as the same [Hz].
    share : float
        Part of the power of its command that a joint has at its frequency, at least.
    smallest : float
        Amplitude of its command there by its effort limit, at least.
    own : float
        Amplitude of the position error by that of the desired position there, at least.
    """

    seconds: float = 1.0
    fewest: int = 100
    slowest: float = 4.0
    width: float = 2.0
    share: float = 0.5
    smallest: float = 0.1
    own: float = 0.5


def find_vibrations(
    record: Record, limits: FloatArray, settings: VibrationSettings | None = None
) -> list[Finding]:
    """Return the joint that vibrates most at the end of a record, if one does.

    Parameters
    ----------
    record : Record
        Of a motion that was given up.
    limits : array, shape (n,)
        Effort limits [N m or N].
    settings : VibrationSettings, optional

    Returns
    -------
    list of Finding
        Of one joint at most: it shakes the others.
    """
    settings = settings or VibrationSettings()
    record = record.answered
    record = record.part(record.times > record.times.max(initial=0.0) - settings.seconds)
    if record.times.size < settings.fewest:
        return []
    period = float(np.median(np.diff(record.times)))
    frequencies = np.fft.rfftfreq(record.times.size, period)
    command = _amplitudes(record.command)
    command[frequencies < settings.slowest] = 0.0
    peaks = command.argmax(axis=0)
    sizes = command.max(axis=0) / limits
    joint = int(sizes.argmax())
    near = np.abs(frequencies - frequencies[peaks[joint]]) <= settings.width
    power = _amplitudes(record.command)[:, joint] ** 2
    error, sent = (
        _amplitudes(rows)[near, joint].max()
        for rows in (record.desired - record.position, record.desired)
    )
    if (
        sizes[joint] < settings.smallest
        or power[near].sum() < settings.share * power.sum()
        or not error > settings.own * sent
    ):
        return []
    name, frequency = record.joint_names[joint], float(frequencies[peaks[joint]])
    return [
        Finding(
            'vibration',
            (name,),
            f'vibrates at {frequency:.3g} Hz, with {sizes[joint]:.0%} of its effort limit: is it '
            'elastic there, or are the commands late?',
            frequency,
            remedy='Stiffen the joint or its mount, or shorten the delay of the driver',
        )
    ]


def _amplitudes(rows: FloatArray) -> FloatArray:
    """Return the amplitudes of columns by frequency, without what changes slowly."""
    place = np.linspace(-1.0, 1.0, len(rows))
    slow = np.polynomial.polynomial.polyvander(place, 3)
    rest = rows - slow @ np.linalg.lstsq(slow, rows, rcond=None)[0]
    window = np.hanning(len(rows))
    found: FloatArray = 2.0 * np.abs(np.fft.rfft(rest * window[:, None], axis=0)) / window.sum()
    return found
