/* Loaded code: an image holds kernels and globals, a module is an image in a context, a library is one for
 * all contexts. */
#ifndef SIMCUDA_MODULE_H
#define SIMCUDA_MODULE_H

#include "function.h"
#include "image.h"

struct module_global {
    CUdeviceptr address;
    size_t bytes;
};

struct CUmod_st {
    struct object object;
    struct CUctx_st *context;
    struct CUmod_st *next; /* in the context's list */
    struct image *image;
    struct CUfunc_st **functions;  /* one a kernel of the image, made when first asked for */
    struct module_global *globals; /* one a global of the image */
    struct CUlib_st *library;      /* or NULL */
};

/* Loads what cuModuleLoadData and kin are given into `context`. */
CUresult module_load(struct CUctx_st *context, const void *data, struct CUmod_st **module);
void module_unload(struct CUmod_st *module);
struct CUfunc_st *module_function(struct CUmod_st *module, size_t index);
CUresult module_function_named(struct CUmod_st *module, const char *name, struct CUfunc_st **function);

void modules_destroy(struct CUctx_st *context);

#endif
