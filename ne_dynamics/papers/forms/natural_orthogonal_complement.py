"""The natural orthogonal complement: n equations out of 6n by the twist-shaping matrix.

Source: 004 (7.45)-(7.58). The twist of link i is t_i = [w_i, cd_i], angular velocity and
velocity of its mass centre; all twists together are ``t = T qd`` (7.54), and T^T takes the
constraint wrenches out of the uncoupled Newton-Euler equations (7.48). The document announces the
blocks of T and of the constraint matrix K (7.50) for its section 7.5.1; here those of T follow
from the joints: a link turns about the axis through O_j, or slides along it. No effort depends on
K, with ``K T = 0``; the tests form it. Everything is in the axes of frame 0.

The base may move. Its twist is carried by all links: ``t = T qd + t_0``, with the twist t_0 that
link i would have with the joints locked, so K t is no longer zero but what the base puts in. T and
M stay; the bias takes the rate of t_0, and t in place of T qd.
"""

from __future__ import annotations

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

Block = tuple[Vector, Vector]
"""Angular and linear part of a twist, or moment and force of a wrench."""


class Model(NamedTuple):
    """Where the links are, in the axes of frame 0, and what (7.57) takes of it.

    Attributes
    ----------
    rotations : list of n matrices
        Axes of frame i, rows.
    axes, joints : list of n vectors
        e_i, and O_i, the origin of frame i-1 [m].
    centers : list of n vectors
        Mass centres [m].
    shape : list of lists of Block
        The blocks T_ij, j <= i, that are not zero.
    tensors : list of n matrices
        Inertia about the mass centres in the axes of frame 0 [kg m^2].
    """

    rotations: list[Matrix]
    axes: list[Vector]
    joints: list[Vector]
    centers: list[Vector]
    shape: list[list[Block]]
    tensors: list[Matrix]


def build_model(arm: Arm, q: Scalars) -> Model:
    """Return the links' configuration, T and M at joint position `q`."""
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
    term('T')
    shape = _compute_shape_blocks(arm, axes, joints, centers)
    term('M')
    tensors = _rotate_tensors(arm, rotations)
    return Model(rotations, axes, joints, centers, shape, tensors)


def _compute_shape_blocks(
    arm: Arm, axes: list[Vector], joints: list[Vector], centers: list[Vector]
) -> list[list[Block]]:
    """Return the blocks T_ij, j <= i, that are not zero."""
    blocks = []
    for index, center in enumerate(centers):
        row: list[Block] = []
        for axis, joint, link in zip(axes[: index + 1], joints, arm.links, strict=False):
            if link.is_prismatic:
                row.append(([0.0] * 3, axis))
            else:
                row.append((axis, cross(axis, subtract(center, joint))))
        blocks.append(row)
    return blocks


def _product(a: Matrix, b: Matrix) -> Matrix:
    columns = list(zip(*b, strict=True))
    return [[dot(row, column) for column in columns] for row in a]


def _rotate_tensors(arm: Arm, rotations: list[Matrix]) -> list[Matrix]:
    """Return the inertia about the mass centres in the axes of frame 0: R I R^T."""
    tensors = []
    for link, rotation in zip(arm.links, rotations, strict=True):
        half = [multiply(link.tensor, row) for row in rotation]
        tensors.append([[dot(row, other) for other in half] for row in rotation])
    return tensors


def compute_inertia(arm: Arm, model: Model) -> Matrix:
    """Return I(q) of (7.58), n rows of n scalars [kg m^2, kg m, kg]."""
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


def compute_bias(request: Request, model: Model) -> list[Scalar]:
    """Return what the drives give at zero acceleration: all of (7.57) but I qdd and T^T w^A.

    That is ``T^T (M Td + W M T) qd - T^T (w^G + w^D)``, and the tip wrench: n scalars.
    """
    arm, qd, wrench = request.arm, request.qd, request.wrench
    term, number = request.bookkeeping
    base = compute_base_state(request)
    # Gravity less the acceleration of the origin of frame 0.
    down: Vector = [-value for value in base.a]
    nothing: Vector = [number(0.0)] * 3
    axis_rates: list[Vector] = []
    joint_rates: list[Vector] = []
    # Velocities are relative to that of the origin of frame 0, which no effort depends on.
    w, cd, center = base.w, nothing, model.joints[0]
    efforts: list[Scalar] = [0.0] * arm.n
    for index, link in enumerate(arm.links):
        term('Td')
        # O_i and e_i move with link i-1.
        joint_rates.append(add(cd, cross(w, subtract(model.joints[index], center))))
        axis_rates.append(cross(w, model.axes[index]))
        term('t')
        # 004 (7.54): t = T qd.
        center = model.centers[index]
        w, cd = _carry_twist(request, base, center, nothing)
        for (angular, linear), inner, rate in zip(model.shape[index], arm.links, qd, strict=False):
            if not inner.is_prismatic:
                w = add(w, scale(rate, angular))
            cd = add(cd, scale(rate, linear))
        term('Td')
        # 004 (7.56), the part Td qd of td, and the rate of t_0.
        wd, cdd = _carry_twist_rate(request, base, center, cd)
        for inner_index in range(index + 1):
            axis, axis_rate = model.axes[inner_index], axis_rates[inner_index]
            rate = qd[inner_index]
            if arm.links[inner_index].is_prismatic:
                cdd = add(cdd, scale(rate, axis_rate))
                continue
            wd = add(wd, scale(rate, axis_rate))
            lever = subtract(center, model.joints[inner_index])
            lever_rate = subtract(cd, joint_rates[inner_index])
            cdd = add(cdd, scale(rate, add(cross(axis_rate, lever), cross(axis, lever_rate))))
        term('bias')
        # 004 (7.57): (M Td + W M T) qd, of which W has the angular velocity only.
        tensor = model.tensors[index]
        moment = add(multiply(tensor, wd), cross(w, multiply(tensor, w)))
        # 004 (7.49): less w^G = [0, m g].
        force = scale(link.mass, subtract(cdd, down))
        if wrench is not None and index == arm.n - 1:
            term('wrench')
            tip_force, tip_moment = arm.tip_load(wrench)
            # From the origin of frame n to the mass centre.
            tip_moment = subtract(tip_moment, cross(link.center_of_mass, tip_force))
            rotation = model.rotations[index]
            force = add(force, multiply(rotation, tip_force))
            moment = add(moment, multiply(rotation, tip_moment))
            term('bias')
        for inner_index, (angular, linear) in enumerate(model.shape[index]):
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
    term, _ = request.bookkeeping
    model = build_model(request.arm, request.q)
    term('I')
    inertia = compute_inertia(request.arm, model)
    rest = compute_bias(request, model)
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
    Covers('standard'),
    compute_efforts,
)
