/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/command.h"
#include "cli/interrupt.h"

int main(int argc, char **argv)
{
	static char *none[] = {(char *)"labctl", NULL};

	cli_interrupt_install();
	return cli_main(argc > 0 ? argv : none);
}
