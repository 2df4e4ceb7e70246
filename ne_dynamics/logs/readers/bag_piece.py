"""Pieces of a ROS 2 bag: messages between two times of reception."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ne_dynamics.logs.piece_samples import PieceSamples
from ne_dynamics.logs.readers.bag import JointStateBag, find_folder
from ne_dynamics.logs.readers.joint_state_cdr import generate_messages, generate_rows
from ne_dynamics.model.rigid_body import FloatArray

SLACK = 0.1
"""Reception may be so much earlier or later than the stamp, beside the overlap [s]."""

FIRST_MESSAGES = 2000
"""Messages by which it is decided whether headers have stamps."""


@dataclass(frozen=True)
class BagLayout:
    """What a bag has.

    Attributes
    ----------
    path : Path
        Absolute.
    topic : str
    recorded, joint_names : tuple of str
        Joints as the log calls them, and as the model does.
    first, end : int
        Times of reception: of the first message, and after the last one [ns].
    count : int
        Messages of the topic.
    is_stamped : bool
        Whether headers have stamps.
    bag : JointStateBag
        Open from the first piece that is read to the one at its end.
    """

    path: Path
    topic: str
    recorded: tuple[str, ...]
    joint_names: tuple[str, ...]
    first: int
    end: int
    count: int
    is_stamped: bool
    bag: JointStateBag = field(compare=False, repr=False)

    @classmethod
    def find(
        cls,
        path: Path,
        recorded: tuple[str, ...],
        joint_names: tuple[str, ...],
        topic: str | None,
    ) -> BagLayout:
        """Return the layout of a bag.

        Raises
        ------
        InputError
            When it cannot be read, or the topic is not told.
        MissingDependencyError
            When the library `rosbags` is missing.
        """
        bag = JointStateBag(path.absolute(), topic)
        with bag.lend() as (reader, connections):
            is_stamped = False
            for number, (message, _) in enumerate(generate_messages(reader, connections)):
                is_stamped = message.time != 0.0
                if is_stamped or number > FIRST_MESSAGES:
                    break
            first, end = int(reader.start_time), int(reader.end_time) + 1
            count = sum(int(item.msgcount) for item in connections)
            name = str(connections[0].topic)
        return cls(
            path.absolute(), name, recorded, joint_names, first, end, count, is_stamped, bag
        )

    def list_pieces(self, samples: float, overlap: float, time_factor: float) -> list[BagPiece]:
        """Return pieces of about so many samples that cover the bag.

        Parameters
        ----------
        samples : float
        overlap : float
            Time to either side that is needed [s].
        time_factor : float
            Of the stamps.
        """
        count = max(1, math.ceil(self.count / samples))
        borders = [self.first + (self.end - self.first) * i // count for i in range(count + 1)]
        margin = round(1e9 * (overlap + SLACK))
        return [
            BagPiece(self, first, end, margin, time_factor)
            for first, end in itertools.pairwise(borders)
        ]

    def list_parts(self, number: int, samples: float, time_factor: float) -> list[BagPiece]:
        """Return some parts of about so many samples, well spread."""
        length = round((self.end - self.first) * samples / max(self.count, 1))
        rest = self.end - length - self.first
        firsts = [self.first + rest * i // max(number - 1, 1) for i in range(number)]
        return [BagPiece(self, first, first + length, 0, time_factor) for first in firsts]


@dataclass(frozen=True)
class BagPiece:
    """Messages received from one time to before another [ns], and those within a margin [ns]."""

    layout: BagLayout
    first: int
    end: int
    margin: int
    time_factor: float

    def read(self) -> PieceSamples:
        """Return the samples.

        Raises
        ------
        InputError
            When a message cannot be read.
        """
        layout = self.layout
        parts: tuple[list[FloatArray], ...] = ([], [], [])
        dropped: Counter[str] = Counter()
        start, stop = self.first - self.margin, self.end + self.margin
        with layout.bag.lend() as (reader, connections):
            for rows in generate_rows(reader, connections, layout.recorded, start, stop):
                times = rows.stamps if layout.is_stamped else 1e-9 * rows.received
                table = np.column_stack([self.time_factor * times, rows.values])
                which = (rows.received >= self.first).astype(int) + (rows.received >= self.end)
                for number, part in enumerate(parts):
                    part.append(table[(which == number) & (rows.reasons == 0)])
                dropped.update(rows.count_dropped(which == 1))
        if self.end == layout.end:
            layout.bag.close()
        width = 1 + 3 * len(layout.joint_names)
        tables = [np.concatenate([np.zeros((0, width)), *part]) for part in parts]
        place = f'{1e-9 * (self.first - layout.first):.1f} s after its first message'
        return PieceSamples.of_rows(
            layout.joint_names, tables, dropped, str(find_folder(layout.path)), place
        )
