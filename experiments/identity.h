/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_EXPERIMENTS_IDENTITY_H
#define LAB_EXPERIMENTS_IDENTITY_H

/* What a campaign is, as JSON, and the hash by which it is found again. */

#include <jansson.h>

#include "common/err.h"
#include "store/hash.h"

struct setup;

/*
 * The resolved definition (store/campaign.h says what reports read of it) and the
 * hash over all of it but words for people and places in the file system: the same
 * experiment on the same inputs has the same identity wherever the lab lies.
 */
int identity_make(const struct setup *setup, json_t **ret_definition, char identity[HASH_HEX],
		  struct lab_error *err) LAB_MUST_CHECK;

/* The part of a definition that the hash is made of; new reference. */
json_t *identity_part(const json_t *definition);

#endif
