/* Whether the loader would preload us into a program at all. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "doctor.h"

#define SCRIPT_DEPTH 4

static bool find_on_path(const char *name, char *found, size_t size)
{
    if (strchr(name, '/')) {
        snprintf(found, size, "%s", name);
        return true;
    }
    const char *path = getenv("PATH");
    char *folders = strdup(path ? path : "/usr/bin:/bin"), *rest = NULL;
    bool is_there = false;
    for (char *folder = folders ? strtok_r(folders, ":", &rest) : NULL; folder && !is_there;
         folder = strtok_r(NULL, ":", &rest)) {
        snprintf(found, size, "%s/%s", folder, name);
        is_there = access(found, X_OK) == 0;
    }
    free(folders);
    return is_there;
}

/* The loader ignores LD_PRELOAD paths in secure-execution mode: ld.so(8). */
static bool has_raised_privileges(const char *path, const struct stat *status)
{
    char capability[64];
    return (status->st_mode & (S_ISUID | S_ISGID)) ||
           getxattr(path, "security.capability", capability, sizeof capability) > 0;
}

/* The path of the loader that the program asks for; NULL if it asks for none. */
static const char *loader_of(Elf *elf)
{
    size_t count = 0, bytes = 0;
    const char *file = elf_rawfile(elf, &bytes);
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; file && i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_INTERP && header.p_offset < bytes &&
            memchr(file + header.p_offset, 0, bytes - header.p_offset)) {
            return file + header.p_offset;
        }
    }
    return NULL;
}

/* Does the program name a library that begins so as one it needs? */
static bool needs_library(Elf *elf, const char *prefix)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC ||
            !(data = elf_getdata(section, NULL))) {
            continue;
        }
        GElf_Dyn entry;
        for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
            const char *name =
                entry.d_tag == DT_NEEDED ? elf_strptr(elf, header.sh_link, entry.d_un.d_val) : NULL;
            if (name && strncmp(name, prefix, strlen(prefix)) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void check_elf(struct doctor *doctor, const char *path, int fd)
{
    GElf_Ehdr header;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header)) {
        doctor_add(doctor, DOCTOR_PROBLEM, "program", "", "%s is no program that can be read", path);
    } else if (gelf_getclass(elf) == ELFCLASS32) {
        doctor_add(doctor, DOCTOR_PROBLEM, "program", "CUDA 13 has no 32-bit programs",
                   "%s is a 32-bit program: the loader says so in one line and runs it unwatched", path);
    } else if (!loader_of(elf)) {
        doctor_add(doctor, DOCTOR_PROBLEM, "program", "link it dynamically",
                   "%s is statically linked: no loader runs, so nothing is preloaded", path);
    } else if (strstr(loader_of(elf), "ld-musl")) {
        doctor_add(doctor, DOCTOR_PROBLEM, "program", "start it without LD_PRELOAD; CUDA needs glibc",
                   "%s is built for musl: its loader refuses libraries of glibc and does not start it", path);
    } else if (needs_library(elf, "libasan.so")) {
        doctor_add(doctor, DOCTOR_PROBLEM, "program",
                   "LD_PRELOAD=\"$(gcc -print-file-name=libasan.so) $(warpwatch path)\"",
                   "%s is built with AddressSanitizer, which does not start unless it comes first", path);
    } else {
        doctor_add(doctor, DOCTOR_FINE, "program", "", "%s can be preloaded", path);
    }
    elf_end(elf);
}

/* "#!interpreter argument": the interpreter, and what `env` would start. False if it is no script. */
static bool script_interpreter(int fd, char *interpreter, size_t size)
{
    char line[512], *rest = NULL;
    ssize_t bytes = pread(fd, line, sizeof line - 1, 0);
    if (bytes < 3 || line[0] != '#' || line[1] != '!') {
        return false;
    }
    line[bytes] = 0;
    line[strcspn(line, "\n")] = 0;
    char *word = strtok_r(line + 2, " \t", &rest);
    const char *name = word ? strrchr(word, '/') : NULL;
    if (name && strcmp(name, "/env") == 0) {
        word = strtok_r(NULL, " \t", &rest);
        while (word && (*word == '-' || strchr(word, '='))) {
            word = strtok_r(NULL, " \t", &rest);
        }
    }
    snprintf(interpreter, size, "%s", word ? word : "");
    return word != NULL;
}

static void check_file(struct doctor *doctor, const char *name, int depth)
{
    char path[4096], interpreter[512];
    struct stat status;
    if (!find_on_path(name, path, sizeof path)) {
        doctor_add(doctor, DOCTOR_PROBLEM, "program", "", "%s: not found on PATH", name);
        return;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        doctor_add(doctor, DOCTOR_PROBLEM, "program", "", "%s: %s", path, strerror(errno));
    } else if (depth < SCRIPT_DEPTH && script_interpreter(fd, interpreter, sizeof interpreter)) {
        check_file(doctor, interpreter, depth + 1);
    } else if (has_raised_privileges(path, &status)) {
        doctor_add(doctor, DOCTOR_PROBLEM, "program",
                   "run a copy without set-uid, set-gid and file capabilities",
                   "%s runs with raised privileges: the loader preloads nothing into it", path);
    } else {
        check_elf(doctor, path, fd);
    }
    if (fd >= 0) {
        close(fd);
    }
}

void doctor_check_program(struct doctor *doctor, const char *name)
{
    check_file(doctor, name, 0);
    doctor_add(doctor, DOCTOR_NOTE, "not seen anywhere", "docs/limits.md says how much it matters",
               "libraries opened with RTLD_DEEPBIND or dlmopen, and what the GPU launches by itself");
}
