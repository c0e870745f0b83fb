/* What every fuzz target defines: libFuzzer calls it, and so does replay.c, which runs kept inputs. */
#ifndef WARPWATCH_FUZZ_H
#define WARPWATCH_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
