/* Barriers limit occupancy, and no driver attribute tells their number: it stands in the cubin. Reading
 * images costs time, so it is done only where something is unexplained, and only for a few files. */
#include "images.h"

#include <string.h>
#include <sys/stat.h>

#include "model/occupancy.h"
#include "scan/scan.h"

enum { IMAGES_MOST = 4, IMAGE_MOST_BYTES = 64 << 20 };

/* The configuration whose limit is unexplained, or NULL. */
static const struct merged_configuration *unexplained(const struct merged *merged,
                                                      const struct merged_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->configurations; i++) {
        const struct merged_configuration *configuration =
            &merged->configurations[kernel->first_configuration + i];
        if ((configuration->judged.valid & JUDGED_LIMITS) &&
            (configuration->judged.limiters & LIMITER_DRIVER)) {
            return configuration;
        }
    }
    return NULL;
}

static bool wants(const struct merged *merged, const struct merged_kernel *kernel)
{
    return kernel->image && kernel->barriers == MERGED_NONE && unexplained(merged, kernel);
}

/* The path comes from a store: it may lead anywhere, or to another file of that name on this machine. */
static bool is_readable_image(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= IMAGE_MOST_BYTES;
}

static bool same_kernel(const struct scan_kernel *scanned, const struct merged_kernel *kernel)
{
    return scan_has_resources(scanned) && strcmp(scanned->mangled, kernel->mangled) == 0 &&
           scanned->registers_per_thread == kernel->registers_per_thread &&
           scanned->static_shared_bytes == kernel->static_shared_bytes;
}

static bool take_barriers(struct merged *merged, const char *image, const struct scan_file *file)
{
    bool learned = false;
    for (uint32_t i = 0; i < merged->kernels_count; i++) {
        struct merged_kernel *kernel = &merged->kernels[i];
        for (size_t j = 0;
             wants(merged, kernel) && strcmp(kernel->image, image) == 0 && j < file->kernels_count; j++) {
            if (same_kernel(&file->kernels[j], kernel)) {
                kernel->barriers = file->kernels[j].barriers;
                learned = true;
            }
        }
    }
    return learned;
}

static bool look_into(struct merged *merged, const struct merged_kernel *kernel)
{
    const struct merged_configuration *configuration = unexplained(merged, kernel);
    struct scan_options options = {.device_capability =
                                       (int)merged->devices[configuration->device].limits.compute_capability};
    struct scan_file file;
    bool learned =
        scan_file_read(kernel->image, &options, &file) == NULL && take_barriers(merged, kernel->image, &file);
    scan_file_free(&file);
    return learned;
}

bool images_look_up(struct merged *merged)
{
    const char *looked[IMAGES_MOST];
    unsigned count = 0;
    bool learned = false;
    for (uint32_t i = 0; i < merged->kernels_count && count < IMAGES_MOST; i++) {
        const struct merged_kernel *kernel = &merged->kernels[i];
        bool fresh = wants(merged, kernel);
        for (unsigned j = 0; fresh && j < count; j++) {
            fresh = strcmp(looked[j], kernel->image) != 0;
        }
        if (fresh && is_readable_image(kernel->image)) {
            looked[count++] = kernel->image;
            learned = look_into(merged, kernel) || learned;
        }
    }
    return learned;
}
