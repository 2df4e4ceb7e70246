"""What an arm carries: its payload, and what is beyond its wrist sensor. No ROS."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ne_dynamics.errors import ModelError, ParameterError
from ne_dynamics.model.checks import impossible_inertia
from ne_dynamics.model.rigid_body import FloatArray, Inertia
from ne_dynamics.ros.settings.controlled_arm import ControlledArm
from ne_dynamics.ros.settings.parameters import NodeSettings, PayloadSettings


def _payload(payload: PayloadSettings, arm: ControlledArm) -> tuple[Inertia, str] | None:
    """Return the payload in the frame of its link, and that link; None without a payload."""
    if payload.mass == 0.0:
        if any(payload.inertia):
            raise ParameterError(
                f'payload.mass: expected > 0 with payload.inertia {list(payload.inertia)}, got 0'
            )
        if not payload.link:
            return None
    name = payload.link or arm.uncut.tip_link
    if name is None:
        raise ParameterError('payload.link: expected a link: the robot has no tip of its own')
    xx, xy, xz, yy, yz, zz = payload.inertia
    tensor = np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    impossible = impossible_inertia(tensor)
    if impossible:
        raise ParameterError(f'payload.inertia: {impossible}')
    try:
        arm.uncut.link(name)
    except ModelError as error:
        raise ParameterError(f'payload.link: {error}') from error
    return Inertia(payload.mass, np.array(payload.com), tensor), name


def payload_parameters(
    settings: NodeSettings, arm: ControlledArm
) -> tuple[FloatArray | None, list[str]]:
    """Return what the model carries beside itself, shape (10,) at the tip, and remarks.

    A payload on the arm's side of the sensor counts in full. Of what is beyond the sensor, the
    model carries what `wrench.gain` leaves out of the reading. None when there is neither.

    Raises
    ------
    ParameterError
        When no body could have such an inertia, or the link is not of the tip's body.
    """
    parameters, remarks = payload_before_sensor(settings.payload, arm)
    unmeasured = _unmeasured(settings, arm)
    if parameters is None or unmeasured is None:
        return unmeasured if parameters is None else parameters, remarks
    parameters = parameters + unmeasured
    parameters.setflags(write=False)
    return parameters, remarks


def payload_before_sensor(
    given: PayloadSettings, arm: ControlledArm
) -> tuple[FloatArray | None, list[str]]:
    """Return the payload on the arm's side of the sensor, shape (10,) at the tip, and remarks.

    Raises
    ------
    ParameterError
        As :func:`payload_parameters`.
    """
    payload = _payload(given, arm)
    if payload is None:
        return None, []
    inertia, name = payload
    if arm.wrench_link is not None and name in arm.uncut.descendants(arm.wrench_link):
        return None, [
            f'payload: {name!r} is beyond the sensor at {arm.wrench_link!r}, whose reading '
            'contains it: it counts for ~/tare_wrench, and for what wrench.gain leaves out'
        ]
    try:
        parameters = arm.robot.payload_parameters(inertia, name)
    except ModelError as error:
        raise ParameterError(f'payload.link: {error}') from error
    if inertia.mass == 0.0:
        return None, []
    parameters.setflags(write=False)
    return parameters, []


def _unmeasured(settings: NodeSettings, arm: ControlledArm) -> FloatArray | None:
    """Return what the gain of the wrench leaves out of what is known beyond the sensor."""
    if arm.wrench_link is None or settings.wrench.gain == 1.0:
        return None
    beyond = load_beyond_sensor(settings, arm)
    if beyond.is_zero:
        return None
    share: float = 1.0 - settings.wrench.gain
    parameters: FloatArray = share * arm.robot.payload_parameters(beyond, arm.wrench_link)
    parameters.setflags(write=False)
    return parameters


def carried_parameters(settings: NodeSettings, arm: ControlledArm) -> FloatArray | None:
    """Return all that the arm carries and its model has not, shape (10,), or None.

    What is beyond the sensor too, which is for whoever has no reading: of a gain that counts
    for nothing, all is left out.
    """
    without_reading = replace(settings, wrench=replace(settings.wrench, gain=0.0))
    return payload_parameters(without_reading, arm)[0]


def load_beyond_sensor(settings: NodeSettings, arm: ControlledArm) -> Inertia:
    """Return what the reading of the sensor contains at rest, in the frame of the cut."""
    payload = _payload(settings.payload, arm)
    if payload is None or arm.wrench_link is None:
        return arm.tool
    inertia, name = payload
    if name not in arm.uncut.descendants(arm.wrench_link):
        return arm.tool
    cut, link = arm.uncut.link(arm.wrench_link), arm.uncut.link(name)
    if cut.body != link.body:
        return arm.tool
    return arm.tool + inertia.transformed(cut.pose_in_body.inverse() @ link.pose_in_body)
