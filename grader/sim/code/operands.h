/* operands.h — the registers that an op reads and writes, wherever its kind keeps them. */
#pragma once
#include "grader/sim/code/code.h"

/* UPDATE: the op reads the register and may write it. */
enum operand_use { OPERAND_READ, OPERAND_WRITE, OPERAND_UPDATE };
typedef void operand_visitor(void *user, ref *r, enum operand_use use);

/* Calls `visit` for each operand of the op that isn't REF_NONE, be it a register or not. Returns
 * false, perhaps after some calls, if the op's kind has operands that operands.c doesn't know:
 * calls, and instructions that keep registers in tables of their own. */
bool code_visit_operands(const struct sim_module *m, struct op *o, operand_visitor *visit,
                         void *user);
/* Returns true if lanes may leave the op out, as it has a predicate. */
static inline bool code_is_guarded(const struct op *o) { return ref_base(o->guard) == BASE_FRAME; }
/* Returns true for an op that does nothing but write `dst`, a register of whole lanes. */
bool code_is_arithmetic(const struct op *o);
/* Returns true for a load, a store or an atomic; `aux` is its mem_desc. */
bool code_is_access(const struct op *o);
