/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/base64.h"

#include <stdint.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void lab_base64_encode(struct lab_buf *buf, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (; len >= 3; p += 3, len -= 3) {
		char out[4] = {alphabet[p[0] >> 2], alphabet[(p[0] & 3) << 4 | p[1] >> 4],
			       alphabet[(p[1] & 15) << 2 | p[2] >> 6], alphabet[p[2] & 63]};

		lab_buf_add(buf, out, 4);
	}
	if (len) {
		unsigned second = len == 2 ? p[1] : 0;
		char out[4] = {alphabet[p[0] >> 2], alphabet[(p[0] & 3) << 4 | second >> 4],
			       len == 2 ? alphabet[(second & 15) << 2] : '=', '='};

		lab_buf_add(buf, out, 4);
	}
}

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : -1;
}

int lab_base64_decode(struct lab_buf *buf, const char *text, size_t len)
{
	size_t start = buf->len;
	size_t pad = 0;

	if (len % 4)
		return -1;
	if (len && text[len - 1] == '=')
		pad = text[len - 2] == '=' ? 2 : 1;
	for (size_t i = 0; i < len; i += 4) {
		size_t used = i + 4 == len ? 4 - pad : 4;
		uint32_t word = 0;
		char out[3];

		for (size_t j = 0; j < 4; j++) {
			int v = j < used ? value_of(text[i + j]) : 0;

			if (v < 0)
				goto bad;
			word = word << 6 | (uint32_t)v;
		}
		/* The bits under the padding must be zero, or two texts would mean one value. */
		if ((used == 3 && word & 0xff) || (used == 2 && word & 0xffff))
			goto bad;
		out[0] = (char)(word >> 16);
		out[1] = (char)(word >> 8);
		out[2] = (char)word;
		lab_buf_add(buf, out, used - 1);
	}
	return 0;
bad:
	buf->len = start;
	if (buf->data)
		buf->data[start] = '\0';
	return -1;
}
