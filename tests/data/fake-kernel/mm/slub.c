/* SPDX-License-Identifier: GPL-2.0-or-later */
int slub_merge(void)
{
#ifdef CONFIG_MERGE
	return 1;
#else
	return 0;
#endif
}
