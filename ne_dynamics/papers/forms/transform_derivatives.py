"""The 4x4 transforms of a chain and their derivatives by the joint coordinates.

Sources: 001 section 1 and appendix; 003 section 2. T_r^s is the pose of frame s in frame r. In its
derivative by q_j a constant matrix Q multiplies T_{j-1}^s from the left; it only moves rows.
"""

from __future__ import annotations

from ne_dynamics.papers.forms.arm import Arm, DHLink
from ne_dynamics.papers.forms.bookkeeping import bookkeeping
from ne_dynamics.papers.forms.frames import joint_cosine_sine, joint_shift
from ne_dynamics.papers.forms.generic_scalars import ConstantMaker, Matrix, Scalar, Scalars
from ne_dynamics.papers.forms.matrices_4x4 import multiply_4x4


def link_transform(link: DHLink, q: Scalar, number: ConstantMaker = float) -> Matrix:
    """Return T_{i-1}^i of 001 (1.13), 003 (2.1), four rows."""
    c, s = joint_cosine_sine(link, q, number)
    d = joint_shift(link, q) if link.is_prismatic else number(link.constant_shift)
    ca, sa = link.cos_sin_alpha
    zero, one = number(0.0), number(1.0)
    return [
        [c, -(ca * s), sa * s, link.a * c],
        [s, ca * c, -(sa * c), link.a * s],
        [zero, number(sa), number(ca), d],
        [zero, zero, zero, one],
    ]


def _times_q(link: DHLink, a: Matrix, number: ConstantMaker = float) -> Matrix:
    """Return Q_{i-1}^{i-1} a: rows change places, one changes its sign (001 1.5, 003 2.7)."""
    zeros = [number(0.0)] * 4
    if link.is_prismatic:
        return [zeros, zeros, a[3], zeros]
    return [[-x for x in a[1]], a[0], zeros, zeros]


class ChainTransforms:
    """T_r^s for all r <= s, by 001 (1.15), built once from products of neighbours.

    Parameters
    ----------
    arm : Arm
    q : sequence of n scalars

    Attributes
    ----------
    links : tuple of DHLink
    term : callable
        Of the scalars' bookkeeping.
    """

    def __init__(self, arm: Arm, q: Scalars) -> None:
        self.links = arm.links
        self.term, self._number = bookkeeping(*q)
        # The appendix of 001 counts the products of the transforms, not their own entries.
        self.term('T_i')
        n = arm.n
        self._between: dict[tuple[int, int], Matrix] = {}
        for index, (link, position) in enumerate(zip(arm.links, q, strict=True)):
            self._between[index, index + 1] = link_transform(link, position, self._number)
        self.term('T')
        for length in range(2, n + 1):
            for start in range(n - length + 1):
                end = start + length
                # 001 appendix: T_r^s = T_r^{s-1} T_{s-1}^s.
                self._between[start, end] = multiply_4x4(
                    self._between[start, end - 1], self._between[end - 1, end]
                )

    def between(self, start: int, end: int) -> Matrix:
        """Return T_start^end, start < end."""
        return self._between[start, end]

    def _after(self, start: int, matrix: Matrix) -> Matrix:
        """Return T_0^start times a matrix; nothing is multiplied for start 0."""
        return matrix if start == 0 else multiply_4x4(self._between[0, start], matrix)

    def first_derivative(self, q: int, j: int) -> Matrix:
        """Return dT_0^q/dq_j, 1 <= j <= q: T_0^{j-1} Q T_{j-1}^q (001 1.11, 1.18)."""
        turned = _times_q(self.links[j - 1], self._between[j - 1, q], self._number)
        return self._after(j - 1, turned)

    def second_derivative(self, q: int, j: int, k: int) -> Matrix:
        """Return d2T_0^q/dq_j dq_k, 1 <= j <= k <= q (001 1.12, 1.19).

        ERRATUM: the superscripts of Q in (1.11) and (1.12) are printed i-1; they are j-1, k-1.
        """
        turned = _times_q(self.links[k - 1], self._between[k - 1, q], self._number)
        if k > j:
            turned = multiply_4x4(self._between[j - 1, k - 1], turned)
        return self._after(j - 1, _times_q(self.links[j - 1], turned, self._number))

    def derivatives(
        self,
    ) -> tuple[dict[tuple[int, int], Matrix], dict[tuple[int, int, int], Matrix]]:
        """Return all first and second derivatives by the strategy of 001's appendix.

        Returns
        -------
        first : dict
            By (q, j), 1 <= j <= q.
        second : dict
            By (q, j, k), 1 <= j <= k <= q.
        """
        first: dict[tuple[int, int], Matrix] = {}
        second: dict[tuple[int, int, int], Matrix] = {}
        for q in range(1, len(self.links) + 1):
            for j in range(1, q + 1):
                self.term('dT')
                # 001 appendix: q - 1 products a link, for j = 1 none.
                turned = _times_q(self.links[j - 1], self._between[j - 1, q], self._number)
                first[q, j] = self._after(j - 1, turned)
                self.term('d2T')
                # 001 appendix: q (q - 1) / 2 products a link.
                again = _times_q(self.links[j - 1], turned, self._number)
                second[q, j, j] = self._after(j - 1, again)
                for i in range(1, j):
                    if i == 1:
                        second[q, i, j] = _times_q(self.links[0], first[q, j], self._number)
                    else:
                        second[q, i, j] = multiply_4x4(first[j - 1, i], turned)
        return first, second
