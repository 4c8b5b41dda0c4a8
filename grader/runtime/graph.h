/* graph.h — what the files of graphs share: nodes that own their commands, and graphs that own
 * their nodes. */
#pragma once
#include "grader/runtime/runtime.h"

struct CUgraphNode_st {
    cudaGraph_t graph;
    struct wb_command command;
    cudaGraphNode_t *deps;
    size_t ndeps;
    cudaGraphNode_t source; /* the node that this one is a copy of, or NULL */
    void **param_pointers;  /* pointers to a kernel's parameters, made at the first query */
    bool disabled, done;
    size_t position; /* index in its graph while the graph runs */
    /* Its number in the graph that the server holds (graph_held.c), 0 = none; the server has
     * accepted its command once. */
    uint64_t held_graph;
    uint32_t held_node;
    bool is_accepted;
};

struct CUgraph_st {
    struct CUgraph_st *next, **link; /* in the list of those that live */
    cudaGraphNode_t *nodes;
    size_t n;
    bool executable;
    unsigned long long flags; /* of an executable one */
};

struct CUgraphExec_st {
    cudaGraph_t graph;
    struct CUgraphExec_st *next; /* in the list of those that live */
    uint64_t held;               /* its number at the server, 0 = none */
};

cudaGraph_t wb_graph_clone(cudaGraph_t g);
/* Returns the node of `g` that is a copy of `original`. */
cudaGraphNode_t wb_graph_copy_of(cudaGraph_t g, cudaGraphNode_t source);
/* Sorts the nodes topologically, in child graphs too. Returns false if they form a cycle. */
bool wb_graph_sort(cudaGraph_t g);
/* Replaces a node's command by a copy of `what`, of the same kind, and of the data that it points
 * to. */
int wb_graph_replace(cudaGraphNode_t node, const struct wb_command *command);
/* Returns the i-th graph that a command owns; NULL after the last. */
cudaGraph_t wb_graph_child(const struct wb_command *c, size_t i);
void wb_graph_free_node(cudaGraphNode_t node);
void wb_graph_add_dep(cudaGraphNode_t node, cudaGraphNode_t dep);

/* ---- graphs that the server holds (graph_held.c), while grading ---- */

/* Describes an executable graph to the server. */
int wb_graph_hold(cudaGraphExec_t x);
void wb_graph_release_held(cudaGraphExec_t x);
/* Describes a held node again, whose command has changed. */
int wb_graph_hold_again(cudaGraphNode_t node);
/* Begins a launch of a held graph. */
int wb_graph_launch_held(cudaGraphExec_t x);
/* Runs a node of a held graph. */
int wb_graph_run_held(cudaGraphNode_t node);
uint32_t wb_graph_count_nodes(cudaGraph_t g); /* with those of child graphs */

/* ---- conditional nodes (graph_conditional.c) ---- */

enum { WB_MAX_BODIES = 1 << 16 /* of one node */ };
#if CUDART_VERSION >= 12080
/* The node's command, with a graph for each body; `p` gets them. */
int wb_graph_conditional_new(struct cudaConditionalNodeParams *p, struct wb_command *c);
#endif
/* Runs the bodies that the node's condition selects. */
int wb_graph_conditional_run(const struct wb_command *c);
/* Sets the conditions that have a default value, also those in bodies, before a graph runs. */
int wb_graph_conditional_reset(cudaGraph_t g);

/* ---- graphs that kernels launch (graph_device.c) ---- */

int wb_graph_device_prepare(cudaGraph_t g); /* it may be instantiated for device launch */
/* Allows kernels to launch the graph; forbids it. */
int wb_graph_device_upload(cudaGraphExec_t x);
void wb_graph_device_remove(cudaGraphExec_t x);
void wb_graph_device_reset(void); /* the device's memory goes */
/* Runs a graph, then the graphs that its kernels launch. */
int wb_graph_device_run(cudaGraphExec_t x);

/* ---- memory of graphs (graph_memory.c): its address is fixed; it is allocated between its nodes
 * ---- */

int wb_graph_memory_new(void **out, size_t bytes);
int wb_graph_condition_word_new(
    void **out); /* a word that kernels may set by cudaGraphSetConditional */
/* Nodes that use it keep it alive. */
void wb_graph_memory_retain(void *p);
void wb_graph_memory_release(void *p);
/* Called when a launch reaches an allocation node. */
int wb_graph_memory_alloc(void *p, bool auto_free);
