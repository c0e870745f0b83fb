/* Kernel names as people write them. The demangler is libiberty's; here is what a kernel's name needs around
 * it: CUDA's wrappers of static kernels, a short form, and bounds, since names come from untrusted files. */
#ifndef WARPWATCH_DEMANGLE_H
#define WARPWATCH_DEMANGLE_H

/* "void scale<256>(float*, int)". A name that is not mangled (Triton's, C's) comes back as it is. The caller
 * frees; NULL only when memory is out. */
char *demangle_full(const char *mangled);

/* "elementwise<4, FillFunctor>": what people call it, see shorten.h. Several kernels may share it. The caller
 * frees; NULL only when memory is out. */
char *demangle_short(const char *mangled);

/* "scale<256>": in full, without return type and parameters. The caller frees; NULL only when memory is out.
 */
char *demangle_name(const char *mangled);

#endif
