/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_REPORT_NUMBER_H
#define LAB_REPORT_NUMBER_H

/* How numbers are written in reports. Each writes into `text` and returns it. */

#include <stddef.h>

#define NUMBER_SIZE 40 /* fits every finite double in every form below */

/*
 * As in A/B tables: five significant digits below 1 (in size), three decimals from 1
 * on, "0" for zero and "-" for NaN. Never an exponent, so far below 1 many digits.
 */
const char *number_ab(double value, char text[NUMBER_SIZE]);
/*
 * "+3.00%": (b - a) / |a| in percent, "---" when a is 0 or either is NaN. |a|, so that
 * the sign says which is larger also for negative values.
 */
const char *number_ab_change(double a, double b, char text[NUMBER_SIZE]);

/* For reading: at least five significant digits, no more decimals than that takes. */
const char *number_short(double value, char text[NUMBER_SIZE]);
/* Decimals that show `value` with so many significant digits: at least `least`, at most 12. */
int number_decimals(double value, int digits, int least);
/* "%.*f" without a "-0.00". */
const char *number_fixed(double value, int decimals, char text[NUMBER_SIZE]);
/* The same with the sign always there. */
const char *number_signed(double value, int decimals, char text[NUMBER_SIZE]);
/* Shortest text that reads back as the same double; for csv. */
const char *number_exact(double value, char text[NUMBER_SIZE]);

#endif
