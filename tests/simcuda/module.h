/* Loaded code: a module is an image in a context, a library is a source for all contexts. */
#ifndef SIMCUDA_MODULE_H
#define SIMCUDA_MODULE_H

#include "function.h"
#include "image.h"

struct module_global {
    CUdeviceptr address; /* 0 until it is asked for */
};

struct CUmod_st {
    struct object object;
    struct CUctx_st *context;
    struct CUmod_st *next; /* in the context's list */
    struct image *image;
    struct CUfunc_st **functions;  /* one a kernel of the image, made when first asked for */
    struct module_global *globals; /* one a global of the image */
    struct CUlib_st *library;      /* or NULL */
    struct CUmod_st *next_of_library;
};

struct CUlib_st {
    struct object object;
    pthread_mutex_t lock;
    struct source source;
    struct jit_options jit;
    struct image *images[MAX_DEVICES]; /* loaded when first needed; images[0] always */
    struct CUkern_st **kernels;        /* one a kernel of images[0] */
    struct CUmod_st *modules;          /* one a context that uses it */
};

/* Takes over a reference to `image`. */
CUresult module_make(struct CUctx_st *context, struct image *image, struct CUmod_st **module);
void module_end(struct CUmod_st *module);
CUresult module_function(struct CUmod_st *module, const char *name, struct CUfunc_st **function);
CUresult module_global(struct CUmod_st *module, const char *name, CUdeviceptr *address, size_t *bytes);
/* The function of the image's n-th kernel. */
CUresult module_function_at(struct CUmod_st *module, size_t index, struct CUfunc_st **function);

/* The library's module in a context. */
CUresult library_module(struct CUlib_st *library, struct CUctx_st *context, struct CUmod_st **module);
/* Its module ends with the context. */
void library_forget(struct CUlib_st *library, struct CUmod_st *module);

void modules_destroy(struct CUctx_st *context);

#endif
