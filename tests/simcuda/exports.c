/* An older driver (SIMCUDA_DRIVER_VERSION) does not export what came later. This one takes those functions
 * out of its own symbol table, before anybody can have looked. */
#include "driver.h"
#include "exported.h"
#include "settings.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct {
    void *function;
    int version;
} exports[] = {
#define EXPORT(symbol, name, version, default_stream) {(void *)exported_##symbol, version},
#include "exports.def"
#undef EXPORT
};

/* The loader passes over symbols that are not defined. */
static void hide(void *function)
{
    Dl_info info;
    ElfW(Sym) *symbol = NULL;
    if (!dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol) {
        return;
    }
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)symbol & ~(page_bytes - 1);
    size_t bytes = (uintptr_t)(symbol + 1) - first;
    if (mprotect((void *)first, bytes, PROT_READ | PROT_WRITE) == 0) {
        symbol->st_shndx = SHN_UNDEF;
        symbol->st_value = 0;
        mprotect((void *)first, bytes, PROT_READ);
    }
}

__attribute__((constructor)) static void hide_newer(void)
{
    settings_read();
    for (int i = 0; i < CALLS; i++) {
        if (exports[i].version > settings.driver_version) {
            hide(exports[i].function);
        }
    }
}
