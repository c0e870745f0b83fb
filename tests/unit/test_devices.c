/* The table of GPUs: complete, known to the model, found under the names that people and drivers use. */
#include <string.h>

#include "report/model/devices.h"
#include "report/model/occupancy.h"
#include "tests/unit/test.h"

static void every_device_is_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < devices_count; i++) {
        struct occupancy_sm sm;
        assert_true(occupancy_sm_of_capability(devices[i].compute_capability, &sm));
        assert_false(sm.estimated);
        assert_in_range(devices[i].sms, 1, 1000);
        assert_true(strlen(devices[i].source) > 10);
        assert_ptr_equal(device_find(devices[i].name), &devices[i]);
        assert_ptr_equal(device_find(devices[i].product), &devices[i]);
        if (devices[i].gpcs) {
            assert_true(devices[i].sms <= devices[i].gpcs * devices[i].sms_per_gpc);
        }
    }
}

static void the_gpus_people_use_are_there(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int capability, sms;
    } expected[] = {{"T4", 75, 40},
                    {"V100", 70, 80},
                    {"A10", 86, 72},
                    {"A30", 80, 56},
                    {"A40", 86, 84},
                    {"A100-40", 80, 108},
                    {"A100-80", 80, 108},
                    {"L4", 89, 58},
                    {"L40S", 89, 142},
                    {"RTX 3090", 86, 82},
                    {"RTX 4090", 89, 128},
                    {"RTX 5090", 120, 170},
                    {"RTX 6000 Ada", 89, 142},
                    {"RTX PRO 6000", 120, 188},
                    {"H100 PCIe", 90, 114},
                    {"H100 SXM", 90, 132},
                    {"H200", 90, 132},
                    {"GH200", 90, 132},
                    {"B200", 100, 148},
                    {"B300", 103, 148},
                    {"GB200", 100, 152},
                    {"Orin", 87, 16},
                    {"Thor", 110, 20},
                    {"GB10", 121, 48}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct device *device = device_find(expected[i].name);
        assert_non_null(device);
        assert_int_equal(device->compute_capability, expected[i].capability);
        assert_int_equal(device->sms, expected[i].sms);
    }
}

static void names_are_read_as_drivers_write_them(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"NVIDIA H100 80GB HBM3", "h100"},
                                           {"NVIDIA H200 (simulated)", "h200"},
                                           {"Tesla T4", "t4"},
                                           {"NVIDIA GeForce RTX 4090", "rtx4090"},
                                           {"rtx-4090", "rtx4090"},
                                           {"NVIDIA A100-SXM4-40GB", "a100-40"},
                                           {"NVIDIA A100-SXM4-80GB", "a100"},
                                           {"B200", "b200"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct device *device = device_find(names[i][0]);
        assert_non_null(device);
        assert_string_equal(device->name, names[i][1]);
    }
}

static void what_is_no_device_is_not_found(void **state)
{
    (void)state;
    static const char *const names[] = {"", " ", "nvidia", "h2000", "h20", "h", "(simulated)", "\xff\xfe"};
    char lengthy[5000];
    memset(lengthy, 'h', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = 0;
    assert_null(device_find(lengthy));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_null(device_find(names[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_device_is_whole),
        cmocka_unit_test(the_gpus_people_use_are_there),
        cmocka_unit_test(names_are_read_as_drivers_write_them),
        cmocka_unit_test(what_is_no_device_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
