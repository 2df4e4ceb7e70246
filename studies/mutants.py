"""Plant faults into one room of the package, and tell which of them its tests see.

python -m studies.mutants ne_dynamics/motion --tests test/motion test/golden --count 10 --seed 1

The places are drawn at random, the same for the same seed and code, in turns of four kinds: a
sign, an index, a limit (`<` for `>`) and a unit (a constant or a quotient off by a factor). Each
fault is planted in a copy of the checkout, and the tests run there until the first fails. A fault
that no test sees is either one that changes nothing, or a gap.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = ('sign', 'index', 'limit', 'unit')
SIGNS: dict[type, type] = {ast.Add: ast.Sub, ast.Sub: ast.Add}
LIMITS: dict[type, type] = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}


@dataclass(frozen=True)
class Mutant:
    """One fault: where it stands, and the text that it replaces."""

    path: Path
    line: int
    kind: str
    start: int
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        before, after = (' '.join(text.split())[:60] for text in (self.before, self.after))
        return f'{self.kind:5} {self.path}:{self.line}  {before}  ->  {after}'


def mutate(node: ast.expr) -> tuple[str, ast.expr] | None:
    """Return kind and replacement of an expression; None where none of the faults fits."""
    changed = copy.deepcopy(node)
    match changed:
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left) if not isinstance(left, ast.Constant):
            changed.op = SIGNS[type(changed.op)]()
            return 'sign', changed
        case ast.BinOp(op=ast.Div()):
            changed.op = ast.Mult()
            return 'unit', changed
        case ast.Constant(value=float(value)) if value != 0.0:
            return 'unit', ast.Constant(10.0 * value)
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            return 'sign', operand
        case ast.Subscript(slice=ast.Constant(value=int(index))):
            changed.slice = ast.Constant(index - 1 if index > 0 else index + 1)
            return 'index', changed
        case ast.Compare(ops=[op]) if type(op) in LIMITS:
            changed.ops = [LIMITS[type(op)]()]
            return 'limit', changed
    return None


def find_mutants(path: Path) -> Iterator[Mutant]:
    """Return the faults that can be planted into the functions of a file."""
    text = path.read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, kind, changed in find_changes(ast.parse(text)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[operator]
        before, after = text[start:end].decode(), f'({ast.unparse(changed)})'
        yield Mutant(path.relative_to(ROOT), node.lineno, kind, start, end, before, after)


def find_changes(tree: ast.Module) -> Iterator[tuple[ast.expr, str, ast.expr]]:
    """Yield expressions in functions, each with kind and replacement."""
    for each in ast.walk(tree):
        if isinstance(each, ast.FunctionDef):
            for node in (inner for statement in each.body for inner in ast.walk(statement)):
                if isinstance(node, ast.expr) and (found := mutate(node)) is not None:
                    yield node, *found


def draw(room: Path, count: int, seed: int, kinds: Sequence[str] = KINDS) -> list[Mutant]:
    """Return so many faults of a room, of all kinds in turn."""
    found = defaultdict[str, set[Mutant]](set)
    for path in sorted(room.rglob('*.py')) if room.is_dir() else [room]:
        for mutant in find_mutants(path):
            found[mutant.kind].add(mutant)
    source = random.Random(seed)
    rows = []
    for kind in kinds:
        row = sorted(
            found[kind], key=lambda mutant: (str(mutant.path), mutant.start, mutant.after)
        )
        rows.append(source.sample(row, min(count, len(row))))
    turns = [row[turn] for turn in range(count) for row in rows if turn < len(row)]
    return turns[:count]


def find_killer(mutant: Mutant, tests: Sequence[str], seconds: float) -> str:
    """Return the first test that fails with this fault; '' where all pass."""
    with tempfile.TemporaryDirectory() as folder:
        files = subprocess.run(['git', 'ls-files'], cwd=ROOT, capture_output=True, check=True)
        for name in files.stdout.decode().splitlines():
            source, target = ROOT / name, Path(folder, name)
            if source.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
        path = Path(folder, mutant.path)
        text = path.read_bytes()
        path.write_bytes(text[: mutant.start] + mutant.after.encode() + text[mutant.end :])
        command = [sys.executable, '-m', 'pytest', '-x', '-q', '-m', 'not long', *tests]
        command += ['-p', 'no:warnings', '-p', 'no:cacheprovider']
        environment = os.environ | {'PYTHONPATH': folder, 'OPENBLAS_NUM_THREADS': '1'}
        try:
            run = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return f'(not done after {seconds:g} s)'
    if not run.returncode:
        return ''
    lines = [line for line in run.stdout.splitlines() if line.startswith(('FAILED', 'ERROR'))]
    return lines[0].split(' - ')[0] if lines else f'(exit code {run.returncode})'


def main() -> None:
    """Plant the faults one by one and print who sees them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('room', type=Path, help='folder or file of the package')
    parser.add_argument('--tests', nargs='+', required=True, help='files or folders of tests')
    parser.add_argument('--count', type=int, default=10)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--kinds', nargs='+', choices=KINDS, default=KINDS)
    parser.add_argument('--only', type=int, nargs='+', help='numbers of faults; all of them')
    parser.add_argument('--seconds', type=float, default=900.0, help='time limit of one fault')
    arguments = parser.parse_args()
    mutants = draw(
        (ROOT / arguments.room).resolve(), arguments.count, arguments.seed, arguments.kinds
    )
    numbers = arguments.only or range(1, len(mutants) + 1)
    seen = 0
    for number in numbers:
        mutant = mutants[number - 1]
        killer = find_killer(mutant, arguments.tests, arguments.seconds)
        seen += bool(killer)
        print(f'{number:3} {mutant}\n      {killer or "NOT SEEN"}', flush=True)
    print(f'{arguments.room}: {seen} of {len(numbers)} seen')


if __name__ == '__main__':
    main()
