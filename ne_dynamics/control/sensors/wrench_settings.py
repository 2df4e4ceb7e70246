"""The parameters of a wrist force/torque sensor."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from math import inf

from ne_dynamics.settings import Changes, ParameterTable, parameter


class Measures(str, enum.Enum):
    """Sign of the wrist sensor: which of two opposite wrenches it reports."""

    ON_TOOL = 'on_tool'
    """What the environment and the tool exert on the arm's side (the habit in ROS): f = -reading.

    A tool that hangs on the sensor reads as a force downwards.
    """
    BY_TOOL = 'by_tool'
    """The opposite: f = reading."""


class OnTimeout(str, enum.Enum):
    """What counts when readings stop."""

    ZERO = 'zero'
    """No reading: whoever computes with the wrench puts in what the model knows of the tool."""
    HOLD = 'hold'
    """The last one."""


@dataclass(frozen=True)
class WrenchSettings:
    """The parameters `wrench.*`: where the sensor is, and how its readings count."""

    enabled: bool = parameter(
        False, 'Add the wrench of a wrist sensor to the dynamics.', changes=Changes.UNCONFIGURED
    )
    sensor_link: str = parameter(
        '',
        "Last link on the arm's side of the sensor. Empty: the tip.",
        changes=Changes.UNCONFIGURED,
    )
    includes_tool: bool = parameter(
        True,
        'The reading contains what the model has beyond the sensor link, so the model is cut '
        'there and the tool counts once. False: the publisher subtracts weight and inertia of '
        'the tool.',
        changes=Changes.UNCONFIGURED,
    )
    measures: Measures = parameter(
        Measures.ON_TOOL,
        'Sign: `on_tool`, what environment and tool exert on the arm (the habit in ROS: a '
        'hanging tool reads as a force downwards), or `by_tool`, the opposite.',
    )
    timeout: float = parameter(
        0.1,
        'Age at which a reading of the sensor is no longer used; then `wrench.on_timeout` '
        'applies.',
        unit='s',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
    )
    on_timeout: OnTimeout = parameter(
        OnTimeout.HOLD,
        'What is used when readings stop (`wrench.timeout`): `hold`, the last reading, or '
        '`zero`, the tool and payload of the model, as before the first reading.',
    )
    cutoff_frequency: float = parameter(
        0.0,
        'Cut-off of a first-order low-pass filter on the reading. 0: no filter.',
        unit='Hz',
        minimum=0.0,
    )
    feedthrough: float = parameter(
        0.0,
        'Share of the frequencies above `wrench.cutoff_frequency` that passes the filter. 0: a '
        'plain low-pass filter.',
        minimum=0.0,
        maximum=1.0,
    )
    gain: float = parameter(
        1.0,
        'Share of the reading that is compensated. The model adds the rest of the tool and '
        'payload that it knows beyond the sensor.',
        minimum=0.0,
        maximum=1.0,
    )
    max_force: float = parameter(
        inf,
        'Largest force that is used: a larger one is scaled down to it. `.inf`: any.',
        unit='N',
        minimum=0.0,
        allow_infinity=True,
    )
    max_torque: float = parameter(
        inf,
        'Largest moment about the sensor link that is used: a larger one is scaled down to it. '
        '`.inf`: any.',
        unit='N m',
        minimum=0.0,
        allow_infinity=True,
    )
    largest_bias: float = parameter(
        20.0,
        'Largest force of a bias in ~/tare_wrench. A larger one is refused, because sign, sensor '
        'link or tool of the model may be wrong. `.inf`: any.',
        unit='N',
        minimum=0.0,
        allow_infinity=True,
    )


PARAMETERS = ParameterTable(WrenchSettings, 'wrench.')
