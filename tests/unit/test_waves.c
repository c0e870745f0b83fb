/* Waves, tails, clusters: worked numbers, and brute force where a closed form was used. */
#include <math.h>

#include "report/model/clusters.h"
#include "report/model/devices.h"
#include "report/model/waves.h"
#include "tests/unit/test.h"

static bool near(double a, double b)
{
    return fabs(a - b) < 5e-4;
}

static void worked_numbers(void **state)
{
    (void)state;
    static const struct {
        uint64_t blocks;
        unsigned sms, blocks_per_sm;
        uint64_t waves_begun;
        double utilization;
    } cases[] = {{12, 8, 1, 2, 0.75},
                 {264, 132, 2, 1, 1},
                 {265, 132, 2, 2, 0.502},
                 {1000, 132, 2, 4, 0.947},
                 {100000, 132, 2, 379, 0.9995}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct waves waves = waves_compute(cases[i].blocks, cases[i].sms, cases[i].blocks_per_sm);
        uint64_t begun = waves.full_waves + (waves.tail_fullness < 1);
        assert_int_equal(begun, cases[i].waves_begun);
        assert_true(near(waves_slot_utilization(cases[i].blocks, waves.slots), cases[i].utilization));
        assert_true(near(1 - waves.tail_waste, cases[i].utilization));
    }
}

static void a_full_wave_has_no_tail(void **state)
{
    (void)state;
    struct waves waves = waves_compute(528, 132, 2);
    assert_true(waves.waves == 2 && waves.full_waves == 2);
    assert_true(waves.tail_fullness == 1 && waves.tail_waste == 0);
    assert_int_equal(waves.idle_sms, 0);
}

static void fewer_blocks_than_sms_leave_sms_idle(void **state)
{
    (void)state;
    struct waves waves = waves_compute(1, 132, 8);
    assert_int_equal(waves.full_waves, 0);
    assert_int_equal(waves.idle_sms, 131);
    assert_int_equal(waves_compute(200, 132, 8).idle_sms, 0); /* fewer than slots, but not than SMs */
    assert_int_equal(waves_compute(265, 132, 2).idle_sms, 131);
}

static void what_cannot_run_has_no_slots(void **state)
{
    (void)state;
    assert_int_equal(waves_compute(100, 132, 0).slots, 0);
}

static void the_largest_grid_does_not_overflow(void **state)
{
    (void)state;
    uint64_t blocks = 2147483647ull * 65535 * 65535;
    struct waves waves = waves_compute(blocks, 132, 32);
    assert_int_equal(waves.full_waves, blocks / (132 * 32));
    assert_true(waves.tail_waste >= 0 && waves.tail_waste < 1e-9);
}

/* From the count on, every grid of many waves keeps the utilization; the one before it does not. */
static void always_from_blocks_is_what_brute_force_finds(void **state)
{
    (void)state;
    static const double utilizations[] = {0.01, 0.5, 0.75, 0.8, 0.9, 0.95, 0.99};
    static const uint64_t slots[] = {1, 2, 3, 7, 40, 264};
    for (size_t s = 0; s < sizeof slots / sizeof *slots; s++) {
        for (size_t u = 0; u < sizeof utilizations / sizeof *utilizations; u++) {
            uint64_t last_bad = 0;
            for (uint64_t blocks = 1; blocks <= 300 * slots[s]; blocks++) {
                if (waves_slot_utilization(blocks, slots[s]) < utilizations[u]) {
                    last_bad = blocks;
                }
            }
            assert_int_equal(waves_always_from_blocks(utilizations[u], slots[s]), last_bad + 1);
        }
    }
}

static void full_utilization_for_ever_needs_a_single_slot(void **state)
{
    (void)state;
    assert_int_equal(waves_always_from_blocks(1, 1), 1);
    assert_int_equal(waves_always_from_blocks(1, 2), 0);
    assert_int_equal(waves_always_from_blocks(1, 264), 0);
}

static void idle_lanes(void **state)
{
    (void)state;
    assert_int_equal(waves_idle_lanes_per_block(100), 28);
    assert_int_equal(waves_idle_lanes_per_block(96), 0);
    assert_int_equal(waves_idle_lanes_per_block(1), 31);
}

static void a_persistent_shape(void **state)
{
    (void)state;
    assert_true(waves_look_persistent(132, 132, 264));
    assert_true(waves_look_persistent(264, 132, 264));
    assert_false(waves_look_persistent(200, 132, 264));
    assert_false(waves_look_persistent(396, 132, 264));
    assert_false(waves_look_persistent(0, 132, 264));
}

static void cluster_waves_count_clusters(void **state)
{
    (void)state;
    struct waves waves = waves_of_clusters(132 * 8, 8, 15, 132);
    assert_int_equal(waves.slots, 120);
    assert_true(waves.waves == 8.8);
    struct waves full = waves_of_clusters(240, 8, 15, 132);
    assert_int_equal(full.idle_sms, 12); /* SMs that no cluster can use */
}

static struct cluster_capacity capacity(const char *name, int cluster_blocks)
{
    const struct device *device = device_find(name);
    assert_non_null(device);
    const struct cluster_device shape = {device->sms, device->gpcs, device->sms_per_gpc};
    return clusters_active(&shape, cluster_blocks, 1);
}

/* What drivers answered with one block an SM: an H100 had 120 of its 132 SMs in clusters of 8; GB200 and B300
 * after FlashInfer's notes on its sparse MLA decode kernel (issue 5716). */
static void measured_capacities_lie_in_the_range(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        int cluster_blocks, active, below;
    } measured[] = {{"h100", 8, 15, 0},
                    {"gb200", 8, 15, 0},
                    {"gb200", 6, 23, 0},
                    {"gb200", 5, 28, 0},
                    {"gb200", 4, 36, 0},
                    {"gb200", 3, 46, 0},
                    {"b300", 8, 15, 0},
                    {"b300", 6, 22, 0},
                    {"b300", 5, 26, 0},
                    {"b300", 3, 45, 0},
                    {"b300", 4, 33, 1 /* one below the range */}};
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        struct cluster_capacity range = capacity(measured[i].device, measured[i].cluster_blocks);
        assert_in_range(measured[i].active, range.least - measured[i].below, range.most);
        assert_in_range(range.even, range.least, range.most);
    }
}

static void without_gpcs_the_range_is_wide(void **state)
{
    (void)state;
    const struct cluster_device unknown = {132, 0, 0};
    struct cluster_capacity range = clusters_active(&unknown, 8, 2);
    assert_int_equal(range.least, 0);
    assert_int_equal(range.most, 33);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_numbers),
        cmocka_unit_test(a_full_wave_has_no_tail),
        cmocka_unit_test(fewer_blocks_than_sms_leave_sms_idle),
        cmocka_unit_test(what_cannot_run_has_no_slots),
        cmocka_unit_test(the_largest_grid_does_not_overflow),
        cmocka_unit_test(always_from_blocks_is_what_brute_force_finds),
        cmocka_unit_test(full_utilization_for_ever_needs_a_single_slot),
        cmocka_unit_test(idle_lanes),
        cmocka_unit_test(a_persistent_shape),
        cmocka_unit_test(cluster_waves_count_clusters),
        cmocka_unit_test(measured_capacities_lie_in_the_range),
        cmocka_unit_test(without_gpcs_the_range_is_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
