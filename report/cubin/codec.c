/* Payloads of container entries, unpacked by the codec that the entry names. The size it claims must hold. */
#include "cubin.h"

#include <lz4.h>
#include <lz4frame.h>
#include <string.h>
#include <zstd.h>

/* What NVIDIA's tools write stays below; a larger window would only serve to exhaust memory. */
#define ZSTD_WINDOW_LOG_MOST 27

static enum cubin_status decode_lz4_block(const struct fatbin_entry *entry, void *out)
{
    int bytes = LZ4_decompress_safe((const char *)entry->payload, out, (int)entry->payload_bytes,
                                    (int)entry->uncompressed_bytes);
    return bytes >= 0 && (size_t)bytes == entry->uncompressed_bytes ? CUBIN_OK : CUBIN_CODEC;
}

/* One frame that ends exactly where input and output do. */
static enum cubin_status decode_lz4_frame(const struct fatbin_entry *entry, unsigned char *out)
{
    LZ4F_dctx *context;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) {
        return CUBIN_NO_MEMORY;
    }
    size_t taken = 0, given = 0, wanted = 1;
    while (wanted != 0 && !LZ4F_isError(wanted)) {
        size_t in_bytes = entry->payload_bytes - taken, out_bytes = entry->uncompressed_bytes - given;
        wanted = LZ4F_decompress(context, out + given, &out_bytes, entry->payload + taken, &in_bytes, NULL);
        if (in_bytes == 0 && out_bytes == 0) {
            break;
        }
        taken += in_bytes;
        given += out_bytes;
    }
    LZ4F_freeDecompressionContext(context);
    return wanted == 0 && given == entry->uncompressed_bytes ? CUBIN_OK : CUBIN_CODEC;
}

static ZSTD_DCtx *zstd_context(struct fatbin_decoder *decoder)
{
    if (!decoder->zstd) {
        decoder->zstd = ZSTD_createDCtx();
        if (decoder->zstd) {
            ZSTD_DCtx_setParameter(decoder->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MOST);
        }
    }
    return decoder->zstd;
}

static enum cubin_status decode_zstd(struct fatbin_decoder *decoder, const struct fatbin_entry *entry,
                                     void *out)
{
    ZSTD_DCtx *context = zstd_context(decoder);
    if (!context) {
        return CUBIN_NO_MEMORY;
    }
    size_t bytes =
        ZSTD_decompressDCtx(context, out, entry->uncompressed_bytes, entry->payload, entry->payload_bytes);
    return !ZSTD_isError(bytes) && bytes == entry->uncompressed_bytes ? CUBIN_OK : CUBIN_CODEC;
}

static bool zstd_size_holds(const struct fatbin_entry *entry)
{
    unsigned long long bytes = ZSTD_getFrameContentSize(entry->payload, entry->payload_bytes);
    return bytes == ZSTD_CONTENTSIZE_UNKNOWN || bytes == entry->uncompressed_bytes;
}

enum cubin_status fatbin_check_sizes(const struct fatbin_entry *entry)
{
    enum { LZ4_RATIO_MOST = 255 }; /* a byte of a match's length stands for 255 */
    if (entry->uncompressed_bytes > FATBIN_ENTRY_LIMIT_BYTES ||
        entry->payload_bytes > FATBIN_ENTRY_LIMIT_BYTES) {
        return CUBIN_MALFORMED;
    }
    bool holds = true;
    if (entry->codec == FATBIN_ZSTD) {
        holds = zstd_size_holds(entry);
    } else if (entry->codec != FATBIN_RAW) {
        holds = entry->uncompressed_bytes / LZ4_RATIO_MOST <= entry->payload_bytes;
    }
    return holds ? CUBIN_OK : CUBIN_CODEC;
}

enum cubin_status fatbin_decode_next(struct fatbin_decoder *decoder, const struct fatbin_entry *entry,
                                     void *out)
{
    if (entry->obfuscated) {
        return CUBIN_UNSUPPORTED;
    }
    enum cubin_status status = fatbin_check_sizes(entry);
    if (status != CUBIN_OK) {
        return status;
    }
    switch ((enum fatbin_codec)entry->codec) {
    case FATBIN_RAW:
        memcpy(out, entry->payload, entry->payload_bytes);
        return CUBIN_OK;
    case FATBIN_LZ4_BLOCK:
        return decode_lz4_block(entry, out);
    case FATBIN_LZ4_FRAME:
        return decode_lz4_frame(entry, out);
    case FATBIN_ZSTD:
        return decode_zstd(decoder, entry, out);
    }
    return CUBIN_UNSUPPORTED;
}

void fatbin_decoder_free(struct fatbin_decoder *decoder)
{
    ZSTD_freeDCtx(decoder->zstd);
    decoder->zstd = NULL;
}

enum cubin_status fatbin_decode(const struct fatbin_entry *entry, void *out)
{
    struct fatbin_decoder decoder = {0};
    enum cubin_status status = fatbin_decode_next(&decoder, entry, out);
    fatbin_decoder_free(&decoder);
    return status;
}
