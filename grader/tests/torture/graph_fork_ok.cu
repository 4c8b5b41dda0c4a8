// graph_fork.cu, put right.
#define FIXED
#include "graph_fork.cu"
