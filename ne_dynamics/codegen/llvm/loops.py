"""The loop over the samples of a batch.

Rows of samples are turned into vectors in a tile of memory, a row a lane, so that what the
optimiser knows of the rows does not matter; a rest of fewer rows is computed one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ne_dynamics.codegen.llvm.lanes import format_type
from ne_dynamics.codegen.program import Program

ALIGNMENT = 64
"""Of the tile [bytes]."""

PAIR = 2
"""Scalars of a row that are transposed at a time, in registers."""

_PAIR = format_type(PAIR)


def measure_tile(program: Program, lanes: int) -> int:
    """Return the size of the memory that ``batch`` works in [bytes]; it may be 0."""
    if lanes == 1:
        return 0
    return 8 * lanes * (sum(count for _, count in program.own_inputs) + len(program.outputs))


def write_batch(program: Program, lanes: int) -> str:
    """Return ``i64 @batch(i64 count, ptr, ..., ptr out, ptr tile)``.

    Samples are rows; the tile is aligned memory of :func:`measure_tile`. The result is -1, or the
    first sample of the group in which a result cannot be relied on; the rows before it are done.
    """
    if lanes == 1:
        return _write_loop(program, 1)
    return '\n\n'.join(
        [
            _write_transposition('to_vectors', _gather(lanes), lanes),
            _write_transposition('to_rows', _scatter(lanes), lanes),
            _write_loop(program, lanes),
        ]
    )


def _write_transposition(name: str, moves: Sequence[str], count: int) -> str:
    """Return ``void @name(ptr rows, ptr vectors, i64 width)`` for rows of at least two scalars.

    It moves `count` rows to vectors, scalar k of all rows in vector k, or back: two scalars of
    each row at a time, by `moves`. The last two begin where the row ends with them.
    """
    lines: list[str] = []
    for row in range(count):
        lines += [
            f'%r{row} = mul i64 %width, {row}',
            f'%ri{row} = add i64 %r{row}, %k',
            f'%row{row} = getelementptr double, ptr %rows, i64 %ri{row}',
        ]
    for place in range(PAIR):
        lines += [
            f'%vi{place} = add i64 %k, {place}',
            f'%vector{place} = getelementptr {format_type(count)}, ptr %vectors, i64 %vi{place}',
        ]
    text = '\n'.join([*lines, *moves])
    # Inlined: the width is then known.
    arguments = 'ptr noalias %rows, ptr noalias %vectors, i64 %width'
    return f"""define internal void @{name}({arguments}) alwaysinline {{
entry:
%last = sub i64 %width, {PAIR}
br label %head
head:
%j = phi i64 [ 0, %entry ], [ %next, %body ]
%more = icmp slt i64 %j, %width
br i1 %more, label %body, label %done
body:
%over = icmp sgt i64 %j, %last
%k = select i1 %over, i64 %last, i64 %j
{text}
%next = add i64 %j, {PAIR}
br label %head
done:
ret void
}}"""


def _turns(odd: int, count: int) -> list[int]:
    """Return the even lanes, or the odd ones, of two vectors in turns.

    Of pairs of even rows and pairs of odd rows that is one scalar of all rows, and back.
    """
    return [lane for even in range(0, count, PAIR) for lane in (even + odd, count + even + odd)]


def _gather(count: int) -> list[str]:
    """Return the instructions that move a pair of each row to two vectors."""
    kind = format_type(count)
    lines = [f'%x{row} = load {_PAIR}, ptr %row{row}, align 8' for row in range(count)]
    for odd in range(PAIR):
        lines += _concatenate(f'%e{odd}', [f'%x{row}' for row in range(odd, count, PAIR)], PAIR)
    for place in range(PAIR):
        lines += [
            _shuffle(f'%y{place}', '%e0', '%e1', _turns(place, count), kind),
            f'store {kind} %y{place}, ptr %vector{place}, align {8 * count}',
        ]
    return lines


def _scatter(count: int) -> list[str]:
    """Return the instructions that move two vectors to a pair of each row."""
    kind = format_type(count)
    lines = [
        f'%y{place} = load {kind}, ptr %vector{place}, align {8 * count}' for place in range(PAIR)
    ]
    lines += [_shuffle(f'%e{odd}', '%y0', '%y1', _turns(odd, count), kind) for odd in range(PAIR)]
    for row in range(count):
        even = row - row % PAIR
        lines += [
            _shuffle(f'%x{row}', f'%e{row % PAIR}', 'undef', (even, even + 1), kind),
            f'store {_PAIR} %x{row}, ptr %row{row}, align 8',
        ]
    return lines


def _concatenate(name: str, parts: Sequence[str], lanes: int) -> list[str]:
    """Return the instructions that put vectors of some lanes into one, two and two."""
    if len(parts) == 2:
        return [_shuffle(name, parts[0], parts[1], range(2 * lanes), format_type(lanes))]
    middle = len(parts) // 2
    halves = [f'{name}a', f'{name}b']
    return [
        *_concatenate(halves[0], parts[:middle], lanes),
        *_concatenate(halves[1], parts[middle:], lanes),
        *_concatenate(name, halves, lanes * middle),
    ]


def _shuffle(name: str, a: str, b: str, order: Iterable[int], kind: str) -> str:
    """Return the instruction that picks lanes of two vectors."""
    mask = [f'i32 {lane}' for lane in order]
    return (
        f'{name} = shufflevector {kind} {a}, {kind} {b}, <{len(mask)} x i32> <{", ".join(mask)}>'
    )


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


def _move(rows_to_vectors: bool, rows: str, vectors: str, width: int, lanes: int) -> list[str]:
    """Return the instructions that turn rows into vectors, or back."""
    if width >= PAIR:
        name = 'to_vectors' if rows_to_vectors else 'to_rows'
        return [f'call void @{name}(ptr {rows}, ptr {vectors}, i64 {width})']
    source, target = (rows, vectors) if rows_to_vectors else (vectors, rows)
    value, kind = f'{target}_only', format_type(lanes)
    return [
        f'{value} = load {kind}, ptr {source}, align 8',
        f'store {kind} {value}, ptr {target}, align 8',
    ]


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
            *_move(True, f'%p{group}', f'%tile{group}', counts[group], lanes),
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
        *_move(False, '%o', '%otile', size, lanes),
        f'%next = add i64 %i, {lanes}',
        'br label %head',
    ]
