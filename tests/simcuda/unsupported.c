/* Every exported function that no other file defines: it exists, is counted and answers NOT_SUPPORTED. The
 * definitions are weak, so that a real one elsewhere takes their place. No header of CUDA here: the
 * declarations would have to agree with it. */
#include "ledger.h"
#include "ledger_format.h"

enum { NOT_SUPPORTED = 801 };

#pragma GCC visibility push(default)
#define EXPORT(symbol, name, version, default_stream)                                                        \
    __attribute__((weak)) int symbol(void);                                                                  \
    int symbol(void)                                                                                         \
    {                                                                                                        \
        ledger_count_call(LEDGER_CALL_##symbol);                                                             \
        return NOT_SUPPORTED;                                                                                \
    }
#include "exports.def"
#undef EXPORT
#pragma GCC visibility pop
