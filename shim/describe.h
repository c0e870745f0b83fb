/* Questions to the driver about what was just launched. They are put after the launch succeeded, so nothing
 * is loaded on their account, and never under the recorder's lock. */
#ifndef WARPWATCH_DESCRIBE_H
#define WARPWATCH_DESCRIBE_H

#include "launch.h"
#include "registry.h"
#include "store.h"

struct launch_place {
    CUcontext context;
    CUdevice ordinal;
    uint32_t device;      /* record index; STORE_NO_TARGET unknown */
    uint32_t context_sms; /* 0 unknown */
};

struct kernel_description {
    const char *name; /* may be the driver's copy: gone with the module */
    char made_name[32];
    struct store_kernel kernel;
    struct sighting sighting; /* without device and kernel */
};

CUcontext describe_current_context(void);
CUcontext describe_context(CUstream stream);
void describe_place(CUcontext context, struct launch_place *place);
/* A context that launches were seen in; NULL if there was none on the device. */
CUcontext describe_context_of_device(CUdevice ordinal);
void describe_kernel(void *handle, const struct handle_facts *facts, CUdevice ordinal,
                     struct kernel_description *description);
/* The same without asking the driver. */
void describe_unasked(void *handle, const struct handle_facts *facts, struct kernel_description *description);
/* The driver's own answers on residency. */
void describe_residency(const struct launch *launch, struct store_configuration *configuration);

/* Contexts ended, their handles may be used again. Locked. */
void describe_forget_contexts(void);
/* A new store begins. */
void describe_forget_devices(void);

#endif
