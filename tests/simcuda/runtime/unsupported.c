/* What the runtime of CUDA 13.0 exports and this one does not do. Each takes any arguments, looks at none and
 * refuses, so no prototypes are needed, and the toolkit's headers must not be included here. */
#include "last_error.h"

#define EXPORTED_BUT_UNSUPPORTED __attribute__((visibility("default")))

#define RUNTIME_UNSUPPORTED(name)                                                                            \
    EXPORTED_BUT_UNSUPPORTED int name(void);                                                                 \
    int name(void)                                                                                           \
    {                                                                                                        \
        return runtime_refuse();                                                                             \
    }
#include "unsupported.def"
