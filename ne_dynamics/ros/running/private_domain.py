"""A DDS domain of one's own on this machine; needs no ROS."""

from __future__ import annotations

import os
import socket
from functools import cache

FIRST_DOMAIN, DOMAINS = 20, 80
"""Domain ids that every platform allows, away from the default 0."""

_held: list[socket.socket] = []


@cache
def private_domain() -> int:
    """Return a domain that no other process which asks here has, until this one ends.

    On Linux a name in the abstract socket namespace is bound for each: the kernel lets go of it
    with the process, and it belongs to the network namespace, as the ports of the domain do.
    Elsewhere, and when all are taken, the process id chooses.
    """
    for offset in range(DOMAINS):
        domain = FIRST_DOMAIN + (os.getpid() + offset) % DOMAINS
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            holder.bind(f'\0ne_dynamics DDS domain {domain}')
        except OSError:
            holder.close()
            continue
        _held.append(holder)
        return domain
    return FIRST_DOMAIN + os.getpid() % DOMAINS
