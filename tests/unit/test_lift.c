/* What would lift a limit: every proposal is put to the model, and to a step less. */
#include "report/model/lift.h"
#include "tests/unit/test.h"

enum { KB = 1024 };

static struct occupancy_sm sm_of(int capability)
{
    struct occupancy_sm sm;
    assert_true(occupancy_sm_of_capability(capability, &sm));
    return sm;
}

static struct occupancy_launch launch_of(int threads, int registers, int dynamic_shared_bytes)
{
    return (struct occupancy_launch){.threads = threads,
                                     .registers_per_thread = registers,
                                     .dynamic_shared_bytes = dynamic_shared_bytes,
                                     .carveout_percent = -1,
                                     .max_dynamic_shared_bytes = -1};
}

static const struct lift *find(const struct lift *lifts, int count, enum lift_kind what)
{
    for (int i = 0; i < count; i++) {
        if (lifts[i].changes_count == 1 && lifts[i].changes[0].what == what) {
            return &lifts[i];
        }
    }
    return NULL;
}

static void registers_alone(void **state)
{
    (void)state;
    struct occupancy_sm sm = sm_of(90);
    struct occupancy_launch launch = launch_of(256, 65, 0);
    struct lift lifts[LIFTS_MAX];
    int count = lift_limits(&sm, &launch, lifts);
    const struct lift *registers = find(lifts, count, LIFT_REGISTERS);
    assert_non_null(registers);
    assert_int_equal(registers->changes[0].to, 64);
    assert_int_equal(registers->blocks_per_sm, 4);
    assert_true(registers->theoretical_occupancy == 0.5 && registers->helps);
    assert_null(find(lifts, count, LIFT_SHARED_MEMORY));
    assert_int_equal(find(lifts, count, LIFT_THREADS)->changes[0].to, 224);
}

static void shared_memory_to_the_byte(void **state)
{
    (void)state;
    struct occupancy_sm sm = sm_of(90);
    struct occupancy_launch launch = launch_of(128, 32, 100 * KB);
    struct lift lifts[LIFTS_MAX];
    int count = lift_limits(&sm, &launch, lifts);
    const struct lift *shared = find(lifts, count, LIFT_SHARED_MEMORY);
    assert_non_null(shared);
    assert_int_equal(shared->changes[0].to, 228 * KB / 3 - KB); /* a third of the SM, less the reserved KB */
    assert_int_equal(shared->blocks_per_sm, 3);
}

static void tied_limits_go_together(void **state)
{
    (void)state;
    struct occupancy_sm sm = sm_of(90);
    struct occupancy_launch launch = launch_of(384, 168, 200000);
    struct lift lifts[LIFTS_MAX];
    int count = lift_limits(&sm, &launch, lifts);
    assert_int_equal(count, 1); /* no smaller block helps: shared memory a block stays */
    assert_int_equal(lifts[0].changes_count, 2);
    assert_int_equal(lifts[0].changes[0].what, LIFT_REGISTERS);
    assert_int_equal(lifts[0].changes[0].to, 80);
    assert_int_equal(lifts[0].changes[1].what, LIFT_SHARED_MEMORY);
    assert_int_equal(lifts[0].changes[1].to, 113 * KB);
    assert_int_equal(lifts[0].blocks_per_sm, 2);
}

static void block_slots_ask_for_larger_blocks(void **state)
{
    (void)state;
    struct occupancy_sm sm = sm_of(90);
    struct occupancy_launch launch = launch_of(32, 16, 0);
    struct lift lifts[LIFTS_MAX];
    int count = lift_limits(&sm, &launch, lifts);
    assert_int_equal(count, 1);
    assert_int_equal(lifts[0].changes[0].what, LIFT_THREADS);
    assert_int_equal(lifts[0].changes[0].to, 64);
    assert_true(lifts[0].theoretical_occupancy == 1 && lifts[0].helps);
}

static void a_further_block_need_not_help(void **state)
{
    (void)state;
    struct occupancy_sm sm = sm_of(90);
    struct occupancy_launch launch = launch_of(1024, 32, 0);
    struct lift lifts[LIFTS_MAX];
    int count = lift_limits(&sm, &launch, lifts);
    const struct lift *smaller = find(lifts, count, LIFT_THREADS);
    assert_non_null(smaller);
    assert_int_equal(smaller->changes[0].to, 672);
    assert_int_equal(smaller->blocks_per_sm, 3);
    assert_false(smaller->helps); /* 63 warps instead of 64 */
}

static void a_carveout_and_barriers(void **state)
{
    (void)state;
    struct occupancy_sm sm = sm_of(90);
    struct occupancy_launch launch = launch_of(128, 32, 12 * KB);
    launch.carveout_percent = 0;
    struct lift lifts[LIFTS_MAX];
    int count = lift_limits(&sm, &launch, lifts);
    const struct lift *carveout = find(lifts, count, LIFT_CARVEOUT);
    assert_non_null(carveout);
    assert_int_equal(carveout->blocks_per_sm, 2);
    launch = launch_of(128, 32, 0);
    launch.barriers = 16;
    count = lift_limits(&sm, &launch, lifts);
    assert_int_equal(find(lifts, count, LIFT_BARRIERS)->changes[0].to, 12);
}

static void apply(struct occupancy_launch *launch, const struct lift_change *change, int more)
{
    int to = change->to + more;
    switch (change->what) {
    case LIFT_REGISTERS:
        launch->registers_per_thread = to;
        break;
    case LIFT_SHARED_MEMORY:
        launch->static_shared_bytes = 0;
        launch->dynamic_shared_bytes = to;
        break;
    case LIFT_BARRIERS:
        launch->barriers = to;
        break;
    case LIFT_CARVEOUT:
        launch->carveout_percent = to;
        break;
    case LIFT_THREADS:
        launch->threads = to;
        break;
    }
}

static int blocks_of(const struct occupancy_sm *sm, const struct occupancy_launch *launch)
{
    struct occupancy result;
    assert_int_equal(occupancy_compute(sm, launch, &result), OCCUPANCY_OK);
    return result.blocks_per_sm;
}

/* The model confirms the lift; for a resource, one register, byte or barrier more and it is none. */
static void check_lift(const struct occupancy_sm *sm, const struct occupancy_launch *launch,
                       const struct lift *lift)
{
    const enum lift_kind what = lift->changes[0].what;
    struct occupancy_launch lifted = *launch;
    for (int i = 0; i < lift->changes_count; i++) {
        apply(&lifted, &lift->changes[i], 0);
    }
    assert_int_equal(blocks_of(sm, &lifted), lift->blocks_per_sm);
    if (what != LIFT_THREADS && what != LIFT_CARVEOUT) {
        apply(&lifted, &lift->changes[0], 1);
        assert_true(blocks_of(sm, &lifted) <= blocks_of(sm, launch));
    }
}

static void every_lift_is_true_and_tight(void **state)
{
    (void)state;
    static const int capabilities[] = {60, 75, 80, 86, 90, 120};
    int checked = 0;
    for (size_t c = 0; c < sizeof capabilities / sizeof *capabilities; c++) {
        struct occupancy_sm sm = sm_of(capabilities[c]);
        for (int i = 0; i < 3000; i++) {
            struct occupancy_launch launch = launch_of(1 + i * 37 % 1024, i * 53 % 256, i * 997 % 48000);
            launch.barriers = i % 17;
            launch.carveout_percent = i % 3 ? -1 : i % 101;
            struct lift lifts[LIFTS_MAX];
            int count = lift_limits(&sm, &launch, lifts);
            for (int l = 0; l < count; l++, checked++) {
                check_lift(&sm, &launch, &lifts[l]);
            }
        }
    }
    assert_true(checked > 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_alone),
        cmocka_unit_test(shared_memory_to_the_byte),
        cmocka_unit_test(tied_limits_go_together),
        cmocka_unit_test(block_slots_ask_for_larger_blocks),
        cmocka_unit_test(a_further_block_need_not_help),
        cmocka_unit_test(a_carveout_and_barriers),
        cmocka_unit_test(every_lift_is_true_and_tight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
