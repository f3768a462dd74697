/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/num.h"

/* Beyond these a fixed notation would not fit, or would be all zeros. */
#define HUGE_VALUE 1e21
#define TINY_VALUE 1e-15

/* NaN, zero and what is out of all proportion; false for the ordinary. */
static bool special(double value, char text[NUMBER_SIZE])
{
	if (isnan(value))
		snprintf(text, NUMBER_SIZE, "-");
	else if (value == 0)
		snprintf(text, NUMBER_SIZE, "0");
	else if (fabs(value) >= HUGE_VALUE || fabs(value) < TINY_VALUE)
		snprintf(text, NUMBER_SIZE, "%.4e", value);
	else
		return false;
	return true;
}

/* Decimals for `digits` significant ones; the rounding may carry: 0.099999 is 0.10000. */
static int decimals_for(double value, int digits)
{
	char text[NUMBER_SIZE];
	const char *exponent;
	int64_t power = 0;

	snprintf(text, sizeof(text), "%.*e", digits - 1, fabs(value));
	exponent = text + strcspn(text, "e") + 1;
	/* The parser of numbers takes no plus sign. */
	if (lab_parse_i64(exponent + (*exponent == '+'), &power, NULL) < 0)
		return 0;
	return digits - 1 - (int)power;
}

/* Rounded to nothing it has no sign. */
static double unsigned_zero(double value, int decimals)
{
	return fabs(value) < 0.5 * pow(10, -decimals) ? 0 : value;
}

const char *number_ab(double value, char text[NUMBER_SIZE])
{
	if (special(value, text))
		return text;
	if (fabs(value) < 1)
		snprintf(text, NUMBER_SIZE, "%.*f", decimals_for(value, 5), value);
	else
		snprintf(text, NUMBER_SIZE, "%.3f", value);
	return text;
}

const char *number_ab_change(double a, double b, char text[NUMBER_SIZE])
{
	double change = (b - a) / fabs(a) * 100;

	if (!isfinite(change))
		snprintf(text, NUMBER_SIZE, "---");
	else if (fabs(change) >= HUGE_VALUE)
		snprintf(text, NUMBER_SIZE, "%+.2e%%", change);
	else
		snprintf(text, NUMBER_SIZE, "%+.2f%%", unsigned_zero(change, 2));
	return text;
}

const char *number_short(double value, char text[NUMBER_SIZE])
{
	int decimals;

	if (special(value, text))
		return text;
	if (fabs(value) >= 1e12 || fabs(value) < 1e-4) {
		snprintf(text, NUMBER_SIZE, "%.4e", value);
		return text;
	}
	decimals = decimals_for(value, 5);
	return number_fixed(value, decimals > 0 ? decimals : 0, text);
}

int number_decimals(double value, int digits, int least)
{
	int decimals = value == 0 || !isfinite(value) ? least : decimals_for(value, digits);

	if (decimals > 12)
		return 12;
	return decimals > least ? decimals : least;
}

const char *number_fixed(double value, int decimals, char text[NUMBER_SIZE])
{
	if (isnan(value) || fabs(value) >= HUGE_VALUE)
		special(value, text);
	else
		snprintf(text, NUMBER_SIZE, "%.*f", decimals, unsigned_zero(value, decimals));
	return text;
}

const char *number_signed(double value, int decimals, char text[NUMBER_SIZE])
{
	if (isnan(value) || fabs(value) >= HUGE_VALUE)
		special(value, text);
	else
		snprintf(text, NUMBER_SIZE, "%+.*f", decimals, unsigned_zero(value, decimals));
	return text;
}

const char *number_exact(double value, char text[NUMBER_SIZE])
{
	for (int digits = 15; digits <= 17; digits++) {
		double back;

		snprintf(text, NUMBER_SIZE, "%.*g", digits, value);
		if (lab_parse_double(text, &back, NULL) == 0 && back == value)
			break;
	}
	return text;
}
