"""The loops that time what one core does at once."""

import numpy as np
import pytest

from ne_dynamics.codegen.llvm.compiler import toolchain
from ne_dynamics.codegen.llvm.thresholds import LLVM
from ne_dynamics.codegen.python_kernel import PythonKernel
from ne_dynamics.errors import BackendError
from ne_dynamics.papers import robots
from ne_dynamics.papers.studies import lanes
from ne_dynamics.papers.studies.counts import trace_inverse_dynamics


@pytest.fixture
def tools():
    """Return the compiler."""
    try:
        return toolchain()
    except BackendError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize('is_waiting', [True, False])
@pytest.mark.parametrize('count', [1, LLVM.most_lanes])
def test_the_timed_loops_compute_the_inverse_dynamics(tools, count, is_waiting):
    """After several calls the results are the efforts of the inputs, on every lane, and a loop
    that hands results back leaves the inputs as they were.
    """
    program = trace_inverse_dynamics(robots.chain(3))
    engine = tools.load(tools.compile(lanes.write_loops(program)), {})
    inputs = lanes.draw_inputs(program, count)
    before = [array.copy() for array in inputs]
    run = lanes.bind_loop(
        program, engine.address(lanes.loop_name(count, is_waiting)), count, inputs
    )
    efforts = run(5)
    kernel = PythonKernel(program)
    for lane in range(count):
        expected = kernel.single(*(array[:, lane] for array in before))
        np.testing.assert_allclose(efforts[:, lane], expected, rtol=1e-12, atol=1e-12)
    for array, other in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(array, other)


def test_the_study_reports_times_and_instructions(tools):
    """Every row has positive times and more instructions than arithmetic ones, of which a
    multiply-add counts once; the vectors need no more of them than eight calls on one lane.
    """
    report = lanes.study(runs=3, handovers=10, handover_runs=1)
    assert report.data['cycle'] > 0.0
    assert report.data['handover'] > 0.0
    for found in report.data['robots'].values():
        single, several = found['timings']
        assert (single['lanes'], several['lanes']) == (1, LLVM.most_lanes)
        for timing in (single, several):
            assert min(timing['waiting'], timing['free']) > 0.0
            assert timing['instructions'] > timing['arithmetic'] > found['operations'] / 3
        assert several['instructions'] < LLVM.most_lanes * single['instructions']
    assert 'operations in flight' in report.text()
