/* Scenes for the finding rules: one configuration, or a run of several kernels, on an H200. */
#ifndef FINDINGS_SCENE_H
#define FINDINGS_SCENE_H

#include "test.h"

#include <string.h>

#include "report/findings/findings.h"
#include "report/findings/rules.h"
#include "report/store/judge.h"

/* 256 threads at 32 registers are 8 blocks an SM. */
enum { SLOTS = 1056 };

struct scene {
    struct merged merged;
    struct merged_kernel kernel;
    struct merged_configuration configuration;
    struct merged_device device;
    struct findings_run run;
    struct subject subject;
    bool in_sequence[1];
    uint32_t first_of_equal[1];
    uint32_t barriers;
};

/* 100 launches in one second of a kernel with 32 registers. */
struct scene *scene_of(uint32_t blocks, uint32_t threads);
void scene_judge(struct scene *scene); /* again, after a change */

/* The only rule that speaks, "none", or "several". */
const char *speaking(const struct scene *scene);
const struct rule *rule_named(const char *id);
void assert_says(const struct scene *scene, const char *id, const char *evidence, const char *advice);

/* One process, kernels of one configuration each. `compute` judges and finds; the caller frees by
 * merged_free. */
struct merged *run_of(uint32_t kernels, uint32_t blocks, uint64_t launches);
void compute(struct merged *merged);
uint32_t findings_of(const struct merged *merged, const char *id);

#endif
