/* make_stores DIR STORES CONFIGURATIONS: a directory of stores as ranks of one job would leave them, for
 * tests and figures of the report at scale. All ranks launch the same kernels, 40 shapes each, so that all of
 * them merge. */
#include <stdio.h>
#include <stdlib.h>

#include "store_writer.h"

#define SHAPES_PER_KERNEL 40

/* _ZN2at6native29vectorized_elementwise_kernelILi4E…: each with another functor. */
static void kernel_name(char name[200], uint32_t number)
{
    snprintf(name, 200, "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_12Functor%05uEEEviT0_PKf",
             number);
}

static void fill(struct store_writer *writer, uint32_t rank, uint32_t configurations)
{
    static const char command[] = "python\0train.py\0--batch\0008";
    store_writer_begin(writer, 4000 + rank);
    writer->header.rank = (int32_t)rank;
    writer->header.hook_samples = 1000;
    writer->header.hook_ns = 21000;
    store_writer_command(writer, command, sizeof command);
    uint32_t device = store_writer_device(writer, rank % 8), kernel = 0;
    for (uint32_t i = 0; i < configurations; i++) {
        if (i % SHAPES_PER_KERNEL == 0) {
            char name[200];
            kernel_name(name, i / SHAPES_PER_KERNEL);
            kernel = store_writer_kernel(writer, name, 16 + i / SHAPES_PER_KERNEL % 100);
        }
        uint32_t configuration =
            store_writer_configuration(writer, kernel, device, 1 + i % 4000, 32 * (1 + i % 32));
        store_writer_count(writer, i % 2 ? STORE_RUNTIME : STORE_DIRECT, configuration, 1 + i % 1000);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fputs("usage: make_stores DIR STORES CONFIGURATIONS\n", stderr);
        return 2;
    }
    uint32_t stores = (uint32_t)strtoul(argv[2], NULL, 10),
             configurations = (uint32_t)strtoul(argv[3], NULL, 10);
    for (uint32_t rank = 0; rank < stores; rank++) {
        struct store_writer writer;
        char path[4096];
        fill(&writer, rank, configurations);
        snprintf(path, sizeof path, "%s/warpwatch.node1.%u.1.ww", argv[1], 4000 + rank);
        store_writer_save(&writer, path);
        store_writer_free(&writer);
    }
    return 0;
}
