"""The clockwork of the benchmark: turns, medians, ratios, agreement. No wall-clock time."""

import numpy as np
import pytest

from benchmark.timing import (
    Contender,
    DisagreementError,
    Times,
    measure,
    require_agreement,
)


def recording(log, name):
    """Return a contender that writes its name down."""
    return Contender(name, 'log(name)', {'log': log.append, 'name': name})


def test_ratio_is_that_of_the_medians():
    """The ratio is median over median; the quartiles are those of the ratios by round."""
    ours = Times('a', np.array([1.0, 2.0, 3.0, 4.0, 100.0]))
    theirs = Times('b', np.array([2.0, 4.0, 6.0, 16.0, 200.0]))
    ratio = ours.ratio_to(theirs)
    assert ratio.value == 3.0 / 6.0
    by_round = [0.5, 0.5, 0.5, 0.25, 0.5]
    assert (ratio.low, ratio.high) == tuple(np.percentile(by_round, (25, 75)))


def test_contenders_take_turns():
    """Every round runs every contender once, and every round starts with another one."""
    log, rounds = [], []

    def renew():
        rounds.append(len(log))

    contenders = [recording(log, name) for name in 'abc']
    times = measure(contenders, 6, renew, sample_duration=1e-9)
    turns = [
        ''.join(dict.fromkeys(log[begin:end]))
        for begin, end in zip(rounds, [*rounds[1:], len(log)], strict=True)
    ]
    assert turns == ['abc', 'bca', 'cab', 'abc', 'bca', 'cab']
    assert [list(times), times['b'].seconds.shape] == [['a', 'b', 'c'], (6,)]


def test_disagreement_is_an_error_with_a_name():
    """Who computes something else is not timed: the error says who, and by how much."""
    expected = np.array([1.0, -2.0])
    right = Contender('right', 'x', {'x': expected + 1e-12})
    require_agreement([right], expected)
    for other, said in (
        (expected + 1e-6, r'wrong: expected .* got a difference of 5e-07'),
        (np.zeros(3), r'shape \(2,\), got \(3,\)'),
        (np.full(2, np.nan), r'wrong: .* got a difference of nan'),
    ):
        with pytest.raises(DisagreementError, match=said):
            require_agreement([right, Contender('wrong', 'x', {'x': other})], expected)


def test_friction_is_added_for_those_without_it():
    """A contender without joint friction is compared after friction is added, others as is."""
    friction = np.array([0.5, 0.25])
    expected = np.array([1.5, 2.25])
    without = Contender('without', 'x', {'x': expected - friction})
    with_it = Contender('with', 'x', {'x': expected}, friction=True)
    require_agreement([without, with_it], expected, friction)
