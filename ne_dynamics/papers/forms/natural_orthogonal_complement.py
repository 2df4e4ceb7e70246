"""The natural orthogonal complement: n equations out of 6n by the twist-shaping matrix.

Source: 004 (7.45)-(7.58). The twist of link i is t_i = [w_i, cd_i], angular velocity and
velocity of its mass centre; all twists together are ``t = T qd`` (7.54), and T^T takes the
constraint wrenches out of the uncoupled Newton-Euler equations (7.48). The document announces the
blocks of T and K for its section 7.5.1; here they follow from the joints: a link turns about the
axis through O_j, or slides along it. Everything is in the axes of frame 0.

Functions of an arm take it in standard Denavit-Hartenberg frames, and the rest as
:meth:`Formulation.inverse_dynamics
<ne_dynamics.papers.forms.formulation.Formulation.inverse_dynamics>` does.

The base may move. Its twist is carried by all links: ``t = T qd + t_0``, with the twist t_0 that
link i would have with the joints locked, so K t is no longer zero but what the base puts in. T and
M stay; the bias takes the rate of t_0, and t in place of T qd.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ne_dynamics.algorithms.scalars.elementary import add, cross, dot, multiply, scale
from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.papers.forms.arm import Arm
from ne_dynamics.papers.forms.base_state import BaseState, compute_base_state
from ne_dynamics.papers.forms.bookkeeping import bookkeeping
from ne_dynamics.papers.forms.coverage import Covers
from ne_dynamics.papers.forms.formulation import Formulation, Request
from ne_dynamics.papers.forms.frames import standard_link_vector, standard_rotation, subtract
from ne_dynamics.papers.forms.generic_scalars import Matrix, Scalar, Scalars
from ne_dynamics.papers.forms.strobing import solve_by_cholesky

Block = tuple[Vector, Vector]
"""Angular and linear part of a twist, or moment and force of a wrench."""


@dataclass(frozen=True, eq=False)
class Configuration:
    """Where the links are, in the axes of frame 0.

    Attributes
    ----------
    rotations : list of n matrices
        Axes of frame i, rows.
    axes, joints : list of n vectors
        e_i, and O_i, the origin of frame i-1 [m].
    centers : list of n vectors
        Mass centres [m].
    """

    rotations: list[Matrix]
    axes: list[Vector]
    joints: list[Vector]
    centers: list[Vector]


class Model(NamedTuple):
    """A configuration and what (7.57) takes of it.

    Attributes
    ----------
    where : Configuration
    shape : list of lists of Block
        The blocks T_ij, j <= i, that are not zero.
    tensors : list of n matrices
        Inertia about the mass centres in the axes of frame 0 [kg m^2].
    """

    where: Configuration
    shape: list[list[Block]]
    tensors: list[Matrix]


def build_model(arm: Arm, q: Scalars) -> Model:
    """Return the links' configuration, T and M at joint position `q`."""
    where = locate_links(arm, q)
    term, _ = bookkeeping(*q)
    term('T')
    shape = _compute_shape_blocks(arm, where)
    term('M')
    return Model(where, shape, _rotate_tensors(arm, where))


def locate_links(arm: Arm, q: Scalars) -> Configuration:
    """Return where the links are at joint position `q`."""
    term, number = bookkeeping(*q)
    term('configuration')
    rotations: list[Matrix] = []
    axes: list[Vector] = []
    joints: list[Vector] = []
    centers: list[Vector] = []
    rotation: Matrix = [
        [number(1.0 if row == column else 0.0) for column in range(3)] for row in range(3)
    ]
    origin: Vector = [number(0.0)] * 3
    for link, position in zip(arm.links, q, strict=True):
        axes.append([row[2] for row in rotation])
        joints.append(origin)
        local = standard_rotation(link, position, number)
        rotation = _product(rotation, local)
        origin = add(origin, multiply(rotation, standard_link_vector(link, position)))
        rotations.append(rotation)
        centers.append(add(origin, multiply(rotation, link.center_of_mass)))
    return Configuration(rotations, axes, joints, centers)


def _compute_shape_blocks(arm: Arm, where: Configuration) -> list[list[Block]]:
    """Return the blocks T_ij, j <= i, that are not zero."""
    blocks = []
    for index, center in enumerate(where.centers):
        row: list[Block] = []
        for axis, joint, link in zip(
            where.axes[: index + 1], where.joints, arm.links, strict=False
        ):
            if link.is_prismatic:
                row.append(([0.0] * 3, axis))
            else:
                row.append((axis, cross(axis, subtract(center, joint))))
        blocks.append(row)
    return blocks


def twist_shaping_matrix(arm: Arm, q: Scalars) -> Matrix:
    """Return T of (7.54), 6n rows of n scalars: ``t = T qd``.

    Six rows a link: angular velocity [rad/s], then velocity of its mass centre [m/s], in the axes
    of frame 0.
    """
    FORM.check(arm, q=q)
    rows: Matrix = []
    for blocks in _compute_shape_blocks(arm, locate_links(arm, q)):
        zeros: Vector = [0.0] * (arm.n - len(blocks))
        for part in range(2):
            for axis in range(3):
                rows.append([block[part][axis] for block in blocks] + zeros)
    return rows


def constraint_matrix(arm: Arm, q: Scalars) -> Matrix:
    """Return K of (7.50), 6n rows of 6n scalars: ``K t = 0``.

    Six rows a joint: for one that turns, relative rates across its axis, and the velocity of O_i
    as a point of both links; for one that slides, relative rates, and relative velocity across its
    axis.
    """
    FORM.check(arm, q=q)
    where = locate_links(arm, q)
    rows: Matrix = []
    for index, link in enumerate(arm.links):
        axis, joint, center = where.axes[index], where.joints[index], where.centers[index]
        before = where.centers[index - 1] if index > 0 else joint
        if link.is_prismatic:
            angular, linear = _IDENTITY, _skew(axis)
            own: Matrix = _ZERO
            other = _product(linear, _skew(subtract(center, before)))
        else:
            angular, linear = _skew(axis), _IDENTITY
            own = _skew(subtract(center, joint))
            other = _skew(subtract(joint, before))
        for row in range(3):
            rates = angular[row], _ZERO[row]
            rows.append(_constraint_row(arm.n, index, rates, rates))
        for row in range(3):
            inner = [-value for value in other[row]]
            rows.append(
                _constraint_row(arm.n, index, (own[row], linear[row]), (inner, linear[row]))
            )
    return rows


_ZERO: Matrix = [[0.0] * 3 for _ in range(3)]
_IDENTITY: Matrix = [[1.0 if row == column else 0.0 for column in range(3)] for row in range(3)]


def _skew(a: Scalars) -> Matrix:
    return [[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]]


def _product(a: Matrix, b: Matrix) -> Matrix:
    columns = list(zip(*b, strict=True))
    return [[dot(row, column) for column in columns] for row in a]


def _constraint_row(
    n: int, index: int, own: tuple[Scalars, Scalars], inner: tuple[Scalars, Scalars]
) -> list[Scalar]:
    """Return own . t_i - inner . t_{i-1} as a row of K."""
    row: list[Scalar] = [0.0] * (6 * n)
    row[6 * index : 6 * index + 6] = [*own[0], *own[1]]
    if index > 0:
        row[6 * index - 6 : 6 * index] = [-value for value in (*inner[0], *inner[1])]
    return row


def _rotate_tensors(arm: Arm, where: Configuration) -> list[Matrix]:
    """Return the inertia about the mass centres in the axes of frame 0: R I R^T."""
    tensors = []
    for link, rotation in zip(arm.links, where.rotations, strict=True):
        half = [multiply(link.tensor, row) for row in rotation]
        tensors.append([[dot(row, other) for other in half] for row in rotation])
    return tensors


def generalized_inertia_matrix(arm: Arm, q: Scalars) -> Matrix:
    """Return I(q) of (7.58), n rows of n scalars [kg m^2, kg m, kg]."""
    FORM.check(arm, q=q)
    return _compute_inertia(arm, build_model(arm, q))


def _compute_inertia(arm: Arm, model: Model) -> Matrix:
    n = arm.n
    matrix: Matrix = [[0.0] * n for _ in range(n)]
    for link, blocks, tensor in zip(arm.links, model.shape, model.tensors, strict=True):
        # M_i T_ij
        weighted = [
            (multiply(tensor, angular), scale(link.mass, linear)) for angular, linear in blocks
        ]
        for row, (angular, linear) in enumerate(blocks):
            for column in range(row + 1):
                # 004 (7.58): I = T^T M T.
                share = dot(angular, weighted[column][0]) + dot(linear, weighted[column][1])
                matrix[row][column] = matrix[row][column] + share
    for row in range(n):
        for column in range(row):
            matrix[column][row] = matrix[row][column]
    return matrix


def bias(
    arm: Arm,
    q: Scalars,
    qd: Scalars,
    *,
    gravity: Scalars,
    wrench: Scalars | None = None,
    base_motion: Scalars | None = None,
) -> list[Scalar]:
    """Return what the drives give at zero acceleration: all of (7.57) but I qdd and T^T w^A.

    That is ``T^T (M Td + W M T) qd - T^T (w^G + w^D)``, and the tip wrench: n scalars.
    """
    FORM.check(arm, q=q, qd=qd, gravity=gravity, wrench=wrench, base_motion=base_motion)
    request = Request(arm, q, qd, [0.0] * arm.n, gravity, wrench, base_motion)
    return _compute_bias(request, build_model(arm, q))


def _compute_bias(request: Request, model: Model) -> list[Scalar]:
    arm, qd, wrench = request.arm, request.qd, request.wrench
    where, shape, tensors = model
    term, number = request.bookkeeping
    base = compute_base_state(request)
    # Gravity less the acceleration of the origin of frame 0.
    down: Vector = [-value for value in base.a]
    nothing: Vector = [number(0.0)] * 3
    axis_rates: list[Vector] = []
    joint_rates: list[Vector] = []
    # Velocities are relative to that of the origin of frame 0, which no effort depends on.
    w, cd, center = base.w, nothing, where.joints[0]
    efforts: list[Scalar] = [0.0] * arm.n
    for index, link in enumerate(arm.links):
        term('Td')
        # O_i and e_i move with link i-1.
        joint_rates.append(add(cd, cross(w, subtract(where.joints[index], center))))
        axis_rates.append(cross(w, where.axes[index]))
        term('t')
        # 004 (7.54): t = T qd.
        center = where.centers[index]
        w, cd = _carry_twist(request, base, center, nothing)
        for (angular, linear), inner, rate in zip(shape[index], arm.links, qd, strict=False):
            if not inner.is_prismatic:
                w = add(w, scale(rate, angular))
            cd = add(cd, scale(rate, linear))
        term('Td')
        # 004 (7.56), the part Td qd of td, and the rate of t_0.
        wd, cdd = _carry_twist_rate(request, base, center, cd)
        for inner_index in range(index + 1):
            axis, axis_rate = where.axes[inner_index], axis_rates[inner_index]
            rate = qd[inner_index]
            if arm.links[inner_index].is_prismatic:
                cdd = add(cdd, scale(rate, axis_rate))
                continue
            wd = add(wd, scale(rate, axis_rate))
            lever = subtract(center, where.joints[inner_index])
            lever_rate = subtract(cd, joint_rates[inner_index])
            cdd = add(cdd, scale(rate, add(cross(axis_rate, lever), cross(axis, lever_rate))))
        term('bias')
        # 004 (7.57): (M Td + W M T) qd, of which W has the angular velocity only.
        moment = add(multiply(tensors[index], wd), cross(w, multiply(tensors[index], w)))
        # 004 (7.49): less w^G = [0, m g].
        force = scale(link.mass, subtract(cdd, down))
        if wrench is not None and index == arm.n - 1:
            term('wrench')
            tip_force, tip_moment = arm.tip_load(wrench)
            # From the origin of frame n to the mass centre.
            tip_moment = subtract(tip_moment, cross(link.center_of_mass, tip_force))
            rotation = where.rotations[index]
            force = add(force, multiply(rotation, tip_force))
            moment = add(moment, multiply(rotation, tip_moment))
            term('bias')
        for inner_index, (angular, linear) in enumerate(shape[index]):
            # 004 (7.57): T^T from the left.
            effort = dot(linear, force)
            if not arm.links[inner_index].is_prismatic:
                effort = effort + dot(angular, moment)
            efforts[inner_index] = efforts[inner_index] + effort
    # T^T w^D = -b qd, with the friction of 000 (2.39).
    return request.add_friction(efforts)


def _carry_twist(request: Request, base: BaseState, center: Vector, nothing: Vector) -> Block:
    """Return t_0 of a link with its mass centre at `center`: its twist with the joints locked."""
    if request.base_motion is None:
        return nothing, nothing
    return base.w, cross(base.w, center)


def _carry_twist_rate(request: Request, base: BaseState, center: Vector, cd: Vector) -> Block:
    """Return the rate of t_0, less the acceleration of the origin of frame 0.

    ``(w_0 x c)' = wd_0 x c + w_0 x cd``, where c and cd are the mass centre's position and
    velocity relative to that origin.
    """
    if request.base_motion is None:
        return base.wd, base.wd
    return base.wd, add(cross(base.wd, center), cross(base.w, cd))


def compute_efforts(request: Request) -> list[Scalar]:
    """Return the joint efforts that a motion takes: T^T w^A of (7.57)."""
    inertia, rest = _compute_inertia_and_bias(request)
    term, _ = request.bookkeeping
    term('I qdd')
    efforts = []
    for row, effort in zip(inertia, rest, strict=True):
        # 004 (7.57).
        for value, acceleration in zip(row, request.qdd, strict=True):
            effort = effort + value * acceleration
        efforts.append(effort)
    return efforts


FORM = Formulation(
    'natural_orthogonal_complement',
    '004, Angeles, Fundamentals of Robotic Mechanical Systems, chapter 7',
    '004 (7.45)-(7.58)',
    Covers(convention='standard', moving_base=True, added=('moving_base',)),
    compute_efforts,
)
inverse_dynamics = FORM.inverse_dynamics


def _compute_inertia_and_bias(request: Request) -> tuple[Matrix, list[Scalar]]:
    model = build_model(request.arm, request.q)
    request.bookkeeping.term('I')
    inertia = _compute_inertia(request.arm, model)
    return inertia, _compute_bias(request, model)


def forward_dynamics(
    arm: Arm,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    *,
    gravity: Scalars,
    wrench: Scalars | None = None,
    base_motion: Scalars | None = None,
) -> list[Scalar]:
    """Return the accelerations that efforts tau give [rad/s^2 or m/s^2]: (7.57) solved.

    The model (7.45) is that of the state.
    """
    FORM.check(arm, q=q, qd=qd, tau=tau, gravity=gravity, wrench=wrench, base_motion=base_motion)
    request = Request(arm, q, qd, [0.0] * arm.n, gravity, wrench, base_motion)
    inertia, rest = _compute_inertia_and_bias(request)
    term, _ = bookkeeping(*q, *qd, *tau)
    term('solve')
    return solve_by_cholesky(
        inertia, [effort - known for effort, known in zip(tau, rest, strict=True)]
    )
