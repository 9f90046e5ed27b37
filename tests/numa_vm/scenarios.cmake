# SPDX-License-Identifier: Apache-2.0
# Which programs run on which emulated machines.

add_executable(meter_pattern meter_pattern.cpp)
target_include_directories(meter_pattern PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(meter_pattern PRIVATE nigh_flags Threads::Threads)

nigh_numa_vm_script(guest guest_test.py short)
nigh_numa_vm_script(guest_full guest_test.py FULL)
nigh_numa_vm_script(meter meter_test.py $<TARGET_FILE:meter_pattern>)

# One program for all scenarios, so that suites may share a boot.
add_executable(numa_vm_scenarios topology_scenarios_test.cpp memory_scenarios_test.cpp
  tasks_scenarios_test.cpp steal_scenarios_test.cpp loop_scenarios_test.cpp)
target_include_directories(numa_vm_scenarios PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(numa_vm_scenarios PRIVATE nigh nigh_flags GTest::gmock GTest::gtest_main)

nigh_numa_vm_suites(four_nodes SUITES four_nodes MemoryOn4x2 tasks steals loops
  MACHINE --nodes 4 --cores 2 --distances ring)
nigh_numa_vm_suites(memory_only SUITES memory_only_node MemoryOnly memory_only_tasks
  MACHINE --nodes 2 --cores 2 --memory-only 1 --hmat)

nigh_numa_vm_suites(sub_numa_with_smt SUITES sub_numa_with_smt tasks steals FULL
  MACHINE --nodes 4 --cores 2 --threads 2 --nodes-per-socket 2 --distances pairs)
nigh_numa_vm_suites(eight_nodes SUITES tasks steals loops FULL
  MACHINE --nodes 8 --cores 4 --memory 192M)
nigh_numa_vm_suites(one_node SUITES tasks FULL
  MACHINE --nodes 1 --cores 2 --memory 512M)
nigh_numa_vm_suites(in_parallel SUITES tasks steals loops FULL
  MACHINE --nodes 2 --cores 2 --parallel)
set_tests_properties(numa_vm_in_parallel PROPERTIES PROCESSORS 2)
nigh_numa_vm_suites(memoryless_node SUITES memoryless_node MemoryWithAnEmptyNode FULL
  MACHINE --nodes 3 --cores 2 --memory 384M,0,384M --distances 10,20,20/20,10,12/20,12,10)
nigh_numa_vm_suites(offline_cpus SUITES offline_cpus FULL
  MACHINE --nodes 3 --cores 2 --offline 1-3)
nigh_numa_vm_suites(offline_node SUITES offline_node FULL
  MACHINE --nodes 3 --cores 2 --memory 384M,0,384M --distances line --offline 2-3)
nigh_numa_vm_suites(cpuset SUITES cpuset FULL
  MACHINE --nodes 4 --cores 2 --cpuset 2-3,5 --mems 1-2)
nigh_numa_vm_suites(allowed_cpus SUITES MemoryInACpuset FULL
  MACHINE --nodes 4 --cores 2 --cpuset 2-5)
nigh_numa_vm_suites(allowed_nodes SUITES MemoryOfAllowedNodes tasks FULL
  MACHINE --nodes 4 --cores 2 --mems 0-1)
nigh_numa_vm_suites(huge_pages SUITES MemoryWithHugePagesAlways FULL
  MACHINE --nodes 4 --cores 2 --huge-pages always)
nigh_numa_vm_suites(numa_balancing SUITES MemoryUnderBalancing tasks FULL
  MACHINE --nodes 2 --cores 2 --numa-balancing --huge-pages never)

if(TARGET nigh_cli)
  nigh_numa_vm_script(run run_test.py $<TARGET_FILE:nigh_cli>
    ${PROJECT_BINARY_DIR}/tests/cli/programs ${PROJECT_BINARY_DIR}/tests/openmp/programs)
  if(TARGET jacobi2d-blocks)
    set(jacobi2d $<TARGET_FILE:jacobi2d-blocks>)
  endif()
  nigh_numa_vm_script(spread spread_test.py $<TARGET_FILE:nigh_cli>
    ${PROJECT_BINARY_DIR}/tests/openmp/programs ${jacobi2d} FULL)
endif()
include(nigh_peer)
nigh_peer_compiler(NIGH_CLANGXX clang++-19 clang++)
if(TARGET nigh_cli AND NIGH_CLANGXX)
  set(jacobi ${PROJECT_SOURCE_DIR}/lab/bench/openmp_tasks/programs/jacobi.cpp)
  add_custom_command(OUTPUT metered_jacobi VERBATIM DEPENDS ${jacobi}
    COMMAND ${NIGH_CLANGXX} -std=c++20 -O2 -fopenmp -DMETERED -I${PROJECT_SOURCE_DIR}/include ${jacobi}
      -o ${CMAKE_CURRENT_BINARY_DIR}/metered_jacobi)
  add_custom_target(metered_jacobi_program ALL DEPENDS metered_jacobi)
  nigh_numa_vm_script(openmp_tasks_locality openmp_tasks_locality_test.py $<TARGET_FILE:nigh_cli>
    ${CMAKE_CURRENT_BINARY_DIR}/metered_jacobi FULL)
endif()
if(TARGET nigh-bench-jacobi3d)
  nigh_numa_vm_script(jacobi_locality jacobi_locality_test.py $<TARGET_FILE:nigh-bench-jacobi3d> FULL)
  nigh_numa_vm_script(jacobi_locality_repeated jacobi_locality_test.py
    $<TARGET_FILE:nigh-bench-jacobi3d> 5 FULL)
endif()
if(TARGET nigh-bench-temporal)
  nigh_numa_vm_script(tiles_locality tiles_locality_test.py $<TARGET_FILE:nigh-bench-temporal> FULL)
  nigh_numa_vm_script(tiles_locality_repeated tiles_locality_test.py
    $<TARGET_FILE:nigh-bench-temporal> 5 FULL)
endif()
if(TARGET npb-mg)
  nigh_numa_vm_script(mg_locality mg_locality_test.py $<TARGET_FILE:npb-mg> FULL)
endif()
