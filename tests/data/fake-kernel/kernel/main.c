/* SPDX-License-Identifier: GPL-2.0-or-later */
int slub_merge(void);
int page_order(int n);
int slow(void);

int start_kernel(void)
{
#ifdef CONFIG_DISK
	return slub_merge() + page_order(2) + slow();
#else
	return slub_merge() + slow();
#endif
}
