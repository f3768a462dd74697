/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_DRAFT_H
#define LAB_STORE_DRAFT_H

/* The inside of a draft, for artifact.c. */

#include "store/artifact.h"

struct lab *draft_lab(const struct artifact_draft *draft);
const char *draft_kind(const struct artifact_draft *draft);
const char *draft_key(const struct artifact_draft *draft);
/* A new artifact with kind, key and path of the finished directory; caller frees. */
struct artifact *draft_describe(const struct artifact_draft *draft);
/* The directory is an artifact now and no longer the draft's to remove. */
void draft_published(struct artifact_draft *draft);

#endif
