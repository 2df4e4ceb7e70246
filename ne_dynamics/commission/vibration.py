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
    spans : tuple of float
        Of the end of a record, which are looked at in their order [s]: a vibration that grows
        ends a motion before it fills the first.
    fewest : int
        Samples of them, at least.
    periods : float
        Of the lowest frequency, in a span.
    width : float
        To either side of a frequency that counts as the same, in periods in a span.
    share : float
        Part of the power of its command that a joint has at its frequency, at least.
    smallest : float
        Amplitude of its command there by its effort limit, at least.
    own : float
        Amplitude of the position error by that of the desired position there, at least: a tremble
        that is not followed leaves about all of it.
    """

    spans: tuple[float, ...] = (1.0, 0.5, 0.25)
    fewest: int = 100
    periods: float = 4.0
    width: float = 2.0
    share: float = 0.5
    smallest: float = 0.1
    own: float = 2.0


def find_vibrations(record: Record, limits: FloatArray) -> list[Finding]:
    """Return the joint that vibrates most at the end of a record, if one does: it shakes others.

    The motion was given up. Limits are those of efforts, shape (n,) [N m or N].
    """
    settings, record = VibrationSettings(), record.answered
    for span in settings.spans:
        end = record.part(record.times > record.times.max(initial=0.0) - span)
        found = _find_in_span(end, limits, span, settings)
        if found:
            return found
    return []


def _find_in_span(
    record: Record, limits: FloatArray, span: float, settings: VibrationSettings
) -> list[Finding]:
    if record.times.size < settings.fewest:
        return []
    period = float(np.median(np.diff(record.times)))
    frequencies = np.fft.rfftfreq(record.times.size, period)
    sent, error, command = (
        _amplitudes(rows)
        for rows in (record.desired, record.desired - record.position, record.command)
    )
    fast = np.where(frequencies[:, np.newaxis] < settings.periods / span, 0.0, command)
    sizes = fast.max(axis=0) / limits
    joint = int(sizes.argmax())
    frequency = float(frequencies[fast[:, joint].argmax()])
    near = np.abs(frequencies - frequency) <= settings.width / span
    power = command[:, joint] ** 2
    if (
        sizes[joint] < settings.smallest
        or power[near].sum() < settings.share * power.sum()
        or not error[near, joint].max() > settings.own * sent[near, joint].max()
    ):
        return []
    return [
        Finding(
            'vibration',
            (record.joint_names[joint],),
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
