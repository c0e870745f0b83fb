/* Reads the process's identity from the system and from launchers' variables. */
#include "identity.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decimal.h"
#include "settings.h"

void identity_host(char host[64])
{
    char name[64] = "unknown";
    if (gethostname(name, sizeof name - 1) != 0) {
        strcpy(name, "unknown");
    }
    memcpy(host, name, sizeof name);
    /* It becomes part of a file name. */
    for (char *p = host; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
        *p = plain || *p == '-' || *p == '.' || *p == '_' ? *p : '_';
    }
}

static size_t read_file(const char *path, char *bytes, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t got = file < 0 ? 0 : 1;
    while (got > 0 && used < size) {
        got = read(file, bytes + used, size - used);
        used += got > 0 ? (size_t)got : 0;
    }
    if (file >= 0) {
        close(file);
    }
    return used;
}

/* Field 22 of /proc/self/stat. The command in parentheses may hold anything; field 3 follows its last one. */
static uint64_t start_ticks(void)
{
    char text[1024];
    text[read_file("/proc/self/stat", text, sizeof text - 1)] = '\0';
    const char *field = strrchr(text, ')');
    for (int number = 2; field && number < 22; number++) {
        field = strchr(field + 1, ' ');
    }
    if (field == NULL) {
        return 0;
    }
    field++;
    return decimal_read(&field);
}

static int32_t number_from(const char *const variables[], int32_t otherwise)
{
    for (; *variables; variables++) {
        uint64_t number = decimal_or(getenv(*variables), INT32_MAX, UINT64_MAX);
        if (number <= INT32_MAX) {
            return (int32_t)number;
        }
    }
    return otherwise;
}

static void fill_ranks(struct store_header *header)
{
    static const char *const rank[] = {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK", NULL};
    static const char *const local[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", NULL};
    static const char *const world[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", "PMI_SIZE",
                                        NULL};
    header->rank = number_from(rank, -1);
    header->local_rank = number_from(local, -1);
    header->world_size = (uint32_t)number_from(world, 0);
}

static void fill_texts(struct store_header *header)
{
    char text[PATH_MAX];
    size_t bytes = read_file("/proc/self/cmdline", text, sizeof text);
    while (bytes > 1 && text[bytes - 2] == '\0') {
        bytes--; /* a process that gave itself a shorter title leaves zeros behind it */
    }
    store_add_string(text, bytes, &header->command);
    if (getcwd(text, sizeof text)) {
        store_add_string(text, strlen(text), &header->directory);
    }
}

void identity_fill(struct store_header *header, const struct clock_moment *start, uint32_t driver_version)
{
    memcpy(header->magic, STORE_MAGIC, sizeof header->magic);
    header->version = STORE_VERSION;
    header->header_bytes = STORE_BLOCK_BYTES;
    header->features =
        (settings.times ? STORE_FEATURE_TIMES : 0) | (settings.trace ? STORE_FEATURE_TRACE : 0);
    header->pid_start_ticks = start_ticks();
    header->start_realtime_ns = start->realtime_ns;
    header->start_monotonic_ns = start->monotonic_ns;
    header->start_ticks = start->ticks;
    header->pid = (uint32_t)getpid();
    header->run = settings.run;
    header->driver_version = driver_version;
    identity_host(header->host);
    read_file("/proc/sys/kernel/random/boot_id", header->boot_id, 36);
    fill_ranks(header);
    fill_texts(header);
}
