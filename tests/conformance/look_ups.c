/* Preloaded before all else: writes down what a program asks of the driver, and what it is handed, as the
 * program sees it: dlsym, both forms of cuGetProcAddress, export tables. One line each, to the file that
 * LOOK_UPS names: DOOR NAME VERSION FLAGS RESULT STATUS OBJECT+OFFSET */
#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The loader's answer depends on who asks: all that is not about the driver jumps on to the next dlsym with
 * the stack as it came. The stub asks look_ups_dlsym, which gives the address to jump to, or NULL and what to
 * answer. */
__asm__(".text\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        "dlsym:\n"
        "    push %rdi\n"
        "    push %rsi\n"
        "    sub $8, %rsp\n"
        "    mov 24(%rsp), %rdx\n"
        "    call look_ups_dlsym\n"
        "    mov %rdx, %r11\n"
        "    add $8, %rsp\n"
        "    pop %rsi\n"
        "    pop %rdi\n"
        "    test %r11, %r11\n"
        "    jz 1f\n"
        "    jmp *%r11\n"
        "1:  ret\n"
        ".size dlsym, . - dlsym\n");

struct answer {
    void *value;
    void *jump;
};
__attribute__((visibility("hidden"))) struct answer look_ups_dlsym(void *library, const char *name,
                                                                   const void *caller);

typedef CUresult first_form(const char *name, void **function, int version, cuuint64_t flags);
typedef CUresult second_form(const char *name, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status);
typedef CUresult table_form(const void **table, const CUuuid *which);

static void *(*next_dlsym)(void *, const char *);
static first_form *next_first;
static second_form *next_second;
static table_form *next_table;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "libcuda.so.1+4f0"; "-" for NULL or what no object holds. */
static const char *where(const void *address, char text[256])
{
    Dl_info info;
    if (address == NULL || !dladdr(address, &info)) {
        return "-";
    }
    snprintf(text, 256, "%s+%" PRIxPTR, base_name(info.dli_fname),
             (uintptr_t)address - (uintptr_t)info.dli_fbase);
    return text;
}

static bool is_held_by(const void *address, const char *library)
{
    Dl_info info;
    return dladdr(address, &info) && strncmp(base_name(info.dli_fname), library, strlen(library)) == 0;
}

__attribute__((format(printf, 1, 2))) static void write_line(const char *format, ...)
{
    const char *path = getenv("LOOK_UPS");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    va_list values;
    va_start(values, format);
    if (file >= 0) {
        vdprintf(file, format, values);
        close(file);
    }
    va_end(values);
}

static first_form logged_first;
static second_form logged_second;
static table_form logged_table;

/* What leads to further look-ups is handed out as the functions below. */
static void *followed(const char *name, int version, void *address)
{
    if (strcmp(name, "cuGetProcAddress") == 0 && version < 12000) {
        next_first = (first_form *)address;
        return (void *)logged_first;
    }
    if (strncmp(name, "cuGetProcAddress", strlen("cuGetProcAddress")) == 0) {
        next_second = (second_form *)address;
        return (void *)logged_second;
    }
    if (strcmp(name, "cuGetExportTable") == 0) {
        next_table = (table_form *)address;
        return (void *)logged_table;
    }
    return address;
}

static void *found(CUresult result, void **function)
{
    return result == CUDA_SUCCESS && function ? *function : NULL;
}

static CUresult logged_first(const char *name, void **function, int version, cuuint64_t flags)
{
    CUresult result = next_first(name, function, version, flags);
    void *address = found(result, function);
    char text[256];
    write_line("v1 \"%s\" %d %" PRIu64 " %d - %s\n", name, version, (uint64_t)flags, result,
               where(address, text));
    if (address) {
        *function = followed(name, version, address);
    }
    return result;
}

static CUresult logged_second(const char *name, void **function, int version, cuuint64_t flags,
                              CUdriverProcAddressQueryResult *status)
{
    CUresult result = next_second(name, function, version, flags, status);
    void *address = found(result, function);
    char text[256], said[16] = "-";
    if (status) {
        snprintf(said, sizeof(said), "%d", (int)*status);
    }
    write_line("v2 \"%s\" %d %" PRIu64 " %d %s %s\n", name, version, (uint64_t)flags, result, said,
               where(address, text));
    if (address) {
        *function = followed(name, version, address);
    }
    return result;
}

static CUresult logged_table(const void **table, const CUuuid *which)
{
    CUresult result = next_table(table, which);
    char name[33] = "", text[256];
    for (int i = 0; which && i < 16; i++) {
        snprintf(name + 2 * i, 3, "%02x", (unsigned char)which->bytes[i]);
    }
    write_line("table \"%s\" 0 0 %d - %s\n", name, result,
               where(result == CUDA_SUCCESS && table ? *table : NULL, text));
    return result;
}

static bool is_driver_name(const char *name)
{
    return name && name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

struct answer look_ups_dlsym(void *library, const char *name, const void *caller)
{
    if (next_dlsym == NULL) {
        next_dlsym = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    }
    if (!is_driver_name(name) || library == RTLD_NEXT || library == RTLD_DEFAULT ||
        is_held_by(caller, "libcuda.so") || is_held_by(caller, "libwarpwatch.so")) {
        return (struct answer){.jump = (void *)next_dlsym};
    }
    void *address = next_dlsym(library, name);
    char text[256];
    write_line("dlsym \"%s\" 0 0 0 - %s\n", name, where(address, text));
    bool first = strcmp(name, "cuGetProcAddress") == 0;
    return (struct answer){.value = address ? followed(name, first ? 11030 : 12000, address) : NULL};
}
