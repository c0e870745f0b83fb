/* Fuzz target: the reader of one store, from its header to merged data. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "report/store/store.h"
#include "virtual_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char reason[STORE_REASON_BYTES] = "";
    uint8_t *copy = malloc(size + 1);
    struct merged *merged = merged_new();
    if (!copy || !merged) {
        abort();
    }
    memcpy(copy, data, size);
    bool readable =
        virtual_stores_open(copy, size) > 0 && merged_add_store(merged, virtual_store_path(0), reason);
    if (!merged_finish(merged) || (readable && merged->processes_count != 1)) {
        abort();
    }
    merged_free(merged);
    virtual_stores_close();
    free(copy);
    return 0;
}
