/* Executable graphs: what one replay of each runs now. A replay then costs one count, of a body; a change of
 * the graph ends its launch key, so that the next replay is counted for what it runs by then. */
#ifndef WARPWATCH_GRAPH_EXEC_H
#define WARPWATCH_GRAPH_EXEC_H

#include "graph_nodes.h"

/* After the real call succeeded. */
void graph_exec_instantiated(CUgraphExec exec, CUgraph graph, uint64_t flags);
/* Around the real destroy: another thread may get the address meanwhile. */
uint32_t graph_exec_ending(CUgraphExec exec);
void graph_exec_ended(uint32_t ending, bool really);
void graph_exec_set_kernel(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters);
void graph_exec_set_child(CUgraphExec exec, CUgraphNode node, CUgraph child);
void graph_exec_set_enabled(CUgraphExec exec, CUgraphNode node, bool enabled);
void graph_exec_updated(CUgraphExec exec, CUgraph graph);
bool graph_exec_is_for_device(CUgraphExec exec);
/* Known to launch nothing: copies, host functions and events only. */
bool graph_exec_is_without_kernels(CUgraphExec exec);
/* Contexts ended: what was resolved of their kernels no longer holds. Locked. */
void graph_exec_forget_all(void);
/* A new store begins. Locked. */
void graph_exec_forget_bodies(void);

/* A replay was launched that has no key. The target of its body; STORE_NO_TARGET if its launches were counted
 * one by one instead. */
uint32_t graph_exec_replayed(const struct launch *launch, const struct launch_words *words);

#endif
