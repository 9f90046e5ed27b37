# SPDX-License-Identifier: Apache-2.0
"""What the command lines of the test machines have in common."""
import argparse
import difflib


class UsageError(Exception):
    """The user's input is wrong; the message names the argument."""
    status = 2


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(message)

    def parse_args(self, args=None, namespace=None):
        """An option that there is not is answered by the one that is near."""
        found, unknown = self.parse_known_args(args, namespace)
        if not unknown:
            return found
        word = unknown[0].partition('=')[0]
        if not word.startswith('-'):
            raise UsageError(f"'{word}' is no option; write the program after --")
        near = difflib.get_close_matches(word, self._option_string_actions, 1, 0.7)
        raise UsageError(f"no option '{word}'" + (f"; did you mean '{near[0]}'?" if near else
                                                  f'; {self.prog} --help lists them'))


def number(text):
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number") from None


def seconds(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds")
    return value
