/* Cubins: the figures of known kernels, both ABIs, and each way in which a file can be broken. */
#include "tests/unit/test.h"

#include <elf.h>

#include "report/cubin/bytes.h"
#include "report/cubin/cubin.h"
#include "report/cubin/elf_view.h"
#include "tests/unit/seed.h"

struct kernels {
    struct cubin_kernel at[16];
    struct cubin_parameter parameters[16][4];
    char names[16][64];
    unsigned count;
};

static bool keep(const struct cubin_kernel *kernel, void *context)
{
    struct kernels *kernels = context;
    assert_true(kernels->count < 16);
    struct cubin_kernel *kept = &kernels->at[kernels->count];
    *kept = *kernel;
    snprintf(kernels->names[kernels->count], 64, "%s", kernel->name);
    for (uint32_t i = 0; i < kernel->parameters_count && i < 4; i++) {
        kernels->parameters[kernels->count][i] = kernel->parameters[i];
    }
    kernels->count++;
    return true;
}

static enum cubin_status read(const struct seed *seed, struct cubin_info *info, struct kernels *kernels)
{
    kernels->count = 0;
    return cubin_read(seed->bytes, seed->size, info, keep, kernels);
}

static const struct cubin_kernel *kernel_named(const struct kernels *kernels, const char *name)
{
    for (unsigned i = 0; i < kernels->count; i++) {
        if (strcmp(kernels->names[i], name) == 0) {
            return &kernels->at[i];
        }
    }
    fail_msg("no kernel %s", name);
    return NULL;
}

/* tests/fuzz/kernels.cu */
static const char bounded[] = "_Z7boundedILi64EEvPfc", clustered[] = "_Z9clusteredPi";

static void the_figures_of_known_kernels(void **state)
{
    (void)state;
    struct seed seed = seed_read("sm_90a.cubin");
    struct cubin_info info;
    struct kernels kernels;
    assert_int_equal(read(&seed, &info, &kernels), CUBIN_OK);
    assert_int_equal(info.sm, 90);
    assert_int_equal(info.variant, 'a');
    assert_int_equal(info.abi, 8);
    assert_int_equal(info.toolkit, 130);
    assert_false(info.relocatable);
    assert_int_equal(kernels.count, 3);
    const struct cubin_kernel *kernel = kernel_named(&kernels, bounded);
    assert_int_equal(kernel->static_shared_bytes, 256);
    assert_int_equal(kernel->barriers, 1);
    assert_int_equal(kernel->max_threads[0], 64);
    assert_int_equal(kernel->max_threads[1] * kernel->max_threads[2], 1);
    assert_int_equal(kernel->parameters_count, 2);
    assert_int_equal(kernel->parameter_bytes, 9);
    assert_int_equal(kernel->parameter_base, 0x210);
    const struct cubin_parameter *parameters = kernels.parameters[kernel - kernels.at];
    assert_int_equal(parameters[0].offset, 0);
    assert_int_equal(parameters[0].bytes, 8);
    assert_int_equal(parameters[1].offset, 8);
    assert_int_equal(parameters[1].bytes, 1);
    kernel = kernel_named(&kernels, clustered);
    assert_true(kernel->valid & CUBIN_HAS_CLUSTER);
    assert_int_equal(kernel->cluster[0], 2);
    assert_false(kernel->valid & CUBIN_HAS_MAX_THREADS);
    seed_free(&seed);
}

static void cuda_12_keeps_its_figures_elsewhere(void **state)
{
    (void)state;
    struct seed new = seed_read("sm_75.cubin"), old = seed_read("abi7.cubin");
    struct cubin_info info;
    struct kernels new_kernels, old_kernels;
    assert_int_equal(read(&new, &info, &new_kernels), CUBIN_OK);
    assert_int_equal(info.abi, 8);
    assert_int_equal(info.sm, 75);
    assert_int_equal(read(&old, &info, &old_kernels), CUBIN_OK);
    assert_int_equal(info.abi, 7);
    assert_int_equal(info.sm, 75);
    assert_int_equal(old_kernels.count, new_kernels.count);
    for (unsigned i = 0; i < old_kernels.count; i++) {
        assert_int_equal(old_kernels.at[i].registers_per_thread, new_kernels.at[i].registers_per_thread);
        assert_int_equal(old_kernels.at[i].static_shared_bytes, new_kernels.at[i].static_shared_bytes);
        assert_true(old_kernels.at[i].barriers >= 1); /* the seed has 1 in each code section's flags */
    }
    seed_free(&new);
    seed_free(&old);
}

struct globals {
    unsigned count, constants;
    uint64_t bytes;
};

static bool sum_globals(const struct cubin_global *global, void *context)
{
    struct globals *globals = context;
    globals->count++;
    globals->constants += global->constant;
    globals->bytes += global->bytes;
    return true;
}

static void relocatable_code_says_so(void **state)
{
    (void)state;
    struct seed seed = seed_read("relocatable.cubin");
    struct cubin_info info;
    struct kernels kernels;
    assert_int_equal(read(&seed, &info, &kernels), CUBIN_OK);
    assert_true(info.relocatable);
    const struct cubin_kernel *kernel = kernel_named(&kernels, bounded);
    assert_int_equal(kernel->max_threads[0], 64);
    /* The tile of a template is a weak variable, which only the linker gives to the kernel. */
    assert_int_equal(kernel->static_shared_bytes, 0);
    seed_free(&seed);
    struct globals globals = {0};
    seed = seed_read("relocatable.cubin");
    assert_int_equal(cubin_read_globals(seed.bytes, seed.size, sum_globals, &globals), CUBIN_OK);
    assert_int_equal(globals.count, 3);
    seed_free(&seed);
}

static void global_variables(void **state)
{
    (void)state;
    struct seed seed = seed_read("sm_90a.cubin");
    struct globals globals = {0};
    assert_int_equal(cubin_read_globals(seed.bytes, seed.size, sum_globals, &globals), CUBIN_OK);
    assert_int_equal(globals.count, 3); /* counter, hidden, factor */
    assert_int_equal(globals.constants, 1);
    assert_int_equal(globals.bytes, 4 + 4 + 16);
    seed_free(&seed);
}

static void a_cubin_cut_anywhere_does_not_crash(void **state)
{
    (void)state;
    struct seed seed = seed_read("sm_120.cubin");
    Elf64_Ehdr header;
    memcpy(&header, seed.bytes, sizeof header);
    size_t needed = header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr);
    for (size_t size = 0; size < seed.size; size += size < 256 ? 1 : 61) {
        unsigned char *cut = malloc(size + 1);
        struct kernels kernels = {0};
        memcpy(cut, seed.bytes, size);
        enum cubin_status status = cubin_read(cut, size, NULL, keep, &kernels);
        assert_true(size >= needed || status != CUBIN_OK);
        free(cut);
    }
    seed_free(&seed);
}

/* The section of that name in a good image. */
static size_t section_header_of(const struct seed *seed, const char *name, Elf64_Shdr *section)
{
    struct elf_view view;
    assert_int_equal(elf_view_open(&view, seed->bytes, seed->size), CUBIN_OK);
    uint32_t index = elf_section_find(&view, name);
    assert_int_not_equal(index, 0);
    *section = elf_section(&view, index);
    return view.header.e_shoff + index * sizeof *section;
}

static enum cubin_status status_of(const struct seed *seed)
{
    struct kernels kernels;
    return read(seed, NULL, &kernels);
}

struct broken {
    const char *what;
    size_t offset;
    unsigned bytes;
    uint64_t value;
    enum cubin_status status;
};

static const struct broken broken_headers[] = {
    {"magic", 0, 1, 0, CUBIN_MALFORMED},
    {"32-bit", EI_CLASS, 1, ELFCLASS32, CUBIN_UNSUPPORTED},
    {"big-endian", EI_DATA, 1, ELFDATA2MSB, CUBIN_UNSUPPORTED},
    {"another machine", offsetof(Elf64_Ehdr, e_machine), 2, EM_X86_64, CUBIN_UNSUPPORTED},
    {"section header size", offsetof(Elf64_Ehdr, e_shentsize), 2, 40, CUBIN_MALFORMED},
    {"section header size 0", offsetof(Elf64_Ehdr, e_shentsize), 2, 0, CUBIN_MALFORMED},
    {"no sections", offsetof(Elf64_Ehdr, e_shoff), 8, 0, CUBIN_MALFORMED},
    {"sections past the end", offsetof(Elf64_Ehdr, e_shoff), 8, 1 << 30, CUBIN_TRUNCATED},
    {"sections near 2^64", offsetof(Elf64_Ehdr, e_shoff), 8, UINT64_MAX - 16, CUBIN_TRUNCATED},
    {"huge section count", offsetof(Elf64_Ehdr, e_shnum), 2, 0xfeff, CUBIN_TRUNCATED},
    {"section count 0", offsetof(Elf64_Ehdr, e_shnum), 2, 0, CUBIN_MALFORMED},
    {"name table index", offsetof(Elf64_Ehdr, e_shstrndx), 2, 0xfe00, CUBIN_MALFORMED},
    {"name table index extended", offsetof(Elf64_Ehdr, e_shstrndx), 2, SHN_XINDEX, CUBIN_OK},
};

static void each_broken_header_is_a_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken_headers / sizeof *broken_headers; i++) {
        struct seed seed = seed_read("sm_90a.cubin");
        memcpy(seed.bytes + broken_headers[i].offset, &broken_headers[i].value, broken_headers[i].bytes);
        if (status_of(&seed) != broken_headers[i].status) {
            fail_msg("%s: %s", broken_headers[i].what, cubin_status_text(status_of(&seed)));
        }
        seed_free(&seed);
    }
}

/* What one 64-bit field of a section header does. */
static enum cubin_status with_section_field(const char *name, size_t field, uint64_t value)
{
    struct seed seed = seed_read("sm_90a.cubin");
    Elf64_Shdr section;
    put_u64(&seed, section_header_of(&seed, name, &section) + field, value);
    enum cubin_status status = status_of(&seed);
    seed_free(&seed);
    return status;
}

static void each_broken_section_is_a_status(void **state)
{
    (void)state;
    const size_t offset = offsetof(Elf64_Shdr, sh_offset), size = offsetof(Elf64_Shdr, sh_size);
    assert_int_equal(with_section_field(".symtab", size, 25), CUBIN_MALFORMED);
    assert_int_equal(with_section_field(".symtab", size, 24 << 20), CUBIN_TRUNCATED);
    assert_int_equal(with_section_field(".symtab", size, UINT64_MAX - 23), CUBIN_TRUNCATED);
    assert_int_equal(with_section_field(".symtab", size, 0), CUBIN_MALFORMED); /* attributes name symbols */
    assert_int_equal(with_section_field(".symtab", offset, UINT64_MAX - 8), CUBIN_TRUNCATED);
    assert_int_equal(with_section_field(".strtab", offset, 1 << 30), CUBIN_TRUNCATED);
    assert_int_equal(with_section_field(".shstrtab", size, 1 << 30), CUBIN_TRUNCATED);
    assert_int_equal(with_section_field(".shstrtab", size, 0), CUBIN_OK); /* nameless: no kernels */
    assert_int_equal(with_section_field(".nv.info", size, 1 << 30), CUBIN_TRUNCATED);
    assert_int_equal(with_section_field(".nv.info._Z7boundedILi64EEvPfc", size, 1 << 30), CUBIN_TRUNCATED);
    assert_int_equal(with_section_field(".text._Z7boundedILi64EEvPfc", size, 1 << 30), CUBIN_TRUNCATED);
}

static void names_without_an_end_are_not_followed(void **state)
{
    (void)state;
    struct seed seed = seed_read("sm_90a.cubin");
    Elf64_Shdr section;
    section_header_of(&seed, ".strtab", &section);
    memset(seed.bytes + section.sh_offset, 'x', section.sh_size);
    assert_int_equal(status_of(&seed), CUBIN_OK);
    struct kernels kernels;
    read(&seed, NULL, &kernels);
    assert_int_equal(kernels.count, 0);
    seed_free(&seed);
}

/* One record at the start of an attribute section, the rest as it was. */
static enum cubin_status with_record(const char *name, uint32_t record)
{
    struct seed seed = seed_read("sm_90a.cubin");
    Elf64_Shdr section;
    section_header_of(&seed, name, &section);
    put_u32(&seed, section.sh_offset, record);
    enum cubin_status status = status_of(&seed);
    seed_free(&seed);
    return status;
}

static void each_broken_attribute_is_a_status(void **state)
{
    (void)state;
    static const char own[] = ".nv.info._Z7boundedILi64EEvPfc";
    assert_int_equal(with_record(own, 0x00003700), CUBIN_MALFORMED);        /* format 0 */
    assert_int_equal(with_record(own, 0x00003705), CUBIN_MALFORMED);        /* format 5 */
    assert_int_equal(with_record(own, 0x000437ff), CUBIN_MALFORMED);        /* format 255 */
    assert_int_equal(with_record(own, 0xfff03704), CUBIN_TRUNCATED);        /* payload past the end */
    assert_int_equal(with_record(own, 0x00041704), CUBIN_MALFORMED);        /* parameter of 4 bytes */
    assert_int_equal(with_record(own, 0x00040504), CUBIN_MALFORMED);        /* bounds of 4 bytes */
    assert_int_equal(with_record(own, 0x00041004), CUBIN_MALFORMED);        /* required block of 4 bytes */
    assert_int_equal(with_record(own, 0x00043d04), CUBIN_MALFORMED);        /* cluster of 4 bytes */
    assert_int_equal(with_record(own, 0x00040a04), CUBIN_MALFORMED);        /* bank of 4 bytes */
    assert_int_equal(with_record(own, 0x0004fe04), CUBIN_OK);               /* unknown attribute */
    assert_int_equal(with_record(".nv.info", 0x00042f04), CUBIN_MALFORMED); /* registers of nobody */
    assert_int_equal(with_record(".nv.info", 0x00002f01), CUBIN_MALFORMED); /* without payload */
}

static void attributes_of_absent_symbols_are_refused(void **state)
{
    (void)state;
    struct seed seed = seed_read("sm_90a.cubin");
    Elf64_Shdr section;
    section_header_of(&seed, ".nv.info", &section);
    put_u32(&seed, section.sh_offset + 4, 1 << 24);
    assert_int_equal(status_of(&seed), CUBIN_MALFORMED);
    seed_free(&seed);
}

static void an_image_is_measured_without_its_length(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum image_kind kind;
    } files[] = {
        {"sm_75.cubin", IMAGE_CUBIN},       {"sm_90a.cubin", IMAGE_CUBIN}, {"sm_120.cubin", IMAGE_CUBIN},
        {"relocatable.cubin", IMAGE_CUBIN}, {"size.fatbin", IMAGE_FATBIN}, {"kernels.ptx", IMAGE_PTX},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct seed seed = seed_read(files[i].name);
        size_t size = 0;
        unsigned char *image = calloc(1, seed.size + 64);
        memcpy(image, seed.bytes, seed.size);
        assert_int_equal(image_measure(image, NULL, &size), files[i].kind);
        assert_int_equal(size, seed.size);
        free(image);
        seed_free(&seed);
    }
}

static void a_wrapper_leads_to_its_container(void **state)
{
    (void)state;
    struct seed seed = seed_read("size.fatbin");
    struct {
        uint32_t magic, version;
        const void *container, *name;
    } wrapper = {FATBIN_WRAPPER_MAGIC, 1, seed.bytes, NULL};
    const void *container = NULL;
    size_t size = 0;
    assert_int_equal(image_measure(&wrapper, &container, &size), IMAGE_WRAPPER);
    assert_ptr_equal(container, seed.bytes);
    assert_int_equal(size, seed.size);
    wrapper.container = NULL;
    assert_int_equal(image_measure(&wrapper, &container, &size), IMAGE_UNKNOWN);
    assert_int_equal(image_measure("\x01\x02\x03\x04", NULL, &size), IMAGE_UNKNOWN);
    assert_int_equal(image_measure("", NULL, &size), IMAGE_UNKNOWN);
    seed_free(&seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_figures_of_known_kernels),
        cmocka_unit_test(cuda_12_keeps_its_figures_elsewhere),
        cmocka_unit_test(relocatable_code_says_so),
        cmocka_unit_test(global_variables),
        cmocka_unit_test(a_cubin_cut_anywhere_does_not_crash),
        cmocka_unit_test(each_broken_header_is_a_status),
        cmocka_unit_test(each_broken_section_is_a_status),
        cmocka_unit_test(names_without_an_end_are_not_followed),
        cmocka_unit_test(each_broken_attribute_is_a_status),
        cmocka_unit_test(attributes_of_absent_symbols_are_refused),
        cmocka_unit_test(an_image_is_measured_without_its_length),
        cmocka_unit_test(a_wrapper_leads_to_its_container),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
