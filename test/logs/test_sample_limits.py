"""Each limit of what counts as a fault of samples: found just inside it, and not just outside."""

from __future__ import annotations

import numpy as np
import pytest
from urdf_text import joint_xml, limit_xml, link_xml, robot_xml

import ne_dynamics as ned
from ne_dynamics.logs.filtered_piece import split_at_gaps
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.samples.effort_faults import (
    find_cut_efforts,
    find_dead_bands,
    find_frozen_efforts,
)
from ne_dynamics.logs.samples.position_jumps import find_lost_samples, find_zero_jumps
from ne_dynamics.logs.samples.sample_faults import find_spikes, find_stale, find_time_unit
from ne_dynamics.logs.source_clock import with_source_clock
from ne_dynamics.logs.stale_samples import without_repeated

STEP = 0.01
"""Between samples [s]: a joint at full speed goes 0.02 rad."""


def make_arm(speed):
    """Return an arm of two joints of a speed [rad/s], 0 for any, and 10 N m."""
    limits = limit_xml(-9, 9, 10, speed)
    joints = (joint_xml(*names, inside=limits) for names in (('a', 'base', '1'), ('b', '1', '2')))
    return ned.load_urdf(robot_xml('base', link_xml('1'), link_xml('2'), *joints))


ARM = make_arm(2)


def make_log(a, effort=None, b=None, step=STEP):
    """Return a log of positions of joint a; b swings, and every effort is another one."""
    times = step * np.arange(len(a))
    b = np.sin(5.0 * STEP * np.arange(len(a))) if b is None else b
    if effort is None:
        effort = 5.0 * np.sin(3.0 * STEP * np.arange(len(a)) + 0.1)
    return Log.from_samples(
        ('a', 'b'), times, np.c_[a, b], np.c_[effort, np.cos(STEP * np.arange(len(a)))]
    )


def swing(count, size=1.0):
    """Return a position that goes up and down, never at one speed."""
    return size * np.sin(2.0 * STEP * np.arange(count))


def cut(count, top, near=0, below=0.0):
    """Return efforts of which `top` are at the top, and `near` so far below it [N m]."""
    effort = np.linspace(-5.0, 4.0, count)
    effort[7 : 7 + top] = 5.0
    effort[600 : 600 + near] = 5.0 - below - 1e-6 * np.arange(near)
    return effort


def is_cut(effort, a=None):
    """Tell whether the effort of joint a is found to be cut off."""
    return find_cut_efforts(ARM, make_log(swing(len(effort)) if a is None else a, effort))[1]


def levels(count):
    """Return an effort of so many values, of which the largest is by far the most usual."""
    effort = np.resize(np.linspace(-5.0, 4.0, count - 1), 1000)
    effort[200:500] = 5.0
    return effort


def steps(below):
    """Return an effort in steps of 1 of which many are so many steps below the largest."""
    effort = np.resize(np.arange(-15.0, 4.0), 1000)
    effort[100:200], effort[200:260] = 9.0, 9.0 - below
    return effort


def waver(part):
    """Return a position at one speed over a run, but for its last quarter: faster by a part."""
    speed = np.full(1000, 0.01)
    speed[:200], speed[400:] = 0.015, 0.005
    speed[375:400] *= 1.0 + part
    return np.cumsum(speed)


def is_dead(share, speed=1.0):
    """Tell whether efforts have a dead band, 0 in a share of the samples at part of a speed."""
    a = np.cumsum(np.where(np.arange(1000) < 900, speed, 1.0)) * 0.01
    effort = np.where(np.arange(1000) % 100 < 100 * share, 0.0, 3.0 + 1e-3 * np.arange(1000))
    effort[900:] = 3.0 + np.arange(100)
    return find_dead_bands(ARM, make_log(a, effort))[1]


def is_frozen(travel):
    """Tell whether an effort is frozen, while its joint goes a part of its range."""
    a = np.concatenate([swing(400), swing(400)[-1] + travel * 2.0 * np.sin(np.arange(80) / 50.0)])
    a = np.concatenate([a, a[-1] + swing(400) * 0.0 + 0.3 * np.sin(np.arange(400) / 40.0)])
    effort = np.sin(np.arange(a.size) / 31.0)
    effort[400:480] = effort[400]
    return find_frozen_efforts(ARM, make_log(a, effort))[1]


def jump(size, *, noise=0.0, speed=0.1, gap=1.0, times=1):
    """Return the jump that is found of a joint that goes at a speed, and jumps by a size."""
    stamps = STEP * np.arange(400)
    stamps[200:] += (gap - 1.0) * STEP
    a = speed * stamps + noise * np.random.default_rng(4).standard_normal(400)
    for place in 200 + 15 * np.arange(times):
        a[place:] += size
    b = np.sin(3.0 * stamps)
    log = Log.from_samples(('a', 'b'), stamps, np.c_[a, b], np.c_[b, a])
    return find_zero_jumps(ARM, log)[1]


def jump_for(count):
    """Return the jump that is found of a joint that is back after so many samples."""
    a = 0.1 * STEP * np.arange(400)
    a[200 : 200 + count] += 0.5
    return find_zero_jumps(ARM, make_log(a))[1]


def lose(count):
    """Return what is found where so many samples were lost, and their times."""
    times = STEP * np.delete(np.arange(500), np.arange(200, 200 + count))
    log = make_log(np.sin(2.0 * times), b=np.cos(3.0 * times))
    return find_lost_samples(ARM, log)[1]


def jump_beside(part):
    """Return the jump that is found while the other joint has a part of its largest speed."""
    count = 400
    a = 0.1 * STEP * np.arange(count) + 0.03 * (np.arange(count) >= 200)
    b = np.cumsum(np.where(np.abs(np.arange(count) - 200) < 50, part, 1.0) * STEP)
    return find_zero_jumps(ARM, make_log(a, b=b))[1]


def jump_alone(size, arm):
    """Return the jump that is found of the only joint that moves."""
    a = 0.1 * STEP * np.arange(400) + size * (np.arange(400) >= 200)
    return find_zero_jumps(arm, make_log(a, b=np.zeros(400)))[1]


def is_stale(speed, every=20):
    """Return what is said of samples of which one in so many repeats the one before."""
    log = make_log(speed * STEP * np.arange(2000), b=np.zeros(2000))
    newest = np.arange(2000)
    newest[every::every] -= 1
    held = (log.position[newest], log.effort[newest])
    return find_stale(ARM, Log.from_samples(('a', 'b'), log.times, *held))[1]


def is_stale_in_steps(count):
    """Tell whether held positions are found where a joint goes so many encoder steps a sample."""
    speed = np.where(np.arange(1000) < 950, count, 1.0)
    a = 1e-3 * np.floor(np.cumsum(speed))
    rows = np.arange(50, 900, 50)
    a[rows] = a[rows - 1]
    return find_stale(ARM, make_log(a, b=np.zeros(1000)))[1]


def spike(size, *, noise=0.0, beside=(0.0, 0.0), at=300, many=1):
    """Return the spike that is found in the position of joint a."""
    a = noise * np.random.default_rng(5).standard_normal(600)
    for place in at + np.arange(many) * 4:
        a[place] += size
        a[place - 1] += beside[0] * size
        a[place + 1] += beside[1] * size
    return find_spikes(ARM, make_log(a))[1]


def ring(part):
    """Return the spike that is found where samples beside it are off by parts of parts of it."""
    a, away = np.zeros(600), np.arange(-15, 16)
    a[300 + away] = (-1.0) ** away * part ** np.abs(away)
    return find_spikes(ARM, make_log(a))[1]


def spike_of_effort(size):
    """Return the spike that is found in efforts that fill a range of 2."""
    effort = np.sin(np.arange(600) / 40.0)
    effort[63] = np.sin(63 / 40.0) - size
    return find_spikes(ARM, make_log(np.zeros(600), effort))[1]


def flicker(step):
    """Return the spike that is found where an effort of few values goes two steps of it, once."""
    effort = np.ones(600)
    effort[300], effort[400:] = 1.0 + 2.0 * step, 1.0 + step
    return find_spikes(ARM, make_log(np.zeros(600), effort))[1]


def unit_of(step):
    """Return what is said of the times of a slow motion with steps that long."""
    return find_time_unit(ARM, make_log(swing(500, 0.02), b=swing(500, 0.01), step=step))[1]


def clock_of(duration=10.0, late=0.0):
    """Tell whether stamps are those of a recorder of 100 Hz, of a source of 97; one is late."""
    stamps = STEP * np.arange(round(duration / STEP))
    measured = np.floor(stamps / 0.0103 + 1e-9) * 0.0103
    stamps[40] += late * STEP
    a, b = np.sin(2.0 * measured), np.cos(3.0 * measured)
    log = Log.from_samples(('a', 'b'), stamps, np.c_[a, b], np.c_[b, a])
    kept = without_repeated(log)
    return with_source_clock(kept, log) is not kept


def pieces(gap):
    """Tell whether a gap of so many steps cuts a log."""
    stamps = STEP * np.arange(100)
    stamps[50:] += (gap - 1.0) * STEP
    log = Log.from_samples(('a', 'b'), stamps, np.zeros((100, 2)), np.zeros((100, 2)))
    return len(split_at_gaps(log, STEP)) > 1


def is_repeated(count):
    """Tell whether a sample that repeats is left out at so many encoder steps a sample."""
    a = 1e-3 * np.floor(count * np.arange(100.0))
    a[90:] = a[90] + 1e-3 * np.arange(10)
    a[50] = a[49]
    log = make_log(a, b=np.zeros(100))
    return without_repeated(log) is not log


def steps_back(count):
    """Return the step of a clock that is set back over so many samples."""
    stamps = np.concatenate(
        [np.arange(50.0), 49.5 - count + np.arange(count), 50.0 + np.arange(9)]
    )
    zeros = np.zeros((stamps.size, 2))
    return Log.from_samples(('a', 'b'), stamps, zeros, zeros).clock_step


def held(count):
    """Return an effort of many values that is at its largest over so many samples."""
    effort = np.linspace(-5.0, 4.0, 1000)
    effort[300 : 300 + count] = 5.0
    return effort


ROWS = (
    ('moving_share', lambda part: is_dead(0.8, part), 0.07, 0.03),
    ('effort_samples', lambda top: is_cut(cut(700, top)), 25, 15),
    ('cut_share', lambda share: is_cut(cut(3000, round(3000 * share))), 0.03, 0.015),
    ('near_share', lambda part: is_cut(cut(1000, 100, 40, 10.0 * part)), 0.015, 0.005),
    ('near_steps', lambda below: is_cut(steps(below)), 2, 1),
    ('crowding', lambda ratio: is_cut(cut(1000, 100, round(100 / ratio), 1e-3)), 7.0, 3.5),
    ('effort_levels', lambda count: is_cut(levels(count)), 25, 15),
    ('steady_speed', lambda part: is_cut(held(100), waver(part)), 0.03, 0.01),
    ('stale_travel', is_frozen, 0.07, 0.03),
    ('steps_around', jump_for, 6, 3),
    ('jump_deviations', lambda size: jump(0.02 * size, noise=0.02 / np.sqrt(2.0)), 20.0, 11.0),
    ('jump_steps', lambda size: jump(0.02 * size, speed=2.0), 3.0, 1.5),
    ('smallest_jump', jump, 0.007, 0.004),
    ('lone_jump_steps', lambda size: jump_alone(0.02 * size, ARM), 4.0, 2.0),
    ('fastest_joint', lambda speed: jump_alone(0.03 * speed, make_arm(0)), 13.0, 7.0),
    ('jump_moving_share', jump_beside, 0.15, 0.07),
    ('most_jumps', lambda times: jump(0.5, times=times), 4, 7),
    ('steps_lost', lose, 12, 5),
    ('longest_step', lambda gap: jump(0.5, gap=gap), 2.5, 4.0),
    ('unlikely_step', unit_of, 0.6, 0.3),
    (
        'harmless_share',
        lambda share: is_stale(1.0, round(1 / share)).severity == 'info',
        0.02,
        0.05,
    ),
    ('crawling_speed', is_stale, 0.03, 0.015),
    ('resolved_steps', is_stale_in_steps, 4.0, 2.0),
    ('spike_deviations', lambda size: spike(0.02 * size, noise=0.02), 16.0, 9.0),
    ('spike_range', lambda size: spike_of_effort(2.0 * size), 1.1, 0.6),
    ('coarsest_step', flicker, 0.4, 0.25),
    ('spike_steps', lambda size: spike(0.02 * size), 4.0, 2.0),
    ('spike_beside', ring, 0.4, 0.7),
    ('spike_beside_ringing', lambda part: spike(1.0, beside=(0.0, part), at=20), 0.2, 0.45),
    ('settling_time', lambda at: spike(1.0, beside=(0.0, 0.4), at=round(at / STEP)), 0.7, 0.4),
    ('most_spikes', lambda share: spike(1.0, many=round(600 * share), at=20), 0.15, 0.23),
    ('clock_gaps', lambda count: clock_of(0.1 + 0.27 * count), 4, 2),
    ('uneven_steps', lambda late: clock_of(late=late), 0.2, 0.8),
    ('largest_gap', pieces, 7.0, 4.0),
    ('encoder_steps', is_repeated, 3, 1),
    ('samples_behind', steps_back, 4, 2),
)


@pytest.mark.parametrize(
    ('find', 'inside', 'outside'), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_a_limit_of_samples_is_where_it_is(find, inside, outside):
    """At twice the limit, or half of it, one of the two would be otherwise."""
    assert find(inside)
    assert not find(outside)
