/* The short form of a demangled name: what people call the kernel. */
#ifndef WARPWATCH_SHORTEN_H
#define WARPWATCH_SHORTEN_H

/* "at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, …sum_functor<…>…>>" →
 * "reduce_kernel<512, 1, sum_functor>": no namespaces, of each template argument its last name, and none
 * after the one that says what is computed. `name` has neither return type nor parameters. The caller frees;
 * NULL only when memory is out. */
char *shorten_name(const char *name);

#endif
