#include "harness.h"
namespace sk {
#define shared_budget shared_budget_sk
#include "chapters/06-occupancy/shared_budget.cu"
#undef shared_budget
}
namespace s1 {
#define shared_budget shared_budget_s1
#include "solutions/06-occupancy/shared_budget-1-gather.cu"
#undef shared_budget
}
namespace s2 {
#define shared_budget shared_budget_s2
#include "solutions/06-occupancy/shared_budget-2-first-48-kb.cu"
#undef shared_budget
}
namespace model {
#define shared_budget shared_budget_model
#include "solutions/06-occupancy/shared_budget.cu"
#undef shared_budget
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 4194307 : 200003;
    const int entries = large ? 16000 : 15999;
    buffers.reserve(16);
    float *out = make<float>("out", n, true, [&](size_t i) { (void)i; return 0; });
    int *index = make<int>("index", n, false, [&](size_t i) { (void)i; return R(0, entries - 1); });
    float *table = make<float>("table", entries, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::shared_budget_sk(out, index, table, n, entries); }},
        {"s1:1-gather", [&] { s1::shared_budget_s1(out, index, table, n, entries); }},
        {"s2:2-first-48-kb", [&] { s2::shared_budget_s2(out, index, table, n, entries); }},
        {"model:model", [&] { model::shared_budget_model(out, index, table, n, entries); }},
    }, timing);
}
