/* Kernels of small files gathered into one table. */
#include "small_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool small_files_take(const struct scan_file *file)
{
    return file->kernels_count > 0 && file->kernels_count <= SMALL_FILE_KERNELS_MOST &&
           file->undecodable_count == 0;
}

static void add_counts(struct scan_counts *sum, const struct scan_counts *counts)
{
    sum->containers += counts->containers;
    sum->cubins += counts->cubins;
    sum->ptx += counts->ptx;
    sum->lto += counts->lto;
    sum->ptx_only += counts->ptx_only;
    sum->lto_only += counts->lto_only;
    sum->skipped += counts->skipped;
}

static bool add_kernel(struct scan_file *all, const struct scan_kernel *kernel)
{
    char *mangled = strdup(kernel->mangled);
    if (mangled) {
        all->kernels[all->kernels_count] = *kernel;
        all->kernels[all->kernels_count++].mangled = mangled;
    }
    return mangled != NULL;
}

bool small_files_add(struct small_files *small, const char *directory, const struct scan_file *file)
{
    struct scan_file *all = &small->all;
    size_t before = all->kernels_count;
    struct scan_kernel *grown = realloc(all->kernels, (before + file->kernels_count) * sizeof *grown);
    all->kernels = grown ? grown : all->kernels;
    all->path = all->path ? all->path : strdup(file->path);
    bool added = grown && all->path;
    for (size_t i = 0; i < file->kernels_count && added; i++) {
        added = add_kernel(all, &file->kernels[i]);
    }
    if (!added) {
        while (all->kernels_count > before) {
            free(all->kernels[--all->kernels_count].mangled);
        }
        return false;
    }
    add_counts(&all->counts, &file->counts);
    small->directory = directory;
    small->count++;
    return true;
}

static int by_name_then_ptx(const void *left, const void *right)
{
    const struct scan_kernel *a = left, *b = right;
    int order = strcmp(a->mangled, b->mangled);
    order = order ? order : (a->sm > b->sm) - (a->sm < b->sm);
    order = order ? order : (int)a->variant - (int)b->variant;
    return order ? order : (a->origin == ORIGIN_PTX) - (b->origin == ORIGIN_PTX);
}

static bool same_code(const struct scan_kernel *ptx, const struct scan_kernel *cubin)
{
    return strcmp(ptx->mangled, cubin->mangled) == 0 && ptx->sm == cubin->sm &&
           ptx->variant == cubin->variant;
}

static void name_directory(struct small_files *small)
{
    char *path;
    if (small->count > 1 && asprintf(&path, "%s (%zu files with up to %d kernels)", small->directory,
                                     small->count, SMALL_FILE_KERNELS_MOST) >= 0) {
        free(small->all.path);
        small->all.path = path;
    }
}

void small_files_finish(struct small_files *small)
{
    struct scan_file *all = &small->all;
    const struct scan_kernel *cubin = NULL;
    name_directory(small);
    size_t kept = 0;
    if (all->kernels_count) {
        qsort(all->kernels, all->kernels_count, sizeof *all->kernels, by_name_then_ptx);
    }
    for (size_t i = 0; i < all->kernels_count; i++) {
        struct scan_kernel *kernel = &all->kernels[i];
        if (kernel->origin == ORIGIN_PTX && cubin && same_code(kernel, cubin)) {
            free(kernel->mangled);
            continue;
        }
        all->kernels[kept] = *kernel;
        cubin = kernel->origin == ORIGIN_PTX ? cubin : &all->kernels[kept];
        kept++;
    }
    all->kernels_count = kept;
}

void small_files_free(struct small_files *small)
{
    scan_file_free(&small->all);
    *small = (struct small_files){0};
}
