/* main.c — runs every unit suite; the closing line is Check's own. */
#include "grader/tests/unit/unit.h"

#include <stdlib.h>

extern const struct unit_suite *const __start_unit_suites[], *const __stop_unit_suites[];

int main(void) {
    SRunner *runner = srunner_create(NULL);
    for (const struct unit_suite *const *s = __start_unit_suites; s < __stop_unit_suites; s++)
        srunner_add_suite(runner, (*s)->make());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
