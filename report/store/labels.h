/* What kind of launch it is: some are not to be accused of what their kind implies. */
#ifndef WARPWATCH_LABELS_H
#define WARPWATCH_LABELS_H

#include "merged.h"

/* enum launch_label. `judged` must hold slots and SMs where they are known. */
unsigned labels_of(const struct merged_kernel *kernel, const struct merged_configuration *configuration,
                   const struct merged_device *device, const struct judgement *judged);

/* Labels that explain idle SMs: by design, or others may use them. */
#define LABELS_EXCUSED (LABEL_COOPERATIVE | LABEL_PERSISTENT | LABEL_COMMUNICATION | LABEL_CONCURRENT)

#endif
