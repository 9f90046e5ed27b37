# SPDX-License-Identifier: Apache-2.0
"""What the command lines of the test machines have in common."""
import argparse


class UsageError(Exception):
    """The user's input is wrong; the message names the argument."""
    status = 2


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(message)


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
