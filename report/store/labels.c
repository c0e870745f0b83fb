/* Labels from flags, shape and name. */
#include "labels.h"

#include <string.h>

const char *const launch_label_names[LABEL_KINDS] = {"cooperative",   "persistent",   "cluster",
                                                     "communication", "programmatic", "partial_device",
                                                     "concurrent",    "triton"};

enum place { START, ANYWHERE };
static const struct {
    const char *text;
    enum place place;
} communication[] = {
#define COMMUNICATION(text, place) {text, place},
#include "communication.def"
#undef COMMUNICATION
};

/* The function's name without return type, template arguments and parameters: "void a::f<1>(int)" → "a::f".
 */
static size_t function_name(const char *name, const char **start)
{
    size_t length = strcspn(name, "<(");
    *start = name;
    for (size_t i = 0; i < length; i++) {
        if (name[i] == ' ' && i + 1 < length) {
            *start = name + i + 1;
        }
    }
    return length - (size_t)(*start - name);
}

static bool is_communication(const char *name)
{
    const char *start;
    size_t length = function_name(name, &start);
    for (size_t i = 0; i < sizeof communication / sizeof communication[0]; i++) {
        const char *found = memmem(start, length, communication[i].text, strlen(communication[i].text));
        if (found && (communication[i].place == ANYWHERE || found == start)) {
            return true;
        }
    }
    return false;
}

/* One block for each SM or a few, all resident at once: it loops over its work itself. */
static bool is_persistent(const struct judgement *judged)
{
    return (judged->valid & JUDGED_WAVES) && judged->sms > 1 && judged->blocks <= judged->slots &&
           judged->blocks % judged->sms == 0;
}

/* Triton names kernels as in C, loads them from memory, and bounds them to the one block size that they are
 * compiled for, a power of two of warps: so does hardly anything else. Inductor's names say it. */
static bool is_triton(const struct merged_kernel *kernel, const struct merged_configuration *configuration)
{
    const uint32_t *block = configuration->block;
    bool one_size = (kernel->valid & STORE_KERNEL_ATTRIBUTES) && block[1] * block[2] == 1 &&
                    kernel->max_threads_per_block == block[0] && block[0] < 1024 && block[0] % 32 == 0 &&
                    (block[0] & (block[0] - 1)) == 0;
    return strncmp(kernel->mangled, "triton_", 7) == 0 ||
           (one_size && !kernel->image && strncmp(kernel->mangled, "_Z", 2) != 0);
}

unsigned labels_of(const struct merged_kernel *kernel, const struct merged_configuration *configuration,
                   const struct merged_device *device, const struct judgement *judged)
{
    unsigned labels = 0;
    labels |= configuration->flags & STORE_LAUNCH_COOPERATIVE ? LABEL_COOPERATIVE : 0;
    labels |= configuration->flags & STORE_LAUNCH_PDL ? LABEL_PROGRAMMATIC : 0;
    labels |= configuration_has_cluster(configuration) ? LABEL_CLUSTER : 0;
    labels |= is_communication(kernel->name) ? LABEL_COMMUNICATION : 0;
    labels |= is_persistent(judged) ? LABEL_PERSISTENT : 0;
    labels |= configuration->beside_others > configuration->launches / 2 ? LABEL_CONCURRENT : 0;
    labels |= is_triton(kernel, configuration) ? LABEL_TRITON : 0;
    if ((judged->valid & JUDGED_SLOTS) && (device->limits.valid & 1u) && judged->sms < device->limits.sms) {
        labels |= LABEL_PARTIAL_DEVICE;
    }
    return labels;
}
