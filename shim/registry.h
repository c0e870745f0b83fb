/* Handles that the program launches: what they are, who owns them, and which kernel each stands for on each
 * device. A handle's address may be used again for another kernel once its owner is gone: everything known of
 * it, launch keys included, ends with the owner. All functions want recorder_lock. */
#ifndef WARPWATCH_REGISTRY_H
#define WARPWATCH_REGISTRY_H

#include "keys.h"

enum handle_kind {
    HANDLE_FUNCTION, /* CUfunction: belongs to a context */
    HANDLE_KERNEL    /* CUkernel: belongs to a library, runs on any device */
};

/* A handle as one device sees it. */
struct sighting {
    uint32_t device, kernel; /* record indexes */
    uint32_t valid;          /* STORE_CONFIGURATION_ATTRIBUTES: the next two are known */
    uint32_t max_dynamic_shared_bytes;
    int32_t carveout_percent;
    uint32_t required_cluster[3]; /* of the kernel; 0 = none */
    uint32_t next;
};

/* What cuFuncSetBlockShape and cuFuncSetSharedSize left in a function. */
struct legacy_shape {
    uint32_t block[3], shared_bytes;
};

void registry_close(void);
/* Makes the handle known. A later call with another owner ends what was known before. */
void registry_note(void *handle, enum handle_kind kind, void *owner);
enum handle_kind registry_kind(void *handle);
/* False: not seen on this device (since its attributes changed). */
bool registry_seen(void *handle, uint32_t device, struct sighting *sighting);
bool registry_add_sighting(void *handle, const struct sighting *sighting);
/* Keeps the launch words as a key that ends with the handle. */
void registry_add_key(void *handle, const struct launch_words *words, uint32_t target);
/* The handle's shape for cuLaunchGrid and kin; NULL if it has none and none can be made. */
struct legacy_shape *registry_legacy_shape(void *handle, bool make);
/* The handle's attributes changed: forget sightings and keys. */
void registry_forget(void *handle);
/* The owner is gone: so are its handles. */
void registry_end_owner(void *owner);

#endif
