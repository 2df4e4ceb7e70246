"""Inverse dynamics of many samples under JAX: ours, and that of adam-robotics.

Everything runs in double precision, compiled by ``jax.jit``, on arrays of JAX.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np

from benchmark.competitors import dynamics, require
from benchmark.timing import Contender, Times
from ne_dynamics.dynamics import STANDARD_GRAVITY
from ne_dynamics.errors import MissingDependencyError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.papers import Case

OURS = 'ours, array_function'
ADAM = 'adam-robotics'

Compiled = Callable[..., Any]
"""A function of ``jax.jit``: positions, velocities, accelerations in, efforts out."""


def require_jax() -> Any:
    """Import JAX and let it compute in double precision.

    Raises
    ------
    MissingDependencyError
        When it is not installed.
    """
    jax = require('jax', 'jax')
    jax.config.update('jax_enable_x64', True)
    return jax


def compile_ours(case: Case) -> Compiled:
    """Return our inverse dynamics for ``jax.jit``; the first call will compile it."""
    jax = require_jax()
    function = dynamics(case.robot, 'python').array_function('inverse_dynamics', jax.numpy)
    compiled: Compiled = jax.jit(function)
    return compiled


def compile_adam(case: Case) -> Compiled:
    """Return the inverse dynamics of adam-robotics for ``jax.jit`` of ``jax.vmap``.

    It has no inverse dynamics with accelerations: a user adds up the mass matrix times the
    accelerations and the bias force, with the base at rest.

    Raises
    ------
    MissingDependencyError
        When it is not installed, or the robot has no file that it reads.
    """
    jax = require_jax()
    adam = require('adam.jax', 'adam-robotics')
    if case.urdf is None:
        raise MissingDependencyError(f'{case.name} has no URDF for adam-robotics')
    jnp = jax.numpy
    model = adam.KinDynComputations(
        describe_with_locked_joints(case),
        list(case.robot.joint_names),
        gravity=jnp.array([*STANDARD_GRAVITY, 0.0, 0.0, 0.0]),
    )
    pose, rest = jnp.eye(4), jnp.zeros(6)

    def compute_inverse_dynamics(q: Any, qd: Any, qdd: Any) -> Any:
        mass_matrix = model.mass_matrix(pose, q)[6:, 6:]
        return mass_matrix @ qdd + model.bias_force(pose, q, rest, qd)[6:]

    compiled: Compiled = jax.jit(jax.vmap(compute_inverse_dynamics))
    return compiled


def describe_with_locked_joints(case: Case) -> str:
    """Return the URDF of a case, its locked joints fixed.

    adam-robotics 0.5 does not read prismatic joints, not even those that it holds at zero.
    """
    root = ElementTree.parse(str(case.urdf)).getroot()
    for joint in root.iter('joint'):
        if joint.get('name') in case.locked:
            joint.set('type', 'fixed')
    return ElementTree.tostring(root, encoding='unicode')


def measure_compilation(
    makers: Mapping[str, Callable[[], Compiled]], motion: Sequence[FloatArray], rounds: int
) -> tuple[dict[str, Times], dict[str, Contender]]:
    """Time first calls in turns, each on empty caches: the first call minus a later one.

    Parameters
    ----------
    makers : mapping of str to callable
        Each returns a function that nobody has called yet; what that takes is not counted.
    motion : sequence of arrays, shape (N, n)
        Positions, velocities and accelerations.
    rounds : int
        The one that starts changes from round to round.

    Returns
    -------
    dict of Times
        Seconds of tracing and compilation together.
    dict of Contender
        Calls of the functions of the last round, which are compiled.

    Raises
    ------
    MissingDependencyError
        When a library does not run with the installed JAX.
    """
    jax = require_jax()
    arrays = [jax.numpy.asarray(array) for array in motion]
    jax.block_until_ready(jax.jit(jax.numpy.sin)(arrays[0]))  # starts JAX itself
    seconds: dict[str, list[float]] = {name: [] for name in makers}
    contenders = {}
    for index in range(rounds):
        jax.clear_caches()
        for name in list(makers)[:: -1 if index % 2 else 1]:
            function = makers[name]()
            names = dict(zip(('q', 'qd', 'qdd'), arrays, strict=True))
            contenders[name] = Contender(
                name,
                'wait(inverse_dynamics(q, qd, qdd))',
                {**names, 'wait': jax.block_until_ready, 'inverse_dynamics': function},
                samples=len(arrays[0]),
                friction=name == OURS,
            )
            try:
                first = _time_call(contenders[name])
            except (AttributeError, TypeError) as error:
                raise MissingDependencyError(
                    f'{name} does not run with JAX {jax.__version__}: {error}'
                ) from error
            seconds[name].append(first - _time_call(contenders[name]))
    times = {name: Times(name, np.array(taken)) for name, taken in seconds.items()}
    return times, contenders


def _time_call(contender: Contender) -> float:
    begin = time.perf_counter()
    contender.value()
    return time.perf_counter() - begin
