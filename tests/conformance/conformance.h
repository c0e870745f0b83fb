/* What every conformance program shares: the driver's functions, found through dlopen and dlsym as most
 * clients find them, and checks that print one TAP line each.
 *
 *   EXPECT   a result that CUDA's documentation states
 *   GUESS    a result that no document states: the simulated driver's choice, to be settled on a real one
 *   CHECK    a condition
 *
 * A program returns conformance_end(): 0 when all lines are ok. On a real driver a wrong GUESS is printed as
 * a difference and does not fail the program. */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <cuda.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One member a function, named as the symbol that cuda.h maps the name to: api.cuMemAlloc is cuMemAlloc_v2.
 */
struct driver_functions {
#define FUNCTION(name) __typeof__(name) *name;
#include "functions.def"
#undef FUNCTION
};
extern struct driver_functions api;

/* Loads the driver; ends the program (77, a skip) where there is none. cuInit is left to the program. */
void conformance_load(void);
/* Also initialises it and makes the first device's primary context current. */
void conformance_begin(void);
int conformance_end(void);

bool conformance_is_simulated(void);
void *conformance_symbol(const char *name);

void check_result(const char *file, int line, const char *what, bool documented, CUresult result,
                  CUresult expected);
void check_condition(const char *file, int line, const char *what, bool holds);

#define EXPECT(expected, call) check_result(__FILE__, __LINE__, #call, true, (call), (expected))
#define GUESS(expected, call)  check_result(__FILE__, __LINE__, #call, false, (call), (expected))
#define SUCCEED(call)          EXPECT(CUDA_SUCCESS, call)
#define CHECK(condition)       check_condition(__FILE__, __LINE__, #condition, (condition))

/* --- code to load: PTX, so that it runs on every device ------------------------------------------------ */

/* Kernels `plain` (no parameters), `bounded` (at most 256 threads), `fixed` (exactly 64×2×1 threads),
 * `shared_static` (1,024 bytes), `three` (parameters of 8, 4 and 1 bytes) and a global `counter` of 16 bytes.
 */
extern const char kernels_ptx[];

/* A kernel `heavy` that needs more than 128 registers a thread. The caller frees the text. */
char *heavy_ptx(void);

CUmodule load_ptx(const char *ptx);
CUfunction function_of(CUmodule module, const char *name);

#endif
