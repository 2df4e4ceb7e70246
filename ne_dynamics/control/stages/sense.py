"""Second stage: what sensors say beside the positions."""

from __future__ import annotations

from ne_dynamics.control.sensors.imu import BaseImu
from ne_dynamics.control.sensors.velocity_source import (
    PositionVelocity,
    VelocitySettings,
    VelocitySource,
)
from ne_dynamics.control.sensors.wrench import WristWrench
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.dynamics.compensation import Base
from ne_dynamics.model.rigid_body import FloatArray


class Sense:
    """Reads wrist and IMU at the time of a state, and finds the velocity to be used.

    Parameters
    ----------
    tuning : Tuning
    wrist : WristWrench or None
    imu : BaseImu or None

    Attributes
    ----------
    wrist, imu
    wrench : array, shape (6,), or None
        As of the last reading.
    base : Base or None
        As of the last reading.
    nature : tuple of int
        Of these readings.

    Raises
    ------
    ParameterError
        When the cut-off frequency of the velocity cannot be used.
    """

    def __init__(self, tuning: Tuning, wrist: WristWrench | None, imu: BaseImu | None) -> None:
        self.wrist = wrist
        self.imu = imu
        self.wrench: FloatArray | None = None
        self.base: Base | None = None
        self.nature: tuple[int, ...] = ()
        self._joints = tuning.law.joints
        self._velocity: FloatArray | None = None
        self._positions: PositionVelocity | None = None
        self._source = VelocitySettings()
        self.configure(tuning)

    def configure(self, tuning: Tuning) -> None:
        """Use another tuning from the next state on; the velocity goes on where it can.

        Raises
        ------
        ParameterError
            When the cut-off frequency cannot be used; nothing is changed then.
        """
        before, chosen = self._source, tuning.velocity
        source, cutoff = chosen.source, chosen.cutoff_frequency
        if source is VelocitySource.MEASURED:
            self._positions = None
        elif (source, cutoff) != (before.source, before.cutoff_frequency):
            self._positions = PositionVelocity(self._joints, source, cutoff, self._velocity)
        self._source = chosen
        if self.wrist is not None:
            self.wrist.configure(tuning.wrench)
        if self.imu is not None:
            self.imu.configure(tuning.imu)

    def restart(self) -> None:
        """Forget the motion so far: velocities are found anew."""
        self._velocity = None
        if self._positions is not None:
            self._positions.reset()

    def reset(self) -> None:
        """Forget the motion and the last readings."""
        self.restart()
        self.wrench, self.base, self.nature = None, None, ()

    @property
    def is_velocity_measured(self) -> bool:
        """Whether the velocity of the joint states is the one that is used."""
        return self._positions is None

    def step(self, tick: Tick) -> None:
        """Set `velocity`, `wrench`, `base` and `nature`."""
        positions, measured = self._positions, tick.measured_velocity
        tick.velocity = self._velocity = (
            measured if positions is None else positions.update(tick.position, tick.now)
        )
        if self.wrist is not None or self.imu is not None:
            tick.wrench, tick.base, tick.nature = self.read(tick.now)

    def read(self, now: float) -> tuple[FloatArray | None, Base | None, tuple[int, ...]]:
        """Read wrist and IMU at a time [s]; return wrench, base and nature."""
        wrist, imu = self.wrist, self.imu
        wrench, base = None, None
        nature: tuple[int, ...] = ()
        if wrist is not None:
            wrench = wrist.at(now)
            nature = wrist.tares, wrist.is_stale(now)
        if imu is not None:
            motion = imu.at(now)
            base = None if motion is None else Base(motion, imu.resting_at(now))
            nature = *nature, imu.is_stale(now)
        self.wrench, self.base, self.nature = read = wrench, base, nature
        return read

    def wrench_at(self, now: float) -> FloatArray | None:
        """Return the wrench at the wrist at a time [s]."""
        return None if self.wrist is None else self.wrist.at(now)

    def resting_base(self, now: float | None) -> Base | None:
        """Return the tilt of the base alone at a time [s]: its motion now is no guide to later."""
        if self.imu is None or now is None or self.imu.at(now) is None:
            return None
        resting = self.imu.resting_at(now)
        return Base(resting, resting)
