/* Runs the toolkit's ptxas and nvlink. A real driver compiles inside the process; the child processes of this
 * one see neither the preload nor the client's library path. */
#include "jit.h"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define MAX_ENVIRONMENT 4096

/* --- options ------------------------------------------------------------------------------------------- */

void jit_options_read(struct jit_options *jit, unsigned count, const CUjit_option *options, void **values)
{
    for (unsigned i = 0; i < count; i++) {
        uintptr_t number = (uintptr_t)values[i];
        switch ((int)options[i]) {
        case CU_JIT_MAX_REGISTERS:
            jit->max_registers = (unsigned)number;
            break;
        case CU_JIT_OPTIMIZATION_LEVEL:
            jit->optimization_level = (unsigned)number;
            jit->optimization_set = true;
            break;
        case CU_JIT_ERROR_LOG_BUFFER:
            jit->error_log = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER:
            jit->info_log = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            jit->error_log_bytes = (unsigned)number;
            jit->error_log_size = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            jit->info_log_bytes = (unsigned)number;
            jit->info_log_size = &values[i];
            break;
        default:
            break;
        }
    }
}

static void log_write(char *buffer, size_t bytes, void **size, const char *text)
{
    size_t length = 0;
    if (buffer && bytes) {
        length = strnlen(text, bytes - 1);
        memcpy(buffer, text, length);
        buffer[length] = 0;
    }
    if (size) {
        *size = (void *)(uintptr_t)length;
    }
}

static void logs_write(const struct jit_options *jit, bool failed, const char *text)
{
    log_write(jit->error_log, jit->error_log_bytes, jit->error_log_size, failed ? text : "");
    log_write(jit->info_log, jit->info_log_bytes, jit->info_log_size, failed ? "" : text);
}

/* --- running a tool ------------------------------------------------------------------------------------ */

static bool is_executable(char *path, size_t bytes, const char *directory, size_t directory_bytes,
                          const char *rest)
{
    snprintf(path, bytes, "%.*s%s", (int)directory_bytes, directory, rest);
    return access(path, X_OK) == 0;
}

static bool find_in_path(const char *name, char *path, size_t bytes)
{
    const char *list = getenv("PATH");
    while (list && *list) {
        size_t length = strcspn(list, ":");
        if (length && is_executable(path, bytes, list, length, name)) {
            return true;
        }
        list += length + (list[length] == ':');
    }
    return false;
}

/* `name` with a leading slash. */
static bool find_tool(const char *name, char *path, size_t bytes)
{
    static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH"};
    char in_bin[64];
    snprintf(in_bin, sizeof(in_bin), "/bin%s", name);
    for (size_t i = 0; i < 2; i++) {
        const char *home = getenv(homes[i]);
        if (home && is_executable(path, bytes, home, strlen(home), in_bin)) {
            return true;
        }
    }
    return find_in_path(name, path, bytes) || is_executable(path, bytes, "/usr/local/cuda", 15, in_bin);
}

/* A copy of the environment without what is meant for the client. */
static size_t tool_environment(char **copy)
{
    size_t count = 0;
    for (char **variable = environ; *variable && count < MAX_ENVIRONMENT - 1; variable++) {
        if (strncmp(*variable, "LD_", 3) != 0) {
            copy[count++] = *variable;
        }
    }
    copy[count] = NULL;
    return count;
}

/* 0: it ran and succeeded, otherwise its exit status, or -1. Its output goes to `log`. */
static int run(const char *const *arguments, const char *log)
{
    char *environment[MAX_ENVIRONMENT];
    tool_environment(environment);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child;
    int failed = posix_spawn(&child, arguments[0], &actions, NULL, (char *const *)arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    int status;
    if (failed || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return -1;
    }
    return WEXITSTATUS(status);
}

/* --- files --------------------------------------------------------------------------------------------- */

static bool file_write(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "we");
    bool written = file && fwrite(data, 1, bytes, file) == bytes;
    return file && fclose(file) == 0 && written;
}

/* Ended by a NUL beyond *bytes. */
static unsigned char *file_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "re");
    struct stat status;
    unsigned char *data = NULL;
    if (file && fstat(fileno(file), &status) == 0) {
        *bytes = (size_t)status.st_size;
        data = malloc(*bytes + 1);
        if (data && fread(data, 1, *bytes, file) == *bytes) {
            data[*bytes] = 0;
        } else {
            free(data);
            data = NULL;
        }
    }
    if (file) {
        fclose(file);
    }
    return data;
}

struct workplace {
    char directory[JIT_PATH_BYTES], input[JIT_PATH_BYTES + 16], output[JIT_PATH_BYTES + 16],
        log[JIT_PATH_BYTES + 16];
};

bool jit_directory(char *path, size_t bytes)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(path, bytes, "%s/simcuda-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    return mkdtemp(path) != NULL;
}

static bool workplace_make(struct workplace *place)
{
    if (!jit_directory(place->directory, sizeof(place->directory))) {
        return false;
    }
    snprintf(place->input, sizeof(place->input), "%s/in.ptx", place->directory);
    snprintf(place->output, sizeof(place->output), "%s/out.cubin", place->directory);
    snprintf(place->log, sizeof(place->log), "%s/log", place->directory);
    return true;
}

static void workplace_remove(const struct workplace *place)
{
    unlink(place->input);
    unlink(place->output);
    unlink(place->log);
    rmdir(place->directory);
}

/* --- compiling ----------------------------------------------------------------------------------------- */

struct compiled {
    struct compiled *next;
    char *ptx;
    size_t ptx_bytes;
    struct jit_options jit;
    unsigned char *cubin;
    size_t cubin_bytes;
};

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static struct compiled *cache;

static bool same_code(const struct compiled *known, const char *ptx, size_t ptx_bytes,
                      const struct jit_options *jit)
{
    return known->jit.sm == jit->sm && known->jit.variant == jit->variant &&
           known->jit.max_registers == jit->max_registers &&
           known->jit.optimization_set == jit->optimization_set &&
           known->jit.optimization_level == jit->optimization_level &&
           known->jit.relocatable == jit->relocatable && known->ptx_bytes == ptx_bytes &&
           memcmp(known->ptx, ptx, ptx_bytes) == 0;
}

static unsigned char *copy_of(const void *data, size_t bytes)
{
    unsigned char *copy = malloc(bytes + 1);
    return copy ? memcpy(copy, data, bytes) : NULL;
}

static bool cache_find(const char *ptx, size_t ptx_bytes, const struct jit_options *jit,
                       unsigned char **cubin, size_t *cubin_bytes)
{
    for (struct compiled *known = cache; known; known = known->next) {
        if (same_code(known, ptx, ptx_bytes, jit)) {
            *cubin_bytes = known->cubin_bytes;
            *cubin = copy_of(known->cubin, known->cubin_bytes);
            return *cubin != NULL;
        }
    }
    return false;
}

static void cache_add(const char *ptx, size_t ptx_bytes, const struct jit_options *jit,
                      const unsigned char *cubin, size_t cubin_bytes)
{
    struct compiled *known = malloc(sizeof(*known));
    if (known) {
        *known = (struct compiled){cache, (char *)copy_of(ptx, ptx_bytes), ptx_bytes,
                                   *jit,  copy_of(cubin, cubin_bytes),     cubin_bytes};
        cache = known;
    }
}

static int run_ptxas(const char *tool, const struct workplace *place, const struct jit_options *jit)
{
    char architecture[32], registers[32], level[32];
    char variant[2] = {jit->variant, 0};
    snprintf(architecture, sizeof(architecture), "-arch=sm_%d%s", jit->sm, variant);
    const char *arguments[12] = {tool, architecture, place->input, "-o", place->output};
    size_t count = 5;
    if (jit->max_registers) {
        snprintf(registers, sizeof(registers), "-maxrregcount=%u", jit->max_registers);
        arguments[count++] = registers;
    }
    if (jit->optimization_set) {
        snprintf(level, sizeof(level), "-O%u", jit->optimization_level);
        arguments[count++] = level;
    }
    if (jit->relocatable) {
        arguments[count++] = "-c";
    }
    return run(arguments, place->log);
}

static CUresult result_of(int status, const struct workplace *place, const struct jit_options *jit,
                          unsigned char **cubin, size_t *cubin_bytes)
{
    size_t log_bytes;
    unsigned char *log = file_read(place->log, &log_bytes);
    logs_write(jit, status != 0, log ? (const char *)log : "");
    CUresult result = CUDA_SUCCESS;
    if (status != 0) {
        bool version = log && strstr((const char *)log, "Unsupported .version");
        result = version ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION : CUDA_ERROR_INVALID_PTX;
    } else if (!(*cubin = file_read(place->output, cubin_bytes))) {
        result = CUDA_ERROR_OPERATING_SYSTEM;
    }
    free(log);
    return result;
}

static CUresult compile(const char *ptx, size_t ptx_bytes, const struct jit_options *jit,
                        unsigned char **cubin, size_t *cubin_bytes)
{
    char tool[4096];
    struct workplace place;
    if (!find_tool("/ptxas", tool, sizeof(tool))) {
        return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    }
    if (!workplace_make(&place)) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    CUresult result = CUDA_ERROR_OPERATING_SYSTEM;
    if (file_write(place.input, ptx, ptx_bytes)) {
        result = result_of(run_ptxas(tool, &place, jit), &place, jit, cubin, cubin_bytes);
    }
    workplace_remove(&place);
    return result;
}

CUresult jit_compile(const char *ptx, size_t ptx_bytes, const struct jit_options *jit, unsigned char **cubin,
                     size_t *cubin_bytes)
{
    pthread_mutex_lock(&cache_lock);
    CUresult result = CUDA_SUCCESS;
    if (!cache_find(ptx, ptx_bytes, jit, cubin, cubin_bytes)) {
        result = compile(ptx, ptx_bytes, jit, cubin, cubin_bytes);
        if (result == CUDA_SUCCESS) {
            cache_add(ptx, ptx_bytes, jit, *cubin, *cubin_bytes);
        }
    } else {
        logs_write(jit, false, "");
    }
    pthread_mutex_unlock(&cache_lock);
    return result;
}

/* --- linking ------------------------------------------------------------------------------------------- */

CUresult jit_link(char *const *files, size_t files_count, const struct jit_options *jit,
                  unsigned char **cubin, size_t *cubin_bytes)
{
    char tool[4096], architecture[32];
    char variant[2] = {jit->variant, 0};
    struct workplace place;
    if (!find_tool("/nvlink", tool, sizeof(tool))) {
        return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    }
    const char **arguments = calloc(files_count + 5, sizeof(char *));
    if (!arguments || !workplace_make(&place)) {
        free(arguments);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    snprintf(architecture, sizeof(architecture), "-arch=sm_%d%s", jit->sm, variant);
    const char *fixed[] = {tool, architecture, "-o", place.output};
    memcpy(arguments, fixed, sizeof(fixed));
    memcpy(arguments + 4, files, files_count * sizeof(char *));
    CUresult result = result_of(run(arguments, place.log), &place, jit, cubin, cubin_bytes);
    workplace_remove(&place);
    free(arguments);
    return result;
}
