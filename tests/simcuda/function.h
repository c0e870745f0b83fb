/* Kernels as modules hold them (CUfunction) and as libraries hold them (CUkernel). */
#ifndef SIMCUDA_FUNCTION_H
#define SIMCUDA_FUNCTION_H

#include "context.h"
#include "launch.h"
#include "object.h"

#include "report/cubin/cubin.h"

/* What the cubin says; lives as long as the image. */
struct kernel_code {
    const char *name;         /* mangled */
    struct cubin_kernel info; /* its name and parameters point into the image too */
    int binary_version, ptx_version;
    int bound_threads, register_threads; /* most threads of a block: by launch bounds, by registers */
    size_t constant_bytes;               /* of the module's __constant__ variables */
};

/* What cuFuncSetAttribute and cuKernelSetAttribute change, indexed by CUfunction_attribute. */
struct function_settings {
    _Atomic int value[CU_FUNC_ATTRIBUTE_MAX];
    _Atomic uint32_t set; /* bit n: value[n] was set */
};

struct CUfunc_st {
    struct object object;
    const struct kernel_code *code;
    struct CUmod_st *module;
    struct CUctx_st *context;
    struct CUkern_st *kernel; /* the library's kernel that it belongs to, or NULL */
    struct function_settings settings;
    uint32_t legacy_block[3], legacy_shared_bytes; /* cuFuncSetBlockShape, cuFuncSetSharedSize */
    _Atomic uint64_t ledger_name;                  /* ledger.c */
    _Atomic bool launched;
};

struct CUkern_st {
    struct object object;
    struct CUlib_st *library;
    const struct kernel_code *code; /* of the image for the first device */
    struct function_settings settings[MAX_DEVICES];
    _Atomic(struct CUfunc_st *) latest; /* function last launched as */
    _Atomic bool launched;
};

/* Effective value of any attribute: set, or from the code. */
int function_attribute(const struct CUfunc_st *function, CUfunction_attribute attribute);

/* The function of a kernel in a context; loads the library's module there if need be. */
CUresult kernel_code_on(struct CUkern_st *kernel, const struct device *device,
                        const struct kernel_code **code);
CUresult kernel_function(struct CUkern_st *kernel, struct CUctx_st *context, struct CUfunc_st **function);

/* Notes a fault if a lazily loading driver, or a capture under way, would suffer from a query. */
void function_note_query(const struct CUfunc_st *function, enum call call);
void function_note_launch(struct CUfunc_st *function);

#endif
