# SPDX-License-Identifier: Apache-2.0
"""What is done to whom, and when, as values."""
import dataclasses

from arguments import UsageError

TO_RANKS = {
    'kill': 'SIGKILL',
    'stop': 'SIGSTOP',
    'continue': 'SIGCONT',
    'exit': '_exit(0)',
}
TO_HOSTS = {
    'link-down': 'both ends of its link see that it is down',
    'link-up': 'the opposite',
    'cut': 'frames vanish, and nobody is told',
}


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str
    target: int  # a rank from 0, or a host from 1
    seconds: float  # since all ranks began, or since the text to wait for

    @property
    def is_for_rank(self):
        return self.kind in TO_RANKS

    @property
    def ends_rank(self):
        """The rank's own end tells nothing about how the others learned of it."""
        return self.kind in ('kill', 'stop', 'exit')

    @property
    def name_of_target(self):
        return f'rank {self.target}' if self.is_for_rank else f'n{self.target}'

    def __str__(self):
        return f'{self.kind} {self.name_of_target} after {self.seconds:g} s'


def parse(text, hosts, ranks):
    parts = text.split(':')
    kinds = ', '.join((*TO_RANKS, *TO_HOSTS))
    if len(parts) != 3 or parts[0] not in (*TO_RANKS, *TO_HOSTS):
        raise UsageError(f"--fault: '{text}' is not KIND:RANK:SECONDS or KIND:HOST:SECONDS with KIND one of {kinds}")
    kind, target, seconds = parts
    try:
        fault = Fault(kind, int(target.removeprefix('n') if kind in TO_HOSTS else target), float(seconds))
    except ValueError:
        raise UsageError(f"--fault: '{text}': '{target}' or '{seconds}' is no number") from None
    if fault.is_for_rank and not 0 <= fault.target < ranks:
        raise UsageError(f"--fault: '{text}': there is no rank {target}; there are {ranks}, from 0")
    if not fault.is_for_rank and not 1 <= fault.target <= hosts:
        raise UsageError(f"--fault: '{text}': there is no host {target}; there are {hosts}, from n1")
    if not 0 <= fault.seconds < 1e6:
        raise UsageError(f"--fault: '{text}': '{seconds}' is no time to wait")
    return fault
