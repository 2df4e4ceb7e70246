"""How much of what could be done side by side one core does already: pipelines and lanes, timed.

The compiled equations run in loops of our own, without Python in between: one sample or a sample a
lane, each call waiting for the result of the one before or not. A chain of fused
multiply-adds tells the length of a cycle. Times are the shortest of many, so that others on the
machine count little; the instructions are read off the assembly text, which is straight-line.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ne_dynamics.codegen.llvm.compiler import Toolchain, toolchain
from ne_dynamics.codegen.llvm.equations import (
    write_declarations,
    write_several,
    write_single,
)
from ne_dynamics.codegen.llvm.lanes import format_constant, format_type
from ne_dynamics.codegen.llvm.thresholds import LLVM
from ne_dynamics.codegen.program import Program
from ne_dynamics.errors import MissingDependencyError
from ne_dynamics.model.robot import FloatArray
from ne_dynamics.papers import robots
from ne_dynamics.papers.counting.task_graph import build_operation_graph
from ne_dynamics.papers.studies.counts import list_robots, trace_inverse_dynamics
from ne_dynamics.papers.studies.report import Progress, ReportTable, StudyReport, ignore_progress

NAME = 'lanes'
MULTIPLY_ADD_CYCLES = 4
"""Latency of a fused multiply-add on x86 of the last ten years, as its makers print it."""

ARITHMETIC = re.compile(r'^v?(mul|add|sub|div|fn?m(add|sub))\d*[sp]d')


@dataclass(frozen=True)
class LaneTiming:
    """One way of running the equations.

    Attributes
    ----------
    lanes : int
        Samples of a call.
    waiting : float
        Time of a call that waits for the results of the one before [s].
    free : float
        Time of a call when it need not [s].
    instructions, arithmetic : int
        Of a call; the arithmetic ones on doubles among them, a fused one counted once.
    """

    lanes: int
    waiting: float
    free: float
    instructions: int
    arithmetic: int


def study(
    progress: Progress = ignore_progress,
    *,
    runs: int = 400,
    calls: int = 500,
    handovers: int = 200,
    handover_runs: int = 30,
) -> StudyReport:
    """Time the compiled inverse dynamics of a general arm of six joints, of UR5 and of Puma 560.

    Parameters
    ----------
    progress : Progress
    runs, calls : int
        Measurements, of which the shortest counts, and calls in each.
    handovers, handover_runs : int
        Hand-overs between two threads in a measurement, and measurements.

    Raises
    ------
    BackendError
        When the compiler is missing.
    """
    tools = toolchain()
    cases = list_robots(6)
    with contextlib.suppress(MissingDependencyError):
        cases.append(('UR5', robots.ur5().robot))
    measured: list[tuple[str, int, LaneTiming]] = []
    data = {}
    cycle = float('inf')
    for index, (name, robot) in enumerate(cases):
        program = trace_inverse_dynamics(robot)
        operations = build_operation_graph(program)
        timings, cycle_now = measure(program, tools, runs, calls)
        cycle = min(cycle, cycle_now)
        measured += [(name, operations.work, timing) for timing in timings]
        data[name] = {
            'operations': operations.work,
            'critical_path': sum(task.steps for task in operations.find_critical_path()),
            'timings': [vars(timing) for timing in timings],
        }
        progress(index + 1, len(cases) + 1)
    handover = measure_handover(tools, handovers, handover_runs)
    progress(len(cases) + 1, len(cases) + 1)
    return StudyReport(
        NAME,
        (_tabulate(measured, cycle, handover, f'{runs} runs of {calls} calls'),),
        {'cycle': cycle, 'handover': handover, 'robots': data},
    )


def _tabulate(
    measured: Sequence[tuple[str, int, LaneTiming]], cycle: float, handover: float, runs: str
) -> ReportTable:
    rows = []
    for name, work, timing in measured:
        both = timing.waiting, timing.free
        rows.append(
            (
                name,
                str(timing.lanes),
                f'{1e9 * timing.waiting:.0f}',
                f'{1e9 * timing.free:.0f}',
                f'{1e9 * timing.free / timing.lanes:.1f}',
                f'{timing.instructions} ({timing.arithmetic})',
                '; '.join(f'{timing.instructions * cycle / each:.1f}' for each in both),
                '; '.join(
                    f'{work * timing.lanes * MULTIPLY_ADD_CYCLES * cycle / each:.1f}'
                    for each in both
                ),
            )
        )
    return ReportTable(
        'What one core does at once, inverse dynamics compiled',
        (
            'robot',
            'lanes',
            'waiting [ns]',
            'not waiting [ns]',
            'a sample [ns]',
            'instructions',
            'a cycle',
            'operations in flight',
        ),
        rows,
        'Waiting: a call reads the results of the one before. Shortest of '
        f'{runs}. Instructions: all of a call '
        '(arithmetic on doubles, a fused multiply-add once). Of pairs: waiting; not waiting. '
        'Operations in flight: those of the '
        f'traced equations, {MULTIPLY_ADD_CYCLES} cycles each, over the time of the call; sine '
        f'and cosine count as one. A cycle is {1e9 * cycle:.3f} ns, by a chain of multiply-adds. '
        f'A number handed from one thread to another takes {1e9 * handover:.0f} ns.',
    )


def measure(
    program: Program, tools: Toolchain, runs: int, calls: int
) -> tuple[list[LaneTiming], float]:
    """Return the timings on one lane and on all, and the length of a cycle [s].

    The shortest of some runs counts, each of so many calls.
    """
    text = write_loops(program)
    engine = tools.load(tools.compile(text), {})
    assembly = tools.assemble(text)
    cycle = _time_chain(engine.address('chain'), runs)
    timings = []
    for lanes, body in ((1, 'single'), (LLVM.most_lanes, 'several')):
        times = [
            _time_loop(program, engine.address(loop_name(lanes, is_waiting)), lanes, runs, calls)
            for is_waiting in (True, False)
        ]
        mnemonics = _list_mnemonics(assembly, body)
        arithmetic = sum(ARITHMETIC.match(mnemonic) is not None for mnemonic in mnemonics)
        timings.append(LaneTiming(lanes, times[0], times[1], len(mnemonics), arithmetic))
    return timings, cycle


def write_loops(program: Program) -> str:
    """Return a module of the equations on one lane and on all, and the loops that time them."""
    return '\n\n'.join(
        [
            write_declarations(program),
            # Kept apart from the loops that time them.
            *(
                body.replace('ptr noalias %out) {', 'ptr noalias %out) noinline {', 1)
                for body in (
                    write_single(program),
                    write_several(program, LLVM.most_lanes),
                )
            ),
            *(
                _write_loop(program, lanes, is_waiting)
                for lanes in (1, LLVM.most_lanes)
                for is_waiting in (True, False)
            ),
            _CHAIN,
        ]
    )


def loop_name(lanes: int, is_waiting: bool) -> str:
    """Return what a loop is called."""
    return f'{"waiting" if is_waiting else "free"}{lanes}'


def _write_loop(program: Program, lanes: int, is_waiting: bool) -> str:
    """Return a loop of calls; one that waits adds 0 times result k to position k in between."""
    kind = format_type(lanes)
    body = 'single' if lanes == 1 else 'several'
    pointers = ', '.join(f'ptr %in{group}' for group in range(len(program.inputs)))
    lines = []
    for index in range(len(program.outputs)) if is_waiting else ():
        lines += [
            f'%o{index} = getelementptr {kind}, ptr %out, i64 {index}',
            f'%r{index} = load {kind}, ptr %o{index}',
            f'%z{index} = fmul {kind} %r{index}, {format_constant(0.0, lanes)}',
            f'%q{index} = getelementptr {kind}, ptr %in0, i64 {index}',
            f'%x{index} = load {kind}, ptr %q{index}',
            f'%y{index} = fadd {kind} %x{index}, %z{index}',
            f'store {kind} %y{index}, ptr %q{index}',
        ]
    handed_back = '\n'.join(lines)
    return f"""define void @{loop_name(lanes, is_waiting)}(i64 %count, {pointers}, ptr %out) {{
entry:
br label %loop
loop:
%i = phi i64 [ 0, %entry ], [ %next, %loop ]
%fine = call i1 @{body}({pointers}, ptr %out)
{handed_back}
%next = add i64 %i, 1
%more = icmp slt i64 %next, %count
br i1 %more, label %loop, label %done
done:
ret void
}}"""


_CHAIN = """declare double @llvm.fma.f64(double, double, double)

define double @chain(i64 %count, double %first, double %factor) {
entry:
br label %loop
loop:
%i = phi i64 [ 0, %entry ], [ %next, %loop ]
%x = phi double [ %first, %entry ], [ %h, %loop ]
%a = call double @llvm.fma.f64(double %x, double %factor, double %first)
%b = call double @llvm.fma.f64(double %a, double %factor, double %first)
%c = call double @llvm.fma.f64(double %b, double %factor, double %first)
%d = call double @llvm.fma.f64(double %c, double %factor, double %first)
%e = call double @llvm.fma.f64(double %d, double %factor, double %first)
%f = call double @llvm.fma.f64(double %e, double %factor, double %first)
%g = call double @llvm.fma.f64(double %f, double %factor, double %first)
%h = call double @llvm.fma.f64(double %g, double %factor, double %first)
%next = add i64 %i, 1
%more = icmp slt i64 %next, %count
br i1 %more, label %loop, label %done
done:
ret double %h
}"""


_HANDOVER = """define void @pass_on(ptr %cell, i64 %first, i64 %count) {
entry:
br label %turn
turn:
%i = phi i64 [ 0, %entry ], [ %next, %found ]
%twice = mul i64 %i, 2
%awaited = add i64 %twice, %first
br label %look
look:
%seen = load atomic i64, ptr %cell acquire, align 8
%there = icmp eq i64 %seen, %awaited
br i1 %there, label %found, label %look
found:
%answer = add i64 %awaited, 1
store atomic i64 %answer, ptr %cell release, align 8
%next = add i64 %i, 1
%more = icmp slt i64 %next, %count
br i1 %more, label %turn, label %done
done:
ret void
}
"""


def _time_chain(address: int, runs: int) -> float:
    prototype = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_double, ctypes.c_double)
    chain = prototype(address)
    count = 10_000
    shortest = _find_shortest(lambda: chain(count, 1.0, 0.5), runs)
    return shortest / (8 * count * MULTIPLY_ADD_CYCLES)


def _time_loop(program: Program, address: int, lanes: int, runs: int, calls: int) -> float:
    inputs = draw_inputs(program, lanes)
    run = bind_loop(program, address, lanes, inputs)
    return _find_shortest(lambda: run(calls), runs) / calls


def draw_inputs(program: Program, lanes: int) -> list[FloatArray]:
    """Return inputs at random, of each group an array, shape (count, lanes)."""
    rng = np.random.default_rng(0)
    inputs = []
    for _, count in program.inputs:
        array = _aligned(count * lanes).reshape(count, lanes)
        array[:] = rng.uniform(-1.0, 1.0, array.shape)
        inputs.append(array)
    return inputs


def bind_loop(
    program: Program, address: int, lanes: int, inputs: Sequence[FloatArray]
) -> Callable[[int], FloatArray]:
    """Return a function of the number of calls that runs a loop and returns the last results.

    The loop is at an address in memory; the results have the shape (outputs, lanes), the inputs
    are those of :func:`draw_inputs`.
    """
    out = _aligned(len(program.outputs) * lanes).reshape(-1, lanes)
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (len(inputs) + 1))
    loop, places = prototype(address), [array.ctypes.data for array in (*inputs, out)]

    def run(calls: int) -> FloatArray:
        loop(calls, *places)
        return out

    return run


def measure_handover(tools: Toolchain, handovers: int, runs: int) -> float:
    """Return how long a number takes from one thread to another, both looking for it [s].

    The shortest of some runs counts, each of so many hand-overs.
    """
    engine = tools.load(tools.compile(_HANDOVER), {})
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    pass_on = prototype(engine.address('pass_on'))
    shortest = float('inf')
    for _ in range(runs):
        cell = np.zeros(8, dtype=np.int64)
        other = threading.Thread(target=pass_on, args=(cell.ctypes.data, 1, handovers))
        other.start()
        start = time.perf_counter()
        pass_on(cell.ctypes.data, 0, handovers)
        shortest = min(shortest, time.perf_counter() - start)
        other.join()
    return shortest / (2 * handovers)


def _aligned(size: int) -> FloatArray:
    """Return an array of doubles that starts where a vector may."""
    spare = np.zeros(size + LLVM.most_lanes)
    start = (-spare.ctypes.data % (8 * LLVM.most_lanes)) // 8
    return spare[start : start + size]


def _find_shortest(run: Callable[[], object], runs: int) -> float:
    shortest = float('inf')
    for _ in range(runs):
        start = time.perf_counter()
        run()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def _list_mnemonics(assembly: str, function: str) -> list[str]:
    """Return the instructions of a function, one after the other."""
    start = assembly.index(f'\n{function}:')
    end = assembly.index('.Lfunc_end', start)
    lines = assembly[start:end].splitlines()
    return [line.split()[0] for line in lines if re.match(r'\s+[a-z]', line)]
