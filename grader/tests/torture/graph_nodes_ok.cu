// graph_nodes.cu, put right.
#define FIXED
#include "graph_nodes.cu"
