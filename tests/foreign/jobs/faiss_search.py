# SPDX-License-Identifier: Apache-2.0
"""faiss: nearest neighbours, exactly and by inverted lists."""
import faiss

from answer import classes, tell

points, _ = classes(10000, 32)
exact = faiss.IndexFlatL2(32)
exact.add(points)
lists = faiss.IndexIVFFlat(faiss.IndexFlatL2(32), 32, 32)
lists.train(points)
lists.add(points)
lists.nprobe = 8
tell(*exact.search(points[:500], 10), *lists.search(points[:500], 10))
