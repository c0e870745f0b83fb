/* Stores in, merged data out: counts to the launch, identity, and arithmetic on top. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/store/judge.h"
#include "report/store/store.h"
#include "store_writer.h"

static struct merged *merge_images(struct store_writer *writers, size_t count)
{
    struct merged *merged = merged_new();
    for (size_t i = 0; i < count; i++) {
        char path[] = "/tmp/warpwatch-test-XXXXXX", reason[STORE_REASON_BYTES];
        close(mkstemp(path));
        store_writer_save(&writers[i], path);
        assert_true(merged_add_store(merged, path, reason));
        unlink(path);
        store_writer_free(&writers[i]);
    }
    assert_true(merged_finish(merged));
    judge_all(merged);
    return merged;
}

static void launches_are_counted_in_every_way(void **state)
{
    (void)state;
    struct store_writer writer;
    store_writer_begin(&writer, 1);
    uint32_t device = store_writer_device(&writer, 0);
    uint32_t scale = store_writer_kernel(&writer, "_Z5scalePfi", 32),
             sum = store_writer_kernel(&writer, "sum", 40);
    uint32_t a = store_writer_configuration(&writer, scale, device, 4, 256);
    uint32_t b = store_writer_configuration(&writer, sum, device, 265, 1024);
    struct store_node nodes[] = {{a, 3}, {b, 1}};
    uint32_t body = store_writer_body(&writer, nodes, 2);
    store_writer_count(&writer, STORE_DIRECT, a, 5);
    store_writer_count(&writer, STORE_RUNTIME, a, 7);
    store_writer_count(&writer, STORE_REPLAY, body, 100);
    store_writer_count(&writer, STORE_REPLAY, body, 11);
    store_writer_count(&writer, STORE_GRAPH_DIRECT, b, 2);
    store_writer_count(&writer, STORE_FURTHER_DIRECT, sum, 20);
    store_writer_count(&writer, STORE_FURTHER_GRAPH, sum, 30);
    store_writer_count(&writer, STORE_UNCOUNTED, STORE_UNCOUNTED_CONDITIONAL, 9);

    struct merged *merged = merge_images(&writer, 1);
    assert_int_equal(merged->kernels_count, 2);
    const struct merged_kernel *kernels = merged->kernels;
    assert_string_equal(kernels[0].name, "scale(float*, int)");
    assert_int_equal(kernels[0].launches, 5 + 7 + 3 * 111);
    assert_int_equal(kernels[0].graph_launches, 3 * 111);
    assert_int_equal(kernels[0].runtime_launches, 7);
    assert_int_equal(kernels[1].launches, 111 + 2 + 50);
    assert_int_equal(kernels[1].graph_launches, 111 + 2 + 30);
    assert_int_equal(kernels[1].further_launches, 50);
    assert_int_equal(merged->totals.launches, kernels[0].launches + kernels[1].launches);
    assert_int_equal(merged->totals.uncounted, 9);
    assert_null(merged->processes[0].damage);
    const struct judgement *judged = &merged->configurations[kernels[1].first_configuration].judged;
    assert_int_equal(judged->blocks_per_sm, 1);
    assert_int_equal(judged->slots, 132);
    assert_int_equal(judged->full_waves, 2);
    merged_free(merged);
}

static void equal_kernels_of_two_processes_are_one(void **state)
{
    (void)state;
    struct store_writer writers[3];
    for (uint32_t i = 0; i < 3; i++) {
        store_writer_begin(&writers[i], 10 + i);
        writers[i].header.rank = 2 - (int)i;
        writers[i].records_per_extent = 1;
        uint32_t device = store_writer_device(&writers[i], i);
        uint32_t other = store_writer_kernel(&writers[i], "scale", i == 2 ? 64 : 32);
        uint32_t never = store_writer_kernel(&writers[i], "never", 32);
        store_writer_configuration(&writers[i], never, device, 1, 1);
        store_writer_count(&writers[i], STORE_DIRECT,
                           store_writer_configuration(&writers[i], other, device, 4, 256), 100 + i);
    }
    struct merged *merged = merge_images(writers, 3);
    assert_int_equal(merged->processes_count, 3);
    assert_int_equal(merged->processes[0].pid, 12); /* rank 0 first */
    assert_int_equal(merged->kernels_count,
                     2); /* two builds by registers; the one never launched is not there */
    assert_string_equal(merged->kernels[0].short_name, "scale [32 registers]");
    assert_int_equal(merged->kernels[0].configurations, 2); /* two devices */
    assert_int_equal(merged->kernels[0].launches, 201);
    const struct merged_configuration *configuration =
        &merged->configurations[merged->kernels[1].first_configuration];
    assert_int_equal(configuration->shares, 1);
    assert_int_equal(merged->shares[configuration->first_share].process, 0);
    assert_int_equal(merged->shares[configuration->first_share].launches, 102);
    merged_free(merged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_are_counted_in_every_way),
        cmocka_unit_test(equal_kernels_of_two_processes_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
