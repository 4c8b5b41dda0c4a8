// graph_child.cu, put right.
#define FIXED
#include "graph_child.cu"
