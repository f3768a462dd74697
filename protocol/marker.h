/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_PROTOCOL_MARKER_H
#define LAB_PROTOCOL_MARKER_H

/*
 * Instructions by which the agent tells the emulator, without a word on any channel, where
 * the run phase begins and ends. To a processor they are NOPs of eight bytes,
 * nopl disp32(%rax,%rax,1), whose displacement no compiler would choose.
 */

#define MARKER_BYTES 8
#define MARKER_NOP "\x0f\x1f\x84\x00"
#define MARKER_BEGIN MARKER_NOP "\x01LAB"
#define MARKER_END MARKER_NOP "\x02LAB"

#ifdef __x86_64__
#define MARKER(number) \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, " #number ", 0x4c, 0x41, 0x42" ::: "memory")
#else
#define MARKER(number) ((void)0)
#endif

static inline void marker_begin(void)
{
	MARKER(1);
}

static inline void marker_end(void)
{
	MARKER(2);
}

#endif
