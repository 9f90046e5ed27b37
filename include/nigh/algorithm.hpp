// SPDX-License-Identifier: Apache-2.0
#pragma once
// All parallel algorithms of nigh: docs/algorithms.md has the table.

#include <nigh/detail/cxx20.hpp>

#include <nigh/parallel_copy_if.hpp>
#include <nigh/parallel_count.hpp>
#include <nigh/parallel_find.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/parallel_merge.hpp>
#include <nigh/parallel_partition.hpp>
#include <nigh/parallel_reduce.hpp>
#include <nigh/parallel_scan.hpp>
#include <nigh/parallel_sort.hpp>
#include <nigh/parallel_transform.hpp>
#include <nigh/strided.hpp>
