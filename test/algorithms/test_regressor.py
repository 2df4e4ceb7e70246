"""The cost of the regressor in factors."""

import numpy as np

from ne_dynamics.algorithms.mechanism import build_mechanism
from ne_dynamics.algorithms.regressor import regressor_factors
from ne_dynamics.codegen.symbols import Graph
from ne_dynamics.papers import robots


def test_operations_of_the_factors_grow_with_the_number_of_bodies():
    """Each body of a general chain adds the same operations, some two hundred products."""
    counts = []
    for n in (10, 30, 50):
        graph = Graph()
        arguments = [graph.inputs(stem, n) for stem in ('q', 'qd', 'qdd')]
        plain = build_mechanism(robots.chain(n), regroup=False)
        twists, wrenches = regressor_factors(plain, *arguments, (0.0, 0.0, -9.80665))
        outputs = [value for twist in twists for value in twist]
        outputs += [value for wrench in wrenches for row in wrench for value in row]
        counts.append(graph.count(outputs).multiplications)
    earlier, later = np.diff(counts)
    assert earlier == later
    assert later < 215 * 20
