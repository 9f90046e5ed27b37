# SPDX-License-Identifier: Apache-2.0
"""The sections of a report: of a program, or of files of results."""
import program
import results


def of(document):
    return results.sections(document) if "files" in document else program.sections(document)
