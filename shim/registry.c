/* What is known of handles, and when it no longer holds. */
#include "registry.h"

#include "handles.h"
#include "intern.h"
#include "pool.h"
#include "recorder_state.h"
#include "resolve.h"

static struct pool sightings = {.item_bytes = sizeof(struct sighting)};
static struct pool legacy_shapes = {.item_bytes = sizeof(struct legacy_shape)};

static struct sighting *sighting_at(uint32_t number)
{
    return pool_item(&sightings, number);
}

void registry_close(void)
{
    handles_close();
    pool_close(&sightings);
    pool_close(&legacy_shapes);
}

static void forget(struct handle *handle)
{
    keys_end(&recorder.keys, handle->keys);
    handle->keys = 0;
    handle->last_set[0].known = handle->last_set[1].known = false;
    while (handle->sightings) {
        uint32_t number = handle->sightings;
        handle->sightings = sighting_at(number)->next;
        pool_give(&sightings, number);
    }
}

/* Nothing of what was known of the address holds any longer. */
static void start_anew(struct handle *handle)
{
    forget(handle);
    resolve_drop_pending(handle->address);
    if (handle->legacy_shape) {
        pool_give(&legacy_shapes, handle->legacy_shape);
    }
    handle->legacy_shape = handle->name = handle->kernel = 0;
    handle->has_functions = false;
    handle->context = NULL;
}

void registry_note_owner(void *address, CUcontext context, const char *image)
{
    uint32_t number = owner_find_or_make(address);
    if (number) {
        owner_at(number)->context = context;
        owner_at(number)->image = intern(image);
    }
}

void registry_note_view(void *module, void *library, CUcontext context)
{
    uint32_t number = owner_find_or_make(module), parent = owner_find(library);
    if (number) {
        owner_at(number)->parent = library;
        owner_at(number)->context = context;
        owner_at(number)->image = parent ? owner_at(parent)->image : 0;
    }
}

static struct handle *note(void *address, enum handle_kind kind, uint32_t owner)
{
    uint32_t number = handle_find_or_make(address);
    if (number == 0) {
        return NULL;
    }
    struct handle *handle = handle_at(number);
    if (handle->owner != owner || handle->kind != kind) {
        start_anew(handle);
        handle_own(number, owner);
        handle->kind = (uint8_t)kind;
    }
    return handle;
}

void registry_note(void *address, enum handle_kind kind, void *owner_address, CUcontext context,
                   const char *name)
{
    uint32_t owner = owner_find_or_make(owner_address);
    struct handle *handle = note(address, kind, owner);
    if (handle) {
        handle->context = owner && owner_at(owner)->context ? owner_at(owner)->context : context;
        handle->name = name ? intern(name) : handle->name;
    }
}

void registry_note_function_of(void *function, void *kernel, CUcontext context)
{
    uint32_t number = handle_find(kernel);
    struct handle *handle = note(function, HANDLE_FUNCTION, number ? handle_at(number)->owner : 0);
    if (handle) {
        handle->context = context;
        handle->kernel = number;
    }
    if (handle && number) {
        handle->name = handle_at(number)->name;
        handle_at(number)->has_functions = true;
    }
}

struct handle_facts registry_facts(void *address)
{
    uint32_t number = handle_find(address);
    if (number == 0) {
        return (struct handle_facts){handles_are_full() ? HANDLE_UNKNOWN : HANDLE_FUNCTION, "", "", NULL};
    }
    const struct handle *handle = handle_at(number);
    uint32_t image = handle->owner ? owner_at(handle->owner)->image : 0;
    return (struct handle_facts){handle->kind, interned(handle->name), interned(image), handle->context};
}

bool registry_seen(void *address, uint32_t device, struct sighting *sighting)
{
    uint32_t number = handle_find(address);
    for (uint32_t i = number ? handle_at(number)->sightings : 0; i; i = sighting_at(i)->next) {
        if (sighting_at(i)->device == device) {
            *sighting = *sighting_at(i);
            return true;
        }
    }
    return false;
}

void registry_add_sighting(void *address, const struct sighting *sighting)
{
    uint32_t handle = handle_find_or_make(address), number = handle ? pool_take(&sightings) : 0;
    if (number) {
        *sighting_at(number) = *sighting;
        sighting_at(number)->next = handle_at(handle)->sightings;
        handle_at(handle)->sightings = number;
    }
}

void registry_add_key(void *address, const struct launch_words *words, uint32_t target)
{
    uint32_t number = handle_find_or_make(address);
    struct handle *handle = number ? handle_at(number) : NULL;
    uint32_t key = handle ? keys_insert(&recorder.keys, words, target, handle->keys) : 0;
    if (key) {
        handle->keys = key;
    }
}

struct legacy_shape *registry_legacy_shape(void *address, bool make)
{
    uint32_t number = make ? handle_find_or_make(address) : handle_find(address);
    if (number == 0) {
        return NULL;
    }
    struct handle *handle = handle_at(number);
    if (handle->legacy_shape == 0 && make) {
        handle->legacy_shape = pool_take(&legacy_shapes);
    }
    return handle->legacy_shape ? pool_item(&legacy_shapes, handle->legacy_shape) : NULL;
}

static void forget_related(void *address)
{
    uint32_t number = handle_find(address);
    if (number == 0) {
        return;
    }
    struct handle *handle = handle_at(number);
    uint32_t kernel = handle->kernel ? handle->kernel : handle->has_functions ? number : 0;
    forget(handle);
    for (uint32_t i = kernel && handle->owner ? owner_at(handle->owner)->first : 0; i;
         i = handle_at(i)->next_owned) {
        if (i == kernel || handle_at(i)->kernel == kernel) {
            forget(handle_at(i));
        }
    }
}

void registry_attribute_set(void *address, CUfunction_attribute attribute, int32_t value, int32_t device)
{
    uint32_t number = handle_find(address);
    if (number == 0 || attribute < FIRST_KEPT || attribute > LAST_KEPT) {
        forget_related(address);
        return;
    }
    struct setting *set = &handle_at(number)->last_set[attribute - FIRST_KEPT];
    struct setting *other = &handle_at(number)->last_set[LAST_KEPT - attribute], kept = *other;
    if (!set->known || set->value != value || set->device != device) {
        forget_related(address);
        *set = (struct setting){value, device, true};
        *other = kept;
    }
}

void registry_forget_all(void)
{
    for (uint32_t number = 1; number <= handles_made(); number++) {
        if (handle_find(handle_at(number)->address) == number) {
            forget(handle_at(number));
        }
    }
}

void registry_tell_places_apart(enum recorder_places places)
{
    recorder_lock_take();
    if (places > load_relaxed(&recorder.places)) {
        store_relaxed(&recorder.places, (uint8_t)places);
        registry_forget_all();
    }
    recorder_lock_give();
}

static bool is_child(uint32_t owner, const void *parent)
{
    return owner_at(owner)->parent == parent && owner_find(owner_at(owner)->address) == owner;
}

static void drop_pending_of(uint32_t owner)
{
    for (uint32_t i = owner_at(owner)->first; i; i = handle_at(i)->next_owned) {
        resolve_drop_pending(handle_at(i)->address);
    }
}

uint32_t registry_owner_ending(void *address)
{
    uint32_t number = owner_find(address);
    if (number) {
        owner_hide(number);
        for (uint32_t i = owner_at(number)->first; i; i = handle_at(i)->next_owned) {
            forget(handle_at(i));
        }
        drop_pending_of(number);
    }
    for (uint32_t child = 1; number && child <= owners_made(); child++) {
        if (is_child(child, address)) {
            drop_pending_of(child);
        }
    }
    return number;
}

static void end_owner(uint32_t number)
{
    while (owner_at(number)->first) {
        uint32_t i = owner_at(number)->first;
        start_anew(handle_at(i));
        handle_give(i);
    }
    owner_give(number);
}

static void end_children(const void *parent)
{
    for (uint32_t number = 1; number <= owners_made(); number++) {
        if (is_child(number, parent)) {
            owner_hide(number);
            end_owner(number);
        }
    }
}

void registry_owner_ended(uint32_t ending, bool really)
{
    if (ending == 0) {
        return;
    }
    if (!really) {
        owner_show(ending);
        return;
    }
    void *address = owner_at(ending)->address;
    end_owner(ending);
    end_children(address);
}
