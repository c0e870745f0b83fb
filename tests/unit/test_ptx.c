/* Entry functions of PTX texts. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

#include "report/cubin/cubin.h"

struct seen {
    unsigned count;
    char name[64];
    struct cubin_kernel last;
    struct cubin_parameter parameters[8];
};

static bool see(const struct cubin_kernel *kernel, void *context)
{
    struct seen *seen = context;
    seen->count++;
    seen->last = *kernel;
    snprintf(seen->name, sizeof seen->name, "%s", kernel->name);
    for (uint32_t i = 0; i < kernel->parameters_count && i < 8; i++) {
        seen->parameters[i] = kernel->parameters[i];
    }
    return true;
}

static enum cubin_status read(const char *text, struct cubin_info *info, struct seen *seen)
{
    *seen = (struct seen){0};
    return ptx_read(text, strlen(text), info, see, seen);
}

#define HEAD ".version 8.7\n.target sm_100f, debug\n.address_size 64\n"

static void parameters_and_bounds(void **state)
{
    (void)state;
    struct seen seen;
    struct cubin_info info;
    assert_int_equal(read(HEAD ".visible .entry scale(\n"
                               "  .param .u64 .ptr .global .align 16 p,\n"
                               "  .param .u8 c, // a comment, with a comma\n"
                               "  .param .align 16 .b8 v[40],\n"
                               "  .param .f16x2 h)\n"
                               ".maxntid 128, 2\n.minnctapersm 2\n.maxnreg 64\n.maxclusterrank 8\n"
                               "{ ret; }\n",
                          &info, &seen),
                     CUBIN_OK);
    assert_int_equal(info.sm, 100);
    assert_int_equal(info.variant, 'f');
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.name, "scale");
    assert_int_equal(seen.last.parameters_count, 4);
    assert_int_equal(seen.parameters[0].bytes, 8);
    assert_int_equal(seen.parameters[1].offset, 8);
    assert_int_equal(seen.parameters[2].offset, 16);
    assert_int_equal(seen.parameters[2].bytes, 40);
    assert_int_equal(seen.parameters[3].offset, 56);
    assert_int_equal(seen.parameters[3].bytes, 4);
    assert_int_equal(seen.last.parameter_bytes, 60);
    assert_int_equal(seen.last.max_threads[0], 128);
    assert_int_equal(seen.last.max_threads[1], 2);
    assert_int_equal(seen.last.max_threads[2], 1);
    assert_int_equal(seen.last.max_registers, 64);
    assert_int_equal(seen.last.max_cluster_rank, 8);
    assert_int_equal(seen.last.valid,
                     CUBIN_HAS_PARAMETERS | CUBIN_HAS_MAX_THREADS | CUBIN_HAS_MAX_CLUSTER_RANK);
}

static void required_block_and_cluster(void **state)
{
    (void)state;
    struct seen seen;
    assert_int_equal(read(HEAD ".entry k .reqntid 32,4,2 .reqnctapercluster 2 { }", NULL, &seen), CUBIN_OK);
    assert_int_equal(seen.last.valid, CUBIN_HAS_REQUIRED_BLOCK | CUBIN_HAS_CLUSTER);
    assert_int_equal(seen.last.required_block[2], 2);
    assert_int_equal(seen.last.cluster[0], 2);
    assert_int_equal(seen.last.cluster[1], 1);
}

static void what_only_looks_like_a_kernel(void **state)
{
    (void)state;
    struct seen seen;
    assert_int_equal(read(HEAD "// .entry commented() {}\n/* .entry out() {} */\n"
                               ".file 1 \"a.entry b.cu\"\n.entry declared();\n.entry.not { }\n"
                               ".func f() { }\n.weak .entry real() { }",
                          NULL, &seen),
                     CUBIN_OK);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.name, "real");
}

static void a_text_is_known_by_its_beginning(void **state)
{
    (void)state;
    static const char yes[] = "//\n// Generated\n/* twice */\n\n .version 8.4\n",
                      no[] = "print('.version 8.4 .target')";
    assert_true(ptx_is_text(yes, sizeof yes));
    assert_false(ptx_is_text(no, sizeof no));
    assert_false(ptx_is_text("", 0));
    assert_false(ptx_is_text(".version", 8));
}

static void broken_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum cubin_status status;
    } texts[] = {
        {"", CUBIN_MALFORMED},
        {"no target", CUBIN_MALFORMED},
        {".target texmode_independent", CUBIN_MALFORMED},
        {HEAD ".entry", CUBIN_OK},
        {HEAD ".entry ", CUBIN_TRUNCATED},
        {HEAD ".entry k", CUBIN_TRUNCATED},
        {HEAD ".entry k(", CUBIN_MALFORMED},
        {HEAD ".entry k(.param .u64", CUBIN_MALFORMED},
        {HEAD ".entry k(.param .align 0 .b8 v[4]) {", CUBIN_OK},
        {HEAD ".entry k(.param .b8 v[99999999999]) {", CUBIN_OK},
        {HEAD ".entry k() .maxntid", CUBIN_TRUNCATED},
        {HEAD "/* without an end", CUBIN_OK},
        {HEAD "\"without an end", CUBIN_OK},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct seen seen;
        if (read(texts[i].text, NULL, &seen) != texts[i].status) {
            fail_msg("%s: %s", texts[i].text, cubin_status_text(read(texts[i].text, NULL, &seen)));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_and_bounds),
        cmocka_unit_test(required_block_and_cluster),
        cmocka_unit_test(what_only_looks_like_a_kernel),
        cmocka_unit_test(a_text_is_known_by_its_beginning),
        cmocka_unit_test(broken_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
