# SPDX-License-Identifier: Apache-2.0
"""What became of a job: in words, as JSON, and as an exit status."""
import json
import os
import signal

from cluster_hosts.errors import TIMED_OUT


def end_of(status):
    """('exit', 3) or ('signal', 'SIGKILL') of what os.waitpid() told."""
    if os.WIFSIGNALED(status):
        return 'signal', signal.Signals(os.WTERMSIG(status)).name
    return 'exit', os.WEXITSTATUS(status)


class Report:
    def __init__(self, job):
        self.job, self.chosen = job, job.chosen
        times = job.fault_times()
        self.since = max(times) if times else None

    def exempt(self):
        """Ranks whose end was ours to choose."""
        return {fault.target for fault, _ in self.job.done if fault.ends_rank}

    def rank(self, one):
        told = {'rank': one.number, 'host': one.host, 'pid': one.pid,
                'stdout': one.out.kept.decode(errors='replace'), 'stderr': one.err.kept.decode(errors='replace')}
        if one.is_over:
            told['end'], told['status'] = end_of(one.status)
            told['seconds'] = round(one.ended - one.began, 3)
            if self.since is not None:
                told['seconds_after_fault'] = round(one.ended - self.since, 3)
        else:
            told['end'] = 'stopped' if one.is_stopped else 'running'
        return told

    def launcher(self):
        one = self.job.launcher
        told = {'hung': one.hung}
        if one.ended is None:
            told['end'] = 'running'
        else:
            told['end'], told['status'] = end_of(one.status)
            told['seconds'] = round(one.ended - self.job.began, 3)
        return told

    def as_json(self):
        return json.dumps({
            'launcher': self.launcher(),
            'ranks': [self.rank(one) for one in self.job.ranks],
            'faults': [{'kind': fault.kind, 'target': fault.target, 'seconds': round(when - self.job.faults_since, 3)}
                       for fault, when in self.job.done],
            'faults_not_done': [str(fault) for fault in self.chosen.faults
                                if fault not in [done for done, _ in self.job.done]],
            'left': [{'pid': pid, 'name': name, 'command': command} for pid, name, command in self.job.left],
            'segments': [{'host': f'n{host}', 'name': name} for host, name in self.job.segments],
            'timed_out': self.job.timed_out,
            'complaints': self.complaints(),
        }, indent=1) + '\n'

    def lines(self):
        """Everything, for people."""
        for fault, when in self.job.done:
            yield f'{fault.kind} {fault.name_of_target} at {when - self.job.began:.2f} s'
        for one in self.job.ranks:
            yield f'rank {one.number} on {one.host}: ' + self.words(self.rank(one))
        yield 'launcher: ' + ('hangs' if self.job.launcher.hung else self.words(self.launcher()))

    @staticmethod
    def words(told):
        if 'status' not in told:
            return told['end']
        words = f"exit {told['status']}" if told['end'] == 'exit' else f"killed by {told['status']}"
        words += f" after {told['seconds']:.2f} s"
        if 'seconds_after_fault' in told:
            words += f", {told['seconds_after_fault']:.2f} s after the fault"
        return words

    def complaints(self):
        """What is not as it should be, whatever the launcher's own status says."""
        job, all_said = self.job, []
        if job.timed_out:
            all_said.append(f'not over after {self.chosen.timeout:g} s')
        if len(job.ranks) < self.chosen.ranks:
            all_said.append(f'{len(job.ranks)} of {self.chosen.ranks} ranks began')
        for fault in self.chosen.faults:
            if fault not in [done for done, _ in job.done]:
                all_said.append(f'the job was over before: {fault}')
        if job.launcher.hung and not self.chosen.keep_going:
            all_said.append('the launcher hangs')
        if self.chosen.ends_within:
            all_said += self.late()
        if job.left and job.launcher.ended is not None:
            left = [one for one in job.left if one[0] not in [rank.pid for rank in job.ranks if rank.is_stopped]]
            all_said += [f'left behind: {command or name}' for _, name, command in left]
        return all_said

    def late(self):
        for one in self.job.ranks:
            if one.number in self.exempt() or self.since is None:
                continue
            if not one.is_over:
                yield f'rank {one.number} has not ended'
            elif one.status == 0:
                yield f'rank {one.number} ended with 0'
            elif one.ended > self.since + self.chosen.ends_within:
                yield f'rank {one.number} ended {one.ended - self.since:.1f} s after the fault'

    def status(self):
        complaints = self.complaints()
        if self.job.timed_out:
            return TIMED_OUT
        if self.chosen.ends_within or self.job.launcher.ended is None:
            return 1 if complaints else 0
        end, status = end_of(self.job.launcher.status)
        if end == 'signal':
            return 128 + signal.Signals[status]
        return status or (1 if complaints else 0)
