# SPDX-License-Identifier: Apache-2.0
"""Programs of Debian that use OpenMP, on small inputs made here."""
import os
import random

from programs import JOBS, Program

PYTHON = "/usr/bin/python3"  # Debian's, for its packages
OPENBLAS = "/usr/lib/x86_64-linux-gnu/openblas-openmp"
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
SHORT = ("FastTreeMP", "MUSCLE", "CD-HIT")  # small packages, small programs


def sequences(count, length, letters):
    """A family of them, as FASTA: each is one of the last twenty with some letters changed."""
    r = random.Random(2)
    family = [[r.choice(letters) for _ in range(length)]]
    while len(family) < count:
        family.append([r.choice(letters) if r.random() < 0.05 else old for old in r.choice(family[-20:])])
    return "".join(f">s{i}\n{''.join(s)}\n" for i, s in enumerate(family)).encode()


def image(width, height):
    r = random.Random(1)
    return b"P6\n%d %d\n255\n" % (width, height) + bytes(
        value for y in range(height) for x in range(width)
        for value in ((x * 7 ^ y * 3) & 255, x * y >> 4 & 255, r.randrange(256)))


WATER = b"""#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
"""
DYNAMICS = b"""integrator = md
nsteps = 50
dt = 0.001
nstenergy = 10
cutoff-scheme = Verlet
coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
gen-vel = yes
gen-seed = 1
"""


def debian(clang_library):
    """{name: program}; in the last of them takes part a library that clang has built, where it is there."""
    return {
        "GraphicsMagick": Program(
            ["gm", "convert", "in.ppm", "-blur", "0x5", "-sharpen", "0x2", "-median", "2", "-resize", "150%",
             "-modulate", "110,90,120", "-equalize", "-emboss", "1", "-swirl", "90", "out.ppm"],
            {"in.ppm": image(400, 300)}, files=["out.ppm"]),
        "ImageMagick": Program(
            ["convert-im6.q16", "in.ppm", "-resize", "300%", "-charcoal", "2", "out.ppm"],
            {"in.ppm": image(400, 300)}, files=["out.ppm"]),
        "FastTreeMP": Program(["fasttreeMP", "-quiet", "-nt", "in.fa"], {"in.fa": sequences(60, 200, "ACGT")}),
        "Clustal Omega": Program(
            ["clustalo", "-i", "in.fa", "--iter=1", "--threads=2"],
            {"in.fa": sequences(80, 150, "ACDEFGHIKLMNPQRSTVWY")}),
        "MUSCLE": Program(["muscle", "-align", "in.fa", "-output", "out.fa"],
                          {"in.fa": sequences(16, 150, "ACDEFGHIKLMNPQRSTVWY")}, files=["out.fa"]),
        "CD-HIT": Program(["cd-hit-est", "-i", "in.fa", "-o", "out", "-T", "0"],
                          {"in.fa": sequences(300, 400, "ACGT")}, files=["out", "out.clstr"], prints=False),
        "par2": Program(["par2", "create", "-q", "-r20", "data"], {"data": image(600, 600)}, files=["*.par2"]),
        "Tesseract": Program(
            ["tesseract", "text.png", "-"], needs=["gm", FONT],
            before=[["gm", "convert", "-size", "700x200", "xc:white", "-font", FONT, "-pointsize", "32",
                     "-draw", 'text 20,60 "The quick brown fox jumps"', "text.png"]]),
        "GROMACS": Program(
            ["gmx", "-quiet", "mdrun", "-s", "in.tpr", "-deffnm", "out", "-ntmpi", "1", "-reprod", "-pin", "off"],
            {"topol.top": WATER, "run.mdp": DYNAMICS}, files=["out.gro", "out.edr"], prints=False,
            before=[["gmx", "solvate", "-cs", "spc216", "-box", "3", "3", "3", "-o", "in.gro", "-p", "topol.top"],
                    ["gmx", "grompp", "-f", "run.mdp", "-c", "in.gro", "-p", "topol.top", "-o", "in.tpr"]]),
        "numpy, OpenBLAS": Program([PYTHON, str(JOBS / "blas.py")], environment={"LD_LIBRARY_PATH": OPENBLAS},
                                   needs=[OPENBLAS, "/usr/lib/python3/dist-packages/numpy"]),
        "scikit-learn": Program(
            [PYTHON, str(JOBS / "learn.py"), *([clang_library] if os.path.exists(clang_library) else [])],
            environment={"LD_LIBRARY_PATH": OPENBLAS},
            needs=[OPENBLAS, "/usr/lib/python3/dist-packages/sklearn"]),
        "R, data.table": Program(["Rscript", "--vanilla", str(JOBS / "data_table.R")],
                                 needs=["/usr/lib/R/site-library/data.table"]),
    }
