/* Where the figures of a report come from: the driver's own answer first, the model where there is none, and
 * "estimated" for what neither knows. Launches of 256 threads and 65 registers: 3 blocks on a 9.0 SM. */
#include "report/store/judge.h"
#include "tests/unit/test.h"

struct scene {
    struct merged_kernel kernel;
    struct merged_configuration configuration;
    struct merged_device device;
};

static struct scene scene_on(int capability)
{
    struct scene scene = {
        .kernel = {.registers_per_thread = 65, .valid = STORE_KERNEL_ATTRIBUTES},
        .configuration = {.grid = {1000, 1, 1}, .block = {256, 1, 1}, .cluster = {1, 1, 1}, .launches = 1},
        .device = {.host = "",
                   .limits = {.compute_capability = (uint32_t)capability,
                              .sms = 132,
                              .max_threads_per_sm = 2048,
                              .valid = 1u << 0 | 1u << 2}},
    };
    return scene;
}

static struct judgement judge(const struct scene *scene)
{
    return judge_configuration(&scene->kernel, &scene->configuration, &scene->device, true, MERGED_NONE);
}

static void driver_answers(struct scene *scene, uint32_t blocks_per_sm)
{
    scene->configuration.driver_blocks_per_sm = blocks_per_sm;
    scene->configuration.valid |= STORE_CONFIGURATION_BLOCKS;
}

static void without_an_answer_the_model_stands_in(void **state)
{
    (void)state;
    struct scene scene = scene_on(90);
    struct judgement judged = judge(&scene);
    assert_int_equal(judged.blocks_per_sm, 3);
    assert_true(judged.theoretical_occupancy == 0.375);
    assert_int_equal(judged.limiters, LIMITER_REGISTERS);
    assert_int_equal(judged.occupancy_source, SOURCE_MODEL);
    assert_int_equal(judged.waves_source, SOURCE_MODEL);
    assert_int_equal(judged.slots, 396);
}

static void a_lower_answer_of_the_driver_decides(void **state)
{
    (void)state;
    struct scene scene = scene_on(90);
    driver_answers(&scene, 2);
    struct judgement judged = judge(&scene);
    assert_int_equal(judged.blocks_per_sm, 2);
    assert_int_equal(judged.model_blocks_per_sm, 3);
    assert_true(judged.theoretical_occupancy == 0.25);
    assert_int_equal(judged.limiters, LIMITER_DRIVER);
    assert_int_equal(judged.occupancy_source, SOURCE_DRIVER);
    assert_int_equal(judged.slots, 264);
}

static void a_higher_answer_decides_too(void **state)
{
    (void)state;
    struct scene scene = scene_on(90);
    driver_answers(&scene, 4);
    struct judgement judged = judge(&scene);
    assert_int_equal(judged.blocks_per_sm, 4);
    assert_int_equal(judged.model_blocks_per_sm, 3);
    assert_int_equal(judged.limiters, LIMITER_REGISTERS);
}

static void limits_are_those_of_the_driver(void **state)
{
    (void)state;
    struct scene scene = scene_on(90);
    scene.device.limits.registers_per_sm = 32768;
    scene.device.limits.valid |= 1u << 5;
    assert_int_equal(judge(&scene).blocks_per_sm, 1);
}

static void a_capability_newer_than_the_table_is_estimated(void **state)
{
    (void)state;
    struct scene scene = scene_on(130);
    struct judgement judged = judge(&scene);
    assert_true(judged.valid & JUDGED_OCCUPANCY);
    assert_int_equal(judged.occupancy_source, SOURCE_ESTIMATED);
    assert_int_equal(judged.waves_source, SOURCE_ESTIMATED);
    driver_answers(&scene, 3);
    judged = judge(&scene);
    assert_int_equal(judged.blocks_per_sm, 3);
    assert_int_equal(judged.occupancy_source, SOURCE_DRIVER);
    assert_int_equal(judged.waves_source, SOURCE_DRIVER);
}

/* Of a capability that no model covers, and of a kernel without attributes. */
static void the_driver_alone_is_enough(void **state)
{
    (void)state;
    struct scene old = scene_on(35), bare = scene_on(90);
    bare.kernel.valid = 0;
    assert_false(judge(&old).valid & JUDGED_OCCUPANCY);
    driver_answers(&old, 5);
    driver_answers(&bare, 5);
    const struct judgement judged[] = {judge(&old), judge(&bare)};
    for (int i = 0; i < 2; i++) {
        assert_true(judged[i].valid & JUDGED_OCCUPANCY);
        assert_false(judged[i].valid & JUDGED_LIMITS);
        assert_true(judged[i].theoretical_occupancy == 5 * 8 / 64.0);
        assert_int_equal(judged[i].slots, 660);
    }
}

static void a_context_with_fewer_sms_has_fewer_slots(void **state)
{
    (void)state;
    struct scene scene = scene_on(90);
    scene.configuration.context_sms = 16;
    scene.configuration.valid |= STORE_CONFIGURATION_CONTEXT_SMS;
    struct judgement judged = judge(&scene);
    assert_int_equal(judged.sms, 16);
    assert_int_equal(judged.slots, 48);
}

static void clusters_are_counted_by_the_driver_or_estimated(void **state)
{
    (void)state;
    struct scene scene = scene_on(90);
    scene.configuration.cluster[0] = 8;
    struct judgement judged = judge(&scene);
    assert_int_equal(judged.waves_source, SOURCE_ESTIMATED);
    scene.configuration.driver_max_active_clusters = 45;
    scene.configuration.valid |= STORE_CONFIGURATION_CLUSTERS;
    judged = judge(&scene);
    assert_int_equal(judged.waves_source, SOURCE_DRIVER);
    assert_int_equal(judged.slots, 360);
    assert_int_equal(judged.limiters, LIMITER_REGISTERS | LIMITER_CLUSTER);
}

static struct judgement judge_elsewhere(const struct scene *scene, const char *name)
{
    struct merged *merged = merged_new();
    const struct merged_device *device = judge_listed_device(merged, device_find(name));
    assert_non_null(device);
    struct judgement judged =
        judge_configuration(&scene->kernel, &scene->configuration, device, false, MERGED_NONE);
    merged_free(merged);
    return judged;
}

static void elsewhere_the_answers_from_here_do_not_hold(void **state)
{
    (void)state;
    struct scene scene = scene_on(90);
    driver_answers(&scene, 1);
    scene.configuration.context_sms = 16;
    scene.configuration.valid |= STORE_CONFIGURATION_CONTEXT_SMS;
    struct judgement judged = judge_elsewhere(&scene, "b200");
    assert_int_equal(judged.blocks_per_sm, 3);
    assert_int_equal(judged.sms, 148);
    assert_int_equal(judged.occupancy_source, SOURCE_MODEL);
}

static void clusters_cannot_run_before_9_0(void **state)
{
    (void)state;
    struct scene scene = scene_on(90);
    scene.configuration.cluster[0] = 8;
    assert_int_equal(judge_elsewhere(&scene, "b200").blocks_per_sm, 3);
    struct judgement judged = judge_elsewhere(&scene, "a100");
    assert_int_equal(judged.blocks_per_sm, 0);
    assert_int_equal(judged.limiters, LIMITER_CLUSTER);
    assert_true(judged.valid & JUDGED_SLOTS);
    assert_false(judged.valid & JUDGED_WAVES);
    assert_int_equal(judged.slots, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_an_answer_the_model_stands_in),
        cmocka_unit_test(a_lower_answer_of_the_driver_decides),
        cmocka_unit_test(a_higher_answer_decides_too),
        cmocka_unit_test(limits_are_those_of_the_driver),
        cmocka_unit_test(a_capability_newer_than_the_table_is_estimated),
        cmocka_unit_test(the_driver_alone_is_enough),
        cmocka_unit_test(a_context_with_fewer_sms_has_fewer_slots),
        cmocka_unit_test(clusters_are_counted_by_the_driver_or_estimated),
        cmocka_unit_test(elsewhere_the_answers_from_here_do_not_hold),
        cmocka_unit_test(clusters_cannot_run_before_9_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
