/* Handles that the program launches: what they are, who owns them, and which kernel each stands for on each
 * device. A handle's address may be used again for another kernel once its owner is gone: everything known of
 * it, launch keys included, ends with the owner. All functions want the recorder's lock. */
#ifndef WARPWATCH_REGISTRY_H
#define WARPWATCH_REGISTRY_H

#include "recorder_state.h"

enum handle_kind {
    HANDLE_FUNCTION, /* CUfunction: belongs to a context */
    HANDLE_KERNEL,   /* CUkernel: belongs to a library, runs on any device */
    HANDLE_UNKNOWN   /* may be either: the driver must not be asked about it */
};

/* What is known of a handle without asking the driver. */
struct handle_facts {
    enum handle_kind kind;
    const char *name;  /* as the program asked for it; "" unknown */
    const char *image; /* file that the code came from; "" unknown */
    CUcontext context; /* of a function; NULL unknown */
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

/* A module (in a context) or library (without one) was loaded, from `image` if that is known. */
void registry_note_owner(void *owner, CUcontext context, const char *image);
/* A module that is a view of a library, and ends with it. */
void registry_note_view(void *module, void *library, CUcontext context);
/* Makes a handle known. One that was known with another owner starts anew. `name` is kept only if not NULL.
 */
void registry_note(void *handle, enum handle_kind kind, void *owner, CUcontext context, const char *name);
/* A kernel's function in a context: of the kernel's owner, and its attributes are the kernel's. */
void registry_note_function_of(void *function, void *kernel, CUcontext context);
struct handle_facts registry_facts(void *handle);

/* False: not seen on this device (since its attributes changed). */
bool registry_seen(void *handle, uint32_t device, struct sighting *sighting);
void registry_add_sighting(void *handle, const struct sighting *sighting);
/* Keeps the launch words as a key that ends with the handle. */
void registry_add_key(void *handle, const struct launch_words *words, uint32_t target);
/* The handle's shape for cuLaunchGrid and kin; NULL if it has none and none can be made. */
struct legacy_shape *registry_legacy_shape(void *handle, bool make);

/* An attribute was set, of a CUkernel for one device (-1: a function's own). If that changed it, sightings
 * and keys are forgotten, also of the kernel's functions or the function's kernel. */
void registry_attribute_set(void *handle, CUfunction_attribute attribute, int32_t value, int32_t device);
/* Contexts went: sightings and keys of all handles. */
void registry_forget_all(void);
/* From now on a handle alone does not say where it runs. Takes the lock itself. */
void registry_tell_places_apart(enum recorder_places places);

/* Around the real unload, so that handles which another thread gets at the same addresses meanwhile are not
 * taken for the old ones. */
uint32_t registry_owner_ending(void *owner);
void registry_owner_ended(uint32_t ending, bool really);

#endif
