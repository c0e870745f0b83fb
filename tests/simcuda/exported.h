/* The addresses of all exported functions, as exported_cuX: by the symbol's name alone, since some are
 * declared in headers that need those of OpenGL and its like. */
#ifndef SIMCUDA_EXPORTED_H
#define SIMCUDA_EXPORTED_H

#define EXPORT(symbol, name, version, default_stream) extern const char exported_##symbol[] __asm__(#symbol);
#include "exports.def"
#undef EXPORT

#endif
