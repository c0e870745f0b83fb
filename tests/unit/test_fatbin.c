/* Containers and codecs: what good ones hold, and each way in which one can be broken. */
#include "tests/unit/test.h"

#include <lz4frame.h>

#include "report/cubin/bytes.h"
#include "report/cubin/cubin.h"
#include "tests/unit/seed.h"

enum { FIRST_ENTRY = FATBIN_CONTAINER_HEADER_BYTES };

struct seen {
    unsigned entries, decoded;
    struct fatbin_entry last;
    enum cubin_status decode_status;
};

static bool see(const struct fatbin_entry *entry, void *context)
{
    struct seen *seen = context;
    seen->entries++;
    seen->last = *entry;
    if (entry->uncompressed_bytes <= FATBIN_ENTRY_LIMIT_BYTES) {
        void *image = malloc(entry->uncompressed_bytes + 1);
        enum cubin_status status = fatbin_decode(entry, image);
        seen->decoded += status == CUBIN_OK;
        seen->decode_status = status ? status : seen->decode_status;
        free(image);
    }
    return true;
}

static enum cubin_status walk(const struct seed *seed, struct seen *seen)
{
    *seen = (struct seen){0};
    return fatbin_walk(seed->bytes, seed->size, see, seen, NULL);
}

/* PTX: the one entry that all three pack in their own way. */
static char *last_text(const struct seen *seen)
{
    char *text = calloc(1, seen->last.uncompressed_bytes + 1);
    assert_int_equal(fatbin_decode(&seen->last, text), CUBIN_OK);
    return text;
}

static void every_codec_gives_the_same_text(void **state)
{
    (void)state;
    char *texts[3];
    static const struct {
        const char *name;
        enum fatbin_codec codec;
    } files[] = {
        {"none.fatbin", FATBIN_RAW}, {"speed.fatbin", FATBIN_LZ4_BLOCK}, {"size.fatbin", FATBIN_ZSTD}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct seed seed = seed_read(files[i].name);
        struct seen seen;
        assert_int_equal(walk(&seed, &seen), CUBIN_OK);
        assert_int_equal(seen.entries, 2);
        assert_int_equal(seen.decoded, 2);
        assert_int_equal(seen.last.codec, files[i].codec);
        assert_int_equal(seen.last.kind, FATBIN_PTX);
        assert_int_equal(seen.last.sm, 75);
        assert_int_equal(seen.last.variant, 0);
        texts[i] = last_text(&seen);
        seed_free(&seed);
    }
    assert_string_equal(texts[0], texts[1]);
    assert_string_equal(texts[0], texts[2]);
    assert_non_null(strstr(texts[0], ".entry plain"));
    for (size_t i = 0; i < 3; i++) {
        free(texts[i]);
    }
}

static void a_container_cut_anywhere_is_not_whole(void **state)
{
    (void)state;
    struct seed seed = seed_read("size.fatbin");
    for (size_t size = 0; size < seed.size; size++) {
        unsigned char *cut = malloc(size + 1);
        memcpy(cut, seed.bytes, size);
        struct seen seen = {0};
        assert_int_not_equal(fatbin_walk(cut, size, see, &seen, NULL), CUBIN_OK);
        free(cut);
    }
    seed_free(&seed);
}

struct broken {
    const char *what;
    size_t offset;
    unsigned bytes; /* of the field */
    uint64_t value;
    enum cubin_status walk_status, decode_status;
};

static const struct broken broken_containers[] = {
    {"magic", 0, 4, 0x12345678, CUBIN_MALFORMED, CUBIN_OK},
    {"version", 4, 2, 2, CUBIN_UNSUPPORTED, CUBIN_OK},
    {"header size", 6, 2, 24, CUBIN_MALFORMED, CUBIN_OK},
    {"size near 2^64", 8, 8, UINT64_MAX - 8, CUBIN_MALFORMED, CUBIN_OK},
    {"size near 2^63", 8, 8, (uint64_t)INT64_MAX - 16, CUBIN_TRUNCATED, CUBIN_OK},
    {"entry header size 0", FIRST_ENTRY + 4, 4, 0, CUBIN_MALFORMED, CUBIN_OK},
    {"entry header size 63", FIRST_ENTRY + 4, 4, 63, CUBIN_MALFORMED, CUBIN_OK},
    {"entry header past the end", FIRST_ENTRY + 4, 4, 1 << 19, CUBIN_TRUNCATED, CUBIN_OK},
    {"entry header near 2^32", FIRST_ENTRY + 4, 4, UINT32_MAX - 7, CUBIN_MALFORMED, CUBIN_OK},
    {"payload past the end", FIRST_ENTRY + 8, 8, 1 << 20, CUBIN_TRUNCATED, CUBIN_OK},
    {"payload near 2^64", FIRST_ENTRY + 8, 8, UINT64_MAX - 7, CUBIN_TRUNCATED, CUBIN_OK},
    {"compressed above padded", FIRST_ENTRY + 16, 4, 1 << 20, CUBIN_MALFORMED, CUBIN_OK},
    {"compressed size too small", FIRST_ENTRY + 16, 4, 100, CUBIN_OK, CUBIN_CODEC},
    {"identifier past the header", FIRST_ENTRY + 36, 4, 1 << 20, CUBIN_MALFORMED, CUBIN_OK},
    {"two codecs", FIRST_ENTRY + 40, 8, 0xa011, CUBIN_MALFORMED, CUBIN_OK},
    {"another codec", FIRST_ENTRY + 40, 8, 0x2011, CUBIN_OK, CUBIN_CODEC},
    {"LZ4 frame that is none", FIRST_ENTRY + 40, 8, 0x4011, CUBIN_OK, CUBIN_CODEC},
    {"obfuscated by flag", FIRST_ENTRY + 40, 8, 0x18011, CUBIN_OK, CUBIN_UNSUPPORTED},
    {"obfuscated by field", FIRST_ENTRY + 48, 8, 1, CUBIN_OK, CUBIN_UNSUPPORTED},
    {"uncompressed size 0", FIRST_ENTRY + 56, 8, 0, CUBIN_OK, CUBIN_CODEC},
    {"uncompressed size too small", FIRST_ENTRY + 56, 8, 1000, CUBIN_OK, CUBIN_CODEC},
    {"uncompressed size too large", FIRST_ENTRY + 56, 8, 100000, CUBIN_OK, CUBIN_CODEC},
    {"uncompressed size above the limit", FIRST_ENTRY + 56, 8, FATBIN_ENTRY_LIMIT_BYTES + 1ull,
     CUBIN_MALFORMED, CUBIN_OK},
    {"uncompressed size near 2^64", FIRST_ENTRY + 56, 8, UINT64_MAX, CUBIN_MALFORMED, CUBIN_OK},
};

static void each_broken_field_is_a_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken_containers / sizeof *broken_containers; i++) {
        const struct broken *broken = &broken_containers[i];
        struct seed seed = seed_read("size.fatbin");
        struct seen seen;
        memcpy(seed.bytes + broken->offset, &broken->value, broken->bytes);
        enum cubin_status status = walk(&seed, &seen);
        if (status != broken->walk_status || seen.decode_status != broken->decode_status) {
            fail_msg("%s: walk %d, decode %d", broken->what, status, seen.decode_status);
        }
        seed_free(&seed);
    }
}

static void lz4_blocks_and_frames_are_checked_too(void **state)
{
    (void)state;
    struct seed seed = seed_read("speed.fatbin");
    struct seen seen;
    walk(&seed, &seen); /* the second of the two entries is the packed one */
    put_u64(&seed, seen.last.offset + 56, seen.last.uncompressed_bytes + 1);
    assert_int_equal(walk(&seed, &seen), CUBIN_OK);
    assert_int_equal(seen.decode_status, CUBIN_CODEC);
    seed_free(&seed);
}

/* No compiler option gives this codec, so the container is made here: one entry, packed by lz4's own library.
 */
static void an_lz4_frame_unpacks(void **state)
{
    (void)state;
    enum { TEXT_BYTES = 10000, PAYLOAD = FIRST_ENTRY + 64 };
    static unsigned char text[TEXT_BYTES], unpacked[TEXT_BYTES];
    for (size_t i = 0; i < TEXT_BYTES; i++) {
        text[i] = (unsigned char)(i * i >> 7);
    }
    struct seed seed = {.size = PAYLOAD + LZ4F_compressFrameBound(TEXT_BYTES, NULL) + 8};
    seed.bytes = calloc(1, seed.size);
    size_t packed = LZ4F_compressFrame(seed.bytes + PAYLOAD, seed.size - PAYLOAD, text, TEXT_BYTES, NULL);
    assert_false(LZ4F_isError(packed));
    uint64_t padded = (packed + 7) & ~(uint64_t)7;
    put_u32(&seed, 0, FATBIN_MAGIC);
    put_u32(&seed, 4, 0x100001);
    put_u64(&seed, 8, 64 + padded);
    put_u32(&seed, FIRST_ENTRY, 0x1010002);
    put_u32(&seed, FIRST_ENTRY + 4, 64);
    put_u64(&seed, FIRST_ENTRY + 8, padded);
    put_u32(&seed, FIRST_ENTRY + 16, (uint32_t)packed);
    put_u64(&seed, FIRST_ENTRY + 40, 0x4011);
    put_u64(&seed, FIRST_ENTRY + 56, TEXT_BYTES);
    struct seen seen;
    assert_int_equal(walk(&seed, &seen), CUBIN_OK);
    assert_int_equal(seen.last.codec, FATBIN_LZ4_FRAME);
    assert_int_equal(fatbin_decode(&seen.last, unpacked), CUBIN_OK);
    assert_memory_equal(text, unpacked, TEXT_BYTES);
    put_u64(&seed, FIRST_ENTRY + 56, TEXT_BYTES - 1);
    walk(&seed, &seen);
    assert_int_equal(seen.decode_status, CUBIN_CODEC);
    seed_free(&seed);
}

static void a_size_no_payload_can_hold_is_refused_at_once(void **state)
{
    (void)state;
    static const char *const files[] = {"none.fatbin", "speed.fatbin", "size.fatbin"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct seed seed = seed_read(files[i]);
        struct seen seen;
        assert_int_equal(walk(&seed, &seen), CUBIN_OK);
        struct fatbin_entry entry = seen.last;
        assert_int_equal(fatbin_check_sizes(&entry), CUBIN_OK);
        entry.uncompressed_bytes = FATBIN_ENTRY_LIMIT_BYTES;
        if (entry.codec != FATBIN_RAW) {
            assert_int_equal(fatbin_check_sizes(&entry), CUBIN_CODEC);
        }
        entry.uncompressed_bytes++;
        assert_int_equal(fatbin_check_sizes(&entry), CUBIN_MALFORMED);
        seed_free(&seed);
    }
}

static void one_decoder_goes_on_after_a_broken_entry(void **state)
{
    (void)state;
    struct seed seed = seed_read("size.fatbin");
    struct seen seen;
    assert_int_equal(walk(&seed, &seen), CUBIN_OK);
    struct fatbin_entry good = seen.last, cut = good;
    cut.payload_bytes /= 2;
    struct fatbin_decoder decoder = {0};
    char *text = calloc(1, good.uncompressed_bytes + 1), *expected = last_text(&seen);
    assert_int_equal(fatbin_decode_next(&decoder, &good, text), CUBIN_OK);
    assert_int_equal(fatbin_decode_next(&decoder, &cut, text), CUBIN_CODEC);
    assert_int_equal(fatbin_decode_next(&decoder, &good, text), CUBIN_OK);
    assert_string_equal(text, expected);
    fatbin_decoder_free(&decoder);
    free(text);
    free(expected);
    seed_free(&seed);
}

static void variants_stand_in_the_flags(void **state)
{
    (void)state;
    struct seed seed = seed_read("none.fatbin");
    struct fatbin_entry entry;
    uint64_t flags = load_u64(seed.bytes + FIRST_ENTRY + 40);
    put_u64(&seed, FIRST_ENTRY + 40, flags | 0x100000);
    fatbin_entry_parse(seed.bytes + FIRST_ENTRY, 64, seed.size - FIRST_ENTRY, &entry);
    assert_int_equal(entry.variant, 'a');
    put_u64(&seed, FIRST_ENTRY + 40, flags | 0x200000);
    fatbin_entry_parse(seed.bytes + FIRST_ENTRY, 64, seed.size - FIRST_ENTRY, &entry);
    assert_int_equal(entry.variant, 'f');
    seed_free(&seed);
}

static bool stop(const struct fatbin_entry *entry, void *context)
{
    (void)entry;
    ++*(unsigned *)context;
    return false;
}

static void a_visitor_can_stop(void **state)
{
    (void)state;
    struct seed seed = seed_read("none.fatbin");
    unsigned calls = 0;
    size_t bytes = 0;
    assert_int_equal(fatbin_walk(seed.bytes, seed.size, stop, &calls, &bytes), CUBIN_STOPPED);
    assert_int_equal(calls, 1);
    assert_int_equal(bytes, seed.size);
    seed_free(&seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_codec_gives_the_same_text),
        cmocka_unit_test(a_container_cut_anywhere_is_not_whole),
        cmocka_unit_test(each_broken_field_is_a_status),
        cmocka_unit_test(lz4_blocks_and_frames_are_checked_too),
        cmocka_unit_test(an_lz4_frame_unpacks),
        cmocka_unit_test(a_size_no_payload_can_hold_is_refused_at_once),
        cmocka_unit_test(one_decoder_goes_on_after_a_broken_entry),
        cmocka_unit_test(variants_stand_in_the_flags),
        cmocka_unit_test(a_visitor_can_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
