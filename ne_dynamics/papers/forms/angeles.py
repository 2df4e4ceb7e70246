"""The recursion of a textbook's chapter 7: outward from mass centre to mass centre, inward again.

Source: 004, algorithms 7.4.1 and 7.4.2, equations (7.23)-(7.44). Its frame F_i has its z axis on
joint i and is fixed to link i-1: it is frame i-1 of the standard convention. Quantities of link i
are in F_{i+1}, which is fixed to link i. rho_i runs from O_i (a joint that slides: from the point
of link i that is at O_i when b_i = 0) to the mass centre C_i, delta_i from C_i to O_{i+1}. The
base may move. Viscous friction is that of 000 (2.39).
"""

from __future__ import annotations

from typing import NamedTuple

from ne_dynamics.algorithms.scalars.elementary import add, cross, multiply, scale
from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.papers.forms.arm import DHLink
from ne_dynamics.papers.forms.coverage import Covers
from ne_dynamics.papers.forms.formulation import Formulation, Request
from ne_dynamics.papers.forms.frames import joint_cosine_sine, joint_shift
from ne_dynamics.papers.forms.generic_scalars import ConstantMaker, Scalar, Scalars


class JointRotation:
    """Q_i, which turns vectors of F_{i+1} into F_i, by its components.

    Parameters
    ----------
    link : DHLink
    q : scalar
    number : callable
        For constants, see :class:`~ne_dynamics.papers.forms.bookkeeping.Bookkeeping`.
    """

    def __init__(self, link: DHLink, q: Scalar, number: ConstantMaker) -> None:
        self.cosine, self.sine = joint_cosine_sine(link, q, number)
        twist_cosine, twist_sine = link.cos_sin_alpha
        self.twist_cosine, self.twist_sine = number(twist_cosine), number(twist_sine)

    def to_next(self, v: Scalars) -> Vector:
        """Return Q_i^T v: a vector of F_i in F_{i+1}."""
        # 004 (7.23b).
        r = v[0] * self.sine - v[1] * self.cosine
        # 004 (7.23a).
        return [
            v[0] * self.cosine + v[1] * self.sine,
            v[2] * self.twist_sine - r * self.twist_cosine,
            r * self.twist_sine + v[2] * self.twist_cosine,
        ]

    def to_previous(self, v: Scalars) -> Vector:
        """Return Q_i v: a vector of F_{i+1} in F_i."""
        # 004 (7.24b).
        middle = v[1] * self.twist_cosine - v[2] * self.twist_sine
        # 004 (7.24a). ERRATUM: the scan has v_2 where (7.24b) is meant, in both second terms.
        return [
            v[0] * self.cosine - middle * self.sine,
            v[0] * self.sine + middle * self.cosine,
            self.along_axis(v),
        ]

    def along_axis(self, v: Scalars) -> Scalar:
        """Return the component of a vector of F_{i+1} along the joint: (Q_i v)_z."""
        return v[1] * self.twist_sine + v[2] * self.twist_cosine

    def axis(self) -> Vector:
        """Return Q_i^T e_i: the joint's axis in F_{i+1}."""
        return [0.0, self.twist_sine, self.twist_cosine]


class LinkMotion(NamedTuple):
    """What algorithm 7.4.1 gives of link i, in F_{i+1}.

    Attributes
    ----------
    rotation : JointRotation
        Q_i.
    lever : vector
        From O_i to C_i [m].
    w, wd : vector
        Angular velocity [rad/s] and acceleration [rad/s^2].
    cdd : vector
        Acceleration of the mass centre, less gravity [m/s^2].
    c, cd : vector
        Position [m] and velocity [m/s] of the mass centre relative to the reference point of the
        base; zero when the recursion runs without positions.
    """

    rotation: JointRotation
    lever: Vector
    w: Vector
    wd: Vector
    cdd: Vector
    c: Vector
    cd: Vector


def recur_outward(request: Request, with_positions: bool) -> list[LinkMotion]:
    """Return the motion of every link: algorithm 7.4.1, c_i and cd_i only if they are wanted."""
    arm, q, qd, qdd = request.arm, request.q, request.qd, request.qdd
    term, number = request.bookkeeping
    motion = [0.0] * 9 if request.base_motion is None else request.base_motion
    w: Vector = [number(value) for value in arm.from_base_axes(motion[:3])]
    wd: Vector = [number(value) for value in arm.from_base_axes(motion[3:6])]
    # 004 (7.44): the base accelerates by -g on top of its own motion.
    upward = [a - g for a, g in zip(motion[6:], request.gravity, strict=True)]
    cdd: Vector = [number(value) for value in arm.from_base_axes(upward)]
    # From the reference point of the base, whose motion is given, to O_1.
    delta: Vector = [number(value) for value in arm.base_offset]
    c: Vector = [number(0.0)] * 3
    cd: Vector = [number(0.0)] * 3
    # u_i and v_i serve both cd_i and cdd_i; the document counts them with the first.
    shared = 'cd_i' if with_positions else 'cdd_i'
    motions: list[LinkMotion] = []
    for link, position, rate, acceleration in zip(arm.links, q, qd, qdd, strict=True):
        term('Q_i')
        rotation = JointRotation(link, position, number)
        rho = mass_center_from_joint(link)
        lever = rho
        if link.is_prismatic:
            # ERRATUM: b_i e_i and its rates are printed as of F_{i+1}. They are of F_i, where each
            # is one component: they are added before Q_i^T (the document's own rule above (7.26)).
            shift = joint_shift(link, position)
            term('lever')
            # ERRATUM: (7.38d) takes rho_i as the lever of f_i^P about O_i, but for a joint that
            # slides (7.32d) makes O_i C_i equal to b_i e_i + rho_i.
            lever = add(rho, scale(shift, rotation.axis()))
            term('c_i' if with_positions else 'cdd_i')
            # u_i <- Q_i^T delta_{i-1} + rho_i + b_i e_i
            u = add(rotation.to_next([delta[0], delta[1], delta[2] + shift]), rho)
            if with_positions:
                # c_i <- Q_i^T c_{i-1} + u_i
                c = add(rotation.to_next(c), u)
            term('w_i')
            w_before = w
            # w_i <- Q_i^T w_{i-1}
            w = rotation.to_next(w)
            term(shared)
            # v_i <- w_i x u_i
            v = cross(w, u)
            if with_positions:
                # cd_i <- Q_i^T cd_{i-1} + v_i + bd_i e_i
                cd = add(rotation.to_next([cd[0], cd[1], cd[2] + rate]), v)
            term('wd_i')
            # wd_i <- Q_i^T wd_{i-1}
            wd = rotation.to_next(wd)
            term('cdd_i')
            # cdd_i <- Q_i^T cdd_{i-1} + wd_i x u_i + w_i x (v_i + 2 bd_i e_i) + bdd_i e_i, with
            # w_i x e_i taken in F_i as in (7.30).
            twice = rate + rate
            cdd = rotation.to_next(
                [
                    cdd[0] + twice * w_before[1],
                    cdd[1] - twice * w_before[0],
                    cdd[2] + acceleration,
                ]
            )
            cdd = add(add(cdd, cross(wd, u)), cross(w, v))
        else:
            if with_positions:
                term('c_i')
                # c_i <- Q_i^T (c_{i-1} + delta_{i-1}) + rho_i
                c = add(rotation.to_next(add(c, delta)), rho)
            term('w_i')
            w_before = w
            # w_i <- Q_i^T (w_{i-1} + qd e_i)
            w = rotation.to_next([w[0], w[1], w[2] + rate])
            term(shared)
            # u_{i-1} <- w_{i-1} x delta_{i-1}
            u = cross(w_before, delta)
            # v_i <- w_i x rho_i
            v = cross(w, rho)
            if with_positions:
                # cd_i <- Q_i^T (cd_{i-1} + u_{i-1}) + v_i
                cd = add(rotation.to_next(add(cd, u)), v)
            term('wd_i')
            wd_before = wd
            # wd_i <- Q_i^T (wd_{i-1} + w_{i-1} x qd e_i + qdd e_i), with (7.30) and (7.31)
            wd = rotation.to_next(
                [
                    wd[0] + rate * w_before[1],
                    wd[1] - rate * w_before[0],
                    wd[2] + acceleration,
                ]
            )
            term('cdd_i')
            # cdd_i <- Q_i^T (cdd_{i-1} + wd_{i-1} x delta_{i-1} + w_{i-1} x u_{i-1})
            #          + wd_i x rho_i + w_i x v_i
            inner = add(add(cdd, cross(wd_before, delta)), cross(w_before, u))
            cdd = add(add(rotation.to_next(inner), cross(wd, rho)), cross(w, v))
        delta = mass_center_to_next_joint(link)
        motions.append(LinkMotion(rotation, lever, w, wd, cdd, c, cd))
    return motions


def compute_efforts(request: Request, with_positions: bool = False) -> list[Scalar]:
    """Return the joint efforts that a motion takes.

    With positions, algorithm 7.4.1 runs as printed, with c_i and cd_i, on which no effort depends
    but which tables 7.1 and 7.3 count.
    """
    arm = request.arm
    outward = recur_outward(request, with_positions)
    term, _ = request.bookkeeping
    # 004, algorithm 7.4.2; terms are named by the row of its table 7.2.
    force: Vector = []
    moment: Vector = []
    efforts: list[Scalar] = []
    for index in reversed(range(arm.n)):
        link, last = arm.links[index], index == arm.n - 1
        rotation, lever, w, wd, cdd, _, _ = outward[index]
        term('1' if last else '6')
        # 004 (7.38a), (7.38c): f_i^P <- m_i cdd_i + phi_{i+1}
        f = scale(link.mass, cdd)
        if not last:
            f = add(f, force)
        term('2' if last else '7')
        # 004 (7.38b), (7.38d): the link's own moment.
        n = add(multiply(link.tensor, wd), cross(w, multiply(link.tensor, w)))
        if not last:
            # ... + Q_{i+1} n_{i+1}^P + delta_i x phi_{i+1}
            n = add(add(n, moment), cross(mass_center_to_next_joint(link), force))
        elif request.wrench is not None:
            term('wrench')
            tip_force, tip_moment = arm.tip_load(request.wrench)
            tip_moment = add(tip_moment, cross(mass_center_to_next_joint(link), tip_force))
            # Rows 1 and 2: the document's f, n act ON the last link at its mass centre, so it has
            # minus; f_{n+1}, n_{n+1} of 001 are exerted BY it.
            term('1')
            f = add(f, tip_force)
            term('2')
            n = add(n, tip_moment)
        # ... + rho_i x f_i^P
        n = add(n, cross(lever, f))
        term('tau_i')
        # 004 (7.39), (7.40). ERRATUM: algorithm 7.4.2 takes the z component of n_i^P, f_i^P as
        # of F_i; computed from quantities of link i they are of F_{i+1}, and Q_i is still due.
        efforts.append(rotation.along_axis(f if link.is_prismatic else n))
        if index > 0:
            # ERRATUM: the algorithm has Q_i in front of f_{i+1}^P, n_{i+1}^P; it is Q_{i+1},
            # which takes F_{i+2} to F_{i+1}.
            term('5')
            # phi_{i+1} <- Q_{i+1} f_{i+1}^P
            force = rotation.to_previous(f)
            term('7')
            moment = rotation.to_previous(n)
    return request.add_friction(efforts[::-1])


FORM = Formulation(
    'angeles',
    '004, Angeles, Fundamentals of Robotic Mechanical Systems, chapter 7',
    '004 (7.23)-(7.44), algorithms 7.4.1 and 7.4.2',
    Covers('standard'),
    compute_efforts,
)


def mass_center_from_joint(link: DHLink) -> Vector:
    """Return rho_i in F_{i+1} [m]: constant, without b_i when the joint slides."""
    x, y, z = link.center_of_mass
    if link.is_prismatic:
        return [link.a + x, y, z]
    cosine, sine = link.cos_sin_alpha
    return [link.a + x, link.constant_shift * sine + y, link.constant_shift * cosine + z]


def mass_center_to_next_joint(link: DHLink) -> Vector:
    """Return delta_i = a_i - rho_i in F_{i+1} [m] (7.32a, c): back to the origin of frame i."""
    return [-value for value in link.center_of_mass]
