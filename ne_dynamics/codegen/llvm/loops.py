"""The loop over the samples of a batch.

Rows of samples are turned into vectors in a tile of memory, a row a lane, so that what the
optimiser knows of the rows does not matter; a rest of fewer rows is computed one by one.
"""

from __future__ import annotations

from ne_dynamics.codegen.llvm.equations import choose_lanes
from ne_dynamics.codegen.llvm.lanes import format_type
from ne_dynamics.codegen.program import Program

ALIGNMENT = 64
"""Of the tile [bytes]."""


def measure_tile(program: Program) -> int:
    """Return the size of the memory that ``batch`` works in [bytes]; it may be 0."""
    lanes = choose_lanes(program)
    if lanes == 1:
        return 0
    return 8 * lanes * (sum(count for _, count in program.own_inputs) + len(program.outputs))


def write_batch(program: Program) -> str:
    """Return ``i64 @batch(i64 count, ptr, ..., ptr out, ptr tile)``.

    Samples are rows; the tile is aligned memory of :func:`measure_tile`. The result is -1, or the
    first sample of the group in which a result cannot be relied on; the rows before it are done.
    """
    lanes = choose_lanes(program)
    if lanes == 1:
        return _write_loop(program, 1)
    return '\n\n'.join(
        [
            _write_transposition('to_vectors', True, lanes),
            _write_transposition('to_rows', False, lanes),
            _write_loop(program, lanes),
        ]
    )


def _write_transposition(name: str, rows_to_vectors: bool, count: int) -> str:
    """Return ``void @name(ptr rows, ptr vectors, i64 width)``.

    It moves `count` rows to vectors, scalar k of all rows in vector k, or back.
    """
    source, target = ('row', 'vector') if rows_to_vectors else ('vector', 'row')
    lanes = []
    for lane in range(count):
        lanes += [
            f'%r{lane} = mul i64 %width, {lane}',
            f'%ri{lane} = add i64 %r{lane}, %k',
            f'%row{lane} = getelementptr double, ptr %rows, i64 %ri{lane}',
            f'%vi{lane} = add i64 %k8, {lane}',
            f'%vector{lane} = getelementptr double, ptr %vectors, i64 %vi{lane}',
            f'%x{lane} = load double, ptr %{source}{lane}, align 8',
            f'store double %x{lane}, ptr %{target}{lane}, align 8',
        ]
    text = '\n'.join(lanes)
    # Inlined: the width is then known.
    arguments = 'ptr noalias %rows, ptr noalias %vectors, i64 %width'
    return f"""define internal void @{name}({arguments}) alwaysinline {{
entry:
br label %head
head:
%k = phi i64 [ 0, %entry ], [ %next, %body ]
%more = icmp slt i64 %k, %width
br i1 %more, label %body, label %done
body:
%k8 = mul i64 %k, {count}
{text}
%next = add i64 %k, 1
br label %head
done:
ret void
}}"""


def _write_loop(program: Program, lanes: int) -> str:
    groups = range(len(program.inputs))
    own = range(len(program.own_inputs))
    counts = [count for _, count in program.inputs]
    size = len(program.outputs)
    pointers = ', '.join(f'ptr noalias %in{group}' for group in groups)
    shared = [f'ptr %in{len(program.own_inputs)}'] if program.is_shared else []
    rows = ', '.join([*[f'ptr %tp{group}' for group in own], *shared])
    lines = [
        f'define i64 @batch(i64 %count, {pointers}, ptr noalias %out, ptr noalias %tile) {{',
        'entry:',
    ]
    first = '[ 0, %entry ]'
    if lanes > 1:
        first = '[ %i, %head ]'
        lines += _write_groups(program, lanes)
    else:
        lines.append('br label %tail')
    lines += [
        'tail:',
        f'%j = phi i64 {first}, [ %jn, %one ]',
        '%left = icmp slt i64 %j, %count',
        'br i1 %left, label %one, label %done',
        'one:',
        *[f'%tr{g} = mul i64 %j, {counts[g]}' for g in own],
        *[f'%tp{g} = getelementptr double, ptr %in{g}, i64 %tr{g}' for g in own],
        f'%to = mul i64 %j, {size}',
        '%tq = getelementptr double, ptr %out, i64 %to',
        f'%fine = call i1 @single({rows}, ptr %tq)',
        '%jn = add i64 %j, 1',
        'br i1 %fine, label %tail, label %refuse',
        'refuse:',
        'ret i64 %j',
        'done:',
        'ret i64 -1',
        '}',
    ]
    return '\n'.join(lines)


def _write_groups(program: Program, lanes: int) -> list[str]:
    """Write the loop over whole groups of samples."""
    groups = range(len(program.own_inputs))
    counts = [count for _, count in program.own_inputs]
    size = len(program.outputs)
    vector = format_type(lanes)
    shared = [f'ptr %in{len(groups)}'] if program.is_shared else []
    tiles = ', '.join([*[f'ptr %tile{group}' for group in groups], *shared])
    starts = [sum(counts[:group]) for group in groups]
    lines = [
        *[f'%tile{g} = getelementptr {vector}, ptr %tile, i64 {starts[g]}' for g in groups],
        f'%otile = getelementptr {vector}, ptr %tile, i64 {sum(counts)}',
        f'%whole = and i64 %count, {-lanes}',
        'br label %head',
        'head:',
        '%i = phi i64 [ 0, %entry ], [ %next, %store ]',
        '%more = icmp slt i64 %i, %whole',
        'br i1 %more, label %load, label %tail',
        'load:',
    ]
    for group in groups:
        lines += [
            f'%row{group} = mul i64 %i, {counts[group]}',
            f'%p{group} = getelementptr double, ptr %in{group}, i64 %row{group}',
            f'call void @to_vectors(ptr %p{group}, ptr %tile{group}, i64 {counts[group]})',
        ]
    return [
        *lines,
        f'%good = call i1 @several({tiles}, ptr %otile)',
        'br i1 %good, label %store, label %bad',
        'bad:',
        'ret i64 %i',
        'store:',
        f'%orow = mul i64 %i, {size}',
        '%o = getelementptr double, ptr %out, i64 %orow',
        f'call void @to_rows(ptr %o, ptr %otile, i64 {size})',
        f'%next = add i64 %i, {lanes}',
        'br label %head',
    ]
