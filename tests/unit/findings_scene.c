/* What the tests of the finding rules share. */
#include "findings_scene.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/store/judge.h"

/* --- one configuration --------------------------------------------------------------------------------- */

/* An H200: 132 SMs of 64 warps. 256 threads at 32 registers are 8 blocks an SM, 1,056 slots. */
static struct merged_device h200(void)
{
    struct merged_device device = {.host = "node1"};
    device.limits = (struct store_device){.compute_capability = 90,
                                          .name = "NVIDIA H200",
                                          .sms = 132,
                                          .max_threads_per_sm = 2048,
                                          .valid = 1u << 0 | 1u << 2};
    return device;
}

void scene_judge(struct scene *scene)
{
    scene->configuration.judged =
        judge_configuration(&scene->kernel, &scene->configuration, &scene->device, true, scene->barriers);
    scene->run.in_sequence = scene->in_sequence;
    scene->run.first_of_equal = scene->first_of_equal;
    scene->subject = subject_of(&scene->run, &scene->configuration);
}

/* 100 launches in one second of a kernel with 32 registers. */
struct scene *scene_of(uint32_t blocks, uint32_t threads)
{
    static struct scene scene;
    memset(&scene, 0, sizeof scene);
    scene.device = h200();
    scene.barriers = MERGED_NONE;
    scene.kernel = (struct merged_kernel){.short_name = "kernel",
                                          .registers_per_thread = 32,
                                          .valid = STORE_KERNEL_ATTRIBUTES,
                                          .configurations = 1,
                                          .launches = 100};
    scene.configuration = (struct merged_configuration){.grid = {blocks, 1, 1},
                                                        .block = {threads, 1, 1},
                                                        .cluster = {1, 1, 1},
                                                        .launches = 100,
                                                        .successor = MERGED_NONE};
    scene.merged = (struct merged){.kernels = &scene.kernel,
                                   .configurations = &scene.configuration,
                                   .devices = &scene.device,
                                   .kernels_count = 1,
                                   .configurations_count = 1,
                                   .devices_count = 1};
    scene.run = (struct findings_run){.merged = &scene.merged, .seconds = 1};
    scene_judge(&scene);
    return &scene;
}

/* The only rule that speaks, "none", or "several". */
const char *speaking(const struct scene *scene)
{
    const char *id = "none";
    for (unsigned i = 0; i < finding_rules_count; i++) {
        struct verdict verdict = finding_rules[i].judge(&scene->subject);
        assert_true(verdict.fraction >= 0 && verdict.fraction <= 1);
        assert_true(verdict.applies || verdict.fraction == 0);
        if (verdict.applies) {
            id = strcmp(id, "none") == 0 ? finding_rules[i].id : "several";
        }
    }
    return id;
}

const struct rule *rule_named(const char *id)
{
    for (unsigned i = 0; i < finding_rules_count; i++) {
        if (strcmp(finding_rules[i].id, id) == 0) {
            return &finding_rules[i];
        }
    }
    fail_msg("no rule %s", id);
    return NULL;
}

void assert_says(const struct scene *scene, const char *id, const char *evidence, const char *advice)
{
    struct sentence shown = {.bytes = 0}, advised = {.bytes = 0};
    assert_string_equal(speaking(scene), id);
    rule_named(id)->evidence(&scene->subject, &shown);
    rule_named(id)->advice(&scene->subject, &advised);
    assert_string_equal(shown.text, evidence);
    assert_string_equal(advised.text, advice);
}

/* --- whole runs ---------------------------------------------------------------------------------------- */

/* `kernels` kernels of one configuration each: `blocks` blocks of 256 threads, `launches` times. */
struct merged *run_of(uint32_t kernels, uint32_t blocks, uint64_t launches)
{
    struct merged *merged = merged_new();
    assert_non_null(merged);
    merged->kernels = calloc(kernels, sizeof *merged->kernels);
    merged->configurations = calloc(kernels, sizeof *merged->configurations);
    merged->devices = calloc(1, sizeof *merged->devices);
    merged->processes = calloc(8, sizeof *merged->processes);
    assert_true(merged->kernels && merged->configurations && merged->devices && merged->processes);
    merged->devices[0] = h200();
    merged->kernels_count = merged->configurations_count = kernels;
    merged->devices_count = merged->processes_count = 1;
    merged->processes[0] = (struct merged_process){.host = "node1", .pid = 7, .rank = -1, .seconds = 1};
    for (uint32_t i = 0; i < kernels; i++) {
        merged->kernels[i] = (struct merged_kernel){.mangled = "",
                                                    .name = "",
                                                    .short_name = merged_print(merged, "kernel_%u", i),
                                                    .registers_per_thread = 32,
                                                    .valid = STORE_KERNEL_ATTRIBUTES,
                                                    .first_configuration = i,
                                                    .configurations = 1,
                                                    .launches = launches};
        merged->configurations[i] = (struct merged_configuration){.kernel = i,
                                                                  .grid = {blocks, 1, 1},
                                                                  .block = {256, 1, 1},
                                                                  .cluster = {1, 1, 1},
                                                                  .launches = launches,
                                                                  .successor = MERGED_NONE};
    }
    return merged;
}

void compute(struct merged *merged)
{
    merged->totals.launches = 0;
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        merged->totals.launches += merged->configurations[i].launches;
    }
    judge_all(merged);
    assert_true(findings_compute(merged));
}

uint32_t findings_of(const struct merged *merged, const char *id)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < merged->findings_count; i++) {
        count += strcmp(merged->findings[i].id, id) == 0;
    }
    return count;
}
