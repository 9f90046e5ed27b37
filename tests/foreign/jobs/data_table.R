# SPDX-License-Identifier: Apache-2.0
# R's data.table: sorts, groups, writes and reads by threads of OpenMP.
suppressMessages(library(data.table))
setDTthreads(0)
set.seed(1)
n <- 3e5
table <- data.table(g = sample(1e4, n, TRUE), h = sample(50L, n, TRUE), v = runif(n))
for (i in 1:2) {
  setorder(table, g, h)
  groups <- table[, .(s = sum(v), m = mean(v)), by = .(h, g)]
  setorder(table, v)
}
file <- tempfile()
fwrite(groups, file)
again <- fread(file)
cat(unname(tools::md5sum(file)), sprintf("%a", sum(again$s)), "\n")
